"""The words of ``labelsure compare``: what they stand for, and what is said about others."""

from argparse import ArgumentTypeError

import numpy as np
import pytest
from scipy import sparse

from labelsure.cli._arguments import (
    GUARANTEES,
    INDUCTIVE,
    LEARNERS,
    confidence_level,
    guarantee_name,
    learner_name,
    measure_name,
    percentage,
    significance_of,
)
from labelsure.cli._compare_learners import make_learner
from labelsure.conformal import GUARANTEES as MERGED_BY
from labelsure.estimators import MLkNNClassifier, fit_base, outputs_of


@pytest.mark.parametrize(
    ("text", "level", "significance"),
    [("80", "80", 0.2), ("95%", "95", 0.05), ("99.90", "99.9", 0.001), ("1e1", "10", 0.9), ("90.0", "90", 0.1)],
)
def test_confidence_level_has_one_spelling_and_an_exact_significance(text, level, significance):
    assert confidence_level(text) == level
    assert significance_of(level) == significance


@pytest.mark.parametrize("text", ["0", "100", "-5", "", "high", "nan", "inf"])
def test_confidence_level_refuses_the_rest(text):
    with pytest.raises(ArgumentTypeError, match="percent between 0 and 100"):
        confidence_level(text)


def test_confidence_level_given_as_a_share_is_explained():
    with pytest.raises(ArgumentTypeError, match=r"write 95\.00 for 0\.95"):
        confidence_level("0.95")


@pytest.mark.parametrize("text", ["0", "100", "many", "nan"])
def test_percentage_refuses_what_is_no_share(text):
    assert percentage("67.5%") == 67.5
    with pytest.raises(ArgumentTypeError, match="between 0 and 100"):
        percentage(text)


@pytest.mark.parametrize(("read", "names"), [(learner_name, LEARNERS), (guarantee_name, GUARANTEES)])
def test_names_are_known_or_all_of_them_listed(read, names):
    assert [read(name) for name in names] == list(names)
    with pytest.raises(ArgumentTypeError) as error:
        read("no-such-thing")
    assert all(name in str(error.value) for name in [*names, "no-such-thing"])


def test_near_names_are_suggested():
    with pytest.raises(ArgumentTypeError, match="did you mean 'ml-knn'"):
        learner_name("mlknn")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("powers", "The measures are power, .*, got 'powers'; did you mean 'power'"),
        ("power+unseen:-1", "A number of at least 0 must follow unseen:"),
        ("power:0", "d must be a finite number above 0, got 0.0"),
        ("log-loss:0.5", "floor must lie below one half, got 0.5"),
        ("signed+prior", "can only be added to penalties"),
    ],
)
def test_wrong_measures_are_explained_before_anything_is_fitted(text, message):
    with pytest.raises(ArgumentTypeError, match=message):
        measure_name(text)


def test_measures_have_one_spelling():
    assert measure_name("power:2.0 + pairs:0.50") == "power:2+pairs:0.5"


def test_guarantees_are_those_of_the_predictors():
    assert set(GUARANTEES) == {*MERGED_BY, INDUCTIVE}


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_have_outputs_with_gaps_in_the_features_too(name, is_sparse):
    rng = np.random.default_rng(0)
    X = rng.random((40, 5)) * [1, 10, 100, 1, 1]
    Y = (X[:, :3] > [0.5, 5, 50]).astype(int)
    X[0, 0] = np.nan
    X = sparse.csr_matrix(X) if is_sparse else X
    outputs = outputs_of(fit_base(make_learner(name, X), X, Y), X, 3)
    assert outputs.shape == (40, 3)
    assert outputs[Y == 1].mean() > outputs[Y == 0].mean()


def test_learners_scale_features_as_the_paper_did():
    rng = np.random.default_rng(0)
    X = rng.random((30, 3)) * [1, 1000, 1]
    Y = (X[:, [0, 2]] > 0.5).astype(int)
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    expected = outputs_of(fit_base(MLkNNClassifier(), scaled, Y), scaled, 2)
    assert np.array_equal(outputs_of(fit_base(make_learner("ml-knn", X), X, Y), X, 2), expected)
