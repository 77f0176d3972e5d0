"""Empty categories, and labels as categories by name; exactness/ compares every answer."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from labelsure import InductiveConformalClassifier

BASE = DecisionTreeClassifier(max_depth=3, random_state=0)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    return X, (X[:, [0, 1, 2, 0]] + rng.normal(size=(90, 4)) > 0.4).astype(int)


def test_labels_are_found_by_number_and_by_name(data):
    pandas = pytest.importorskip("pandas")
    X, Y = data
    named = pandas.DataFrame(Y, columns=["a", "b", "c", "d"])
    by_name = InductiveConformalClassifier(BASE, mondrian="b", random_state=0).fit(X, named)
    by_number = InductiveConformalClassifier(BASE, mondrian=1, random_state=0).fit(X, Y)
    assert np.array_equal(
        by_name.predict_labelsets(X).p_value(Y), by_number.predict_labelsets(X).p_value(Y)
    )
