"""Training-conditional levels: the formula against the Beta distribution, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.datasets import make_multilabel_classification

from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    MLkNNClassifier,
    calibrate_outputs,
    pac_region,
    pac_significance,
)

PROBABILITIES = st.sampled_from([0.01, 0.05, 0.1, 0.3, 0.5, 0.9])


def falls_short(n, strange, epsilon):
    """The probability that coverage at strange / (n + 1) is below 1 - epsilon, without ties."""
    return beta.cdf(1 - epsilon, n + 1 - strange, strange)


@given(st.integers(1, 400), PROBABILITIES, PROBABILITIES)
def test_pac_significance_is_the_largest_that_rarely_falls_short(n, epsilon, delta):
    """Where both probabilities are equal but for rounding, either answer will do."""
    try:
        strange = round(pac_significance(n, epsilon, delta=delta) * (n + 1))
    except ValueError:
        strange = 0
    assert strange == 0 or falls_short(n, strange, epsilon) <= delta * (1 + 1e-9)
    assert strange == n or falls_short(n, strange + 1, epsilon) > delta * (1 - 1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.1, 0.05), (0.05, 0.1), (0.5, 0.125), (0.5, 0.25), (0.01, 0.01)]
)
def test_least_number_of_examples_is_the_one_named(epsilon, delta):
    with pytest.raises(ValueError, match="takes at least") as caught:
        pac_significance(1, epsilon, delta=delta)
    least = int(str(caught.value).split("at least ")[1].split()[0])
    assert (1 - epsilon) ** least <= delta < (1 - epsilon) ** (least - 1)
    assert pac_significance(least, epsilon, delta=delta) == 1 / (least + 1)
    with pytest.raises(
        ValueError, match=f"takes at least {least} calibration examples, got {least - 1}"
    ):
        pac_significance(least - 1, epsilon, delta=delta)


X, Y = make_multilabel_classification(
    n_samples=200, n_features=6, n_classes=3, length=80, random_state=0
)


def test_pac_region_is_the_region_at_the_pac_significance():
    model = InductiveConformalClassifier(
        MLkNNClassifier(), random_state=0, calibration_size=80
    ).fit(X[:180], Y[:180])
    predictions = model.predict_labelsets(X[180:])
    answer = pac_region(predictions, 0.2, delta=0.05)
    assert answer.significance == pac_significance(80, 0.2, delta=0.05)
    assert answer.region.sizes.tolist() == predictions.region(answer.significance).sizes.tolist()
    assert "probability at least 0.95 over the 80 calibration examples" in answer.statement
    assert "independent examples" in answer.statement
    assert "Vovk 2012" in answer.statement


def test_pac_statement_keeps_the_conditions_of_the_predictor():
    predictor = calibrate_outputs([[0.9, 0.2]] * 40, [[1, 0]] * 40, empty_labelset="exclude")
    statement = pac_region(predictor.predict_labelsets([[0.8, 0.3]]), 0.2).statement
    assert "for independent examples with at least one label each" in statement


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CrossConformalClassifier(MLkNNClassifier(), cv=3), "got predictions with guarantee"),
        (InductiveConformalClassifier(MLkNNClassifier(), smoothed=True), "got predictions with"),
        (
            InductiveConformalClassifier(MLkNNClassifier(), mondrian="cardinality"),
            "guarantee 'mondrian'",
        ),
        (
            InductiveConformalClassifier(MLkNNClassifier(), weight=lambda X: np.ones(len(X))),
            "Use Inductive",
        ),
    ],
)
def test_pac_region_is_for_plain_inductive_predictors(model, message):
    with pytest.raises(ValueError, match=message):
        pac_region(model.fit(X, Y).predict_labelsets(X[:3]), 0.2)


def test_pac_statement_keeps_what_the_predictor_says_of_unknown_labels():
    X, Y = make_multilabel_classification(n_samples=150, n_classes=3, random_state=0)
    hidden = Y.astype(float)
    hidden[:20, 0] = np.nan
    model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X, hidden)
    assert (
        "20 more examples have unknown labels"
        in pac_region(model.predict_labelsets(X), 0.2, delta=0.1).statement
    )


def test_pac_region_names_what_it_takes():
    predictions = LabelWiseConformalClassifier(MLkNNClassifier()).fit(X, Y).predict_labels(X[:3])
    with pytest.raises(ValueError, match="predictions must be what predict_labelsets returns"):
        pac_region(predictions, 0.2)
    with pytest.raises(ValueError, match="n_calibration must be a whole number of at least 1"):
        pac_significance(10.5, 0.1)
