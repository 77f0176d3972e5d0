"""Invalid combinations of parameters are refused before any fit, after set_params too."""

import re

import numpy as np
import pytest
from counting import Counting, make_data
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit

from labelsure import (
    AutoMeasure,
    ByCardinality,
    ByLabel,
    ByObject,
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    PowerMeasure,
    calibrate_outputs,
)
from labelsure.measures import HammingPenalty, LabelsetPrior, MahalanobisMeasure

X, Y = make_data()


def fail(X):
    raise KeyError("no such column")


def cut_up(X):
    """A category for every second object only."""
    return np.asarray(X)[::2, 0] > 0.5


def first_feature(X):
    return np.asarray(X)[:, 0]


def zero_where(condition):
    return lambda X: np.where(condition(np.asarray(X)), 0.0, 1.0)


def rubbish_sum():
    """A sum whose second part was replaced after it was built."""
    return (MahalanobisMeasure() + HammingPenalty()).set_params(second=LabelsetPrior())


ONE_FOLD = PredefinedSplit(np.repeat([-1, 0], 30))
MONDRIAN = [
    ({"mondrian": 3}, "label must be the number of one of the 3 labels, from 0, got 3"),
    ({"mondrian": -1}, "label must be a whole number of at least 0, got -1"),
    ({"mondrian": ByLabel(7)}, "one of the 3 labels, from 0, got 7"),
    ({"mondrian": ByLabel(0.5)}, "label must be a whole number"),
    ({"mondrian": ByCardinality(at_most=0)}, "at_most must be a whole number of at least 1, got 0"),
    ({"mondrian": "size"}, "mondrian must be .*got 'size'"),
    ({"mondrian": 1.5}, "mondrian must be .*got 1.5"),
    ({"mondrian": True}, "mondrian must be .*got True"),
    ({"mondrian": dict}, "mondrian must be .*got <class 'dict'>"),
    ({"mondrian": len}, "one category per object, 60 in all, got an array of shape ()"),
    ({"mondrian": cut_up}, "one category per object, 60 in all, got an array of shape (30,)"),
    (
        {"mondrian": ByObject(lambda X: X)},
        "one category per object, 60 in all, got an array of shape (60, 4)",
    ),
    (
        {"mondrian": 0, "measure": MahalanobisMeasure()},
        "mondrian by one label .*without a square root.*Mahalanobis",
    ),
    ({"mondrian": 0, "measure": MahalanobisMeasure() + HammingPenalty()}, "without a square root"),
    (
        {"mondrian": 0, "measure": AutoMeasure([PowerMeasure(), MahalanobisMeasure()])},
        "without a square root",
    ),
]
CROSS = [
    (
        {"guarantee": "exact", "smoothed": True},
        "smoothed=True can be combined with guarantee='cross' only",
    ),
    ({"guarantee": "exact", "cv": ONE_FOLD}, "at least two folds, got one fold"),
    ({"guarantee": "sure"}, "guarantee must be one of 'cross', 'exact', got 'sure'"),
    *MONDRIAN,
]
INDUCTIVE = [
    ({"weight": np.sum, "mondrian": 0}, "weight does not go with mondrian: .*Choose one"),
    ({"weight": np.sum, "smoothed": True}, "weight does not go with smoothed: .*Choose one"),
    ({"weight": 3.0}, "weight must be a function from objects to numbers, or None, got 3.0"),
    ({"weight": len}, "one number per object, 60 in all, got an array of shape ()"),
    ({"weight": lambda X: X[:, 0] - 0.9}, "numbers of at least 0.*got -"),
    ({"weight": lambda X: X[:, 0] * np.nan}, "numbers of at least 0.*got nan"),
    ({"weight": lambda X: X[:, 0] + np.inf}, "numbers of at least 0.*got inf"),
    ({"weight": lambda X: 0 * X[:, 0]}, "weight is 0 for all calibration objects"),
    *MONDRIAN,
]
ALL = [
    ({"measure": "power"}, "measure must be a nonconformity measure"),
    ({"measure": PowerMeasure(0)}, "d must be a finite number above 0"),
    ({"measure": rubbish_sum()}, "takes a square root, so it can only be added to penalties"),
    ({"measure": AutoMeasure([])}, "candidates must be a list of at least one measure"),
    (
        {"empty_labelset": "maybe"},
        "empty_labelset must be one of 'auto', 'allow', 'exclude', got 'maybe'",
    ),
]


def cases():
    kinds = {
        CrossConformalClassifier: CROSS,
        InductiveConformalClassifier: INDUCTIVE,
        FullConformalClassifier: [],
    }
    return [(kind, *case) for kind, own in kinds.items() for case in (*own, *ALL)]


def pattern(message):
    """Return a regular expression in which only ``.*`` is special."""
    return "(?s)" + ".*".join(re.escape(part) for part in message.split(".*"))


@pytest.mark.parametrize(("kind", "options", "message"), cases())
def test_choices_that_make_no_sense_are_refused_before_anything_is_fitted(kind, options, message):
    own = {"cv": 3} if kind is CrossConformalClassifier else {}
    Counting.fits.clear()
    with pytest.raises(ValueError, match=pattern(message)):
        kind(Counting(), **(own | options)).fit(X, Y)
    # the same where a fitted model is changed
    model = kind(Counting(), random_state=0, **own).fit(X, Y)
    n_fits = len(Counting.fits)
    assert n_fits > 0
    with pytest.raises(ValueError, match=pattern(message)):
        model.set_params(**options).fit(X, Y)
    assert len(Counting.fits) == n_fits


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (CrossConformalClassifier, {"mondrian": fail}),
        (InductiveConformalClassifier, {"mondrian": fail}),
        (InductiveConformalClassifier, {"weight": fail}),
    ],
)
def test_functions_of_the_user_fail_before_anything_is_fitted(kind, options):
    Counting.fits.clear()
    with pytest.raises(KeyError, match="no such column"):
        kind(Counting(), **options).fit(X, Y)
    assert not Counting.fits


def test_weights_that_leave_no_calibration_object_are_refused_before_fitting():
    """Nothing is wrong with the function, but the examples that were held out have no weight."""
    model = InductiveConformalClassifier(Counting(), calibration_size=5, random_state=0).fit(X, Y)
    held_out = X[model.fold_indices_[0], 3]
    Counting.fits.clear()
    model = clone(model).set_params(weight=zero_where(lambda X: np.isin(X[:, 3], held_out)))
    with pytest.raises(ValueError, match="weight is 0 for all calibration objects"):
        model.fit(X, Y)
    assert not Counting.fits


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (
            lambda: LabelWiseConformalClassifier(Counting(), prefit=True, cv=3).fit(X, Y),
            "cv cannot be used with prefit=True",
        ),
        (
            lambda: InductiveConformalClassifier(Counting()).fit(X, Y, training_labels=Y),
            "training_labels goes with prefit=True",
        ),
        (
            lambda: FullConformalClassifier(Counting(), measure="auto").fit(X, Y),
            "needs outputs of models that had not seen the example",
        ),
        (
            lambda: FullConformalClassifier(
                Counting(), measure=MahalanobisMeasure(out_of_fold=True)
            ).fit(X, Y),
            "needs outputs of models that had not seen the example",
        ),
    ],
)
def test_what_belongs_to_another_way_of_fitting_is_refused(fit, message):
    Counting.fits.clear()
    with pytest.raises(ValueError, match=message):
        fit()
    assert not Counting.fits


@pytest.mark.parametrize(
    "options",
    [{"mondrian": 0}, {"mondrian": "cardinality"}, {"weight": first_feature}],
    ids=["label", "cardinality", "weight"],
)
def test_sparse_outputs_answer_like_dense_ones_with_categories_and_weights(options):
    predictor = calibrate_outputs(X[:, :3], Y, X=X, measure=PowerMeasure(), **options)
    thin, dense = (
        predictor.predict_labelsets(form(X[:4, :3]), X[:4])
        for form in (sparse.csr_array, np.asarray)
    )
    assert np.array_equal(thin.p_values(), dense.p_values())


def test_new_objects_with_wrong_categories_or_weights_are_refused():
    X_new = np.array([[0.5, 0.5, 0.5, -1.0]])
    weighted = InductiveConformalClassifier(
        Counting(), weight=lambda X: X[:, 3], random_state=0
    ).fit(X, Y)
    with pytest.raises(ValueError, match=r"numbers of at least 0.*got -1"):
        weighted.predict_labelsets(X_new)
    grouped = CrossConformalClassifier(
        Counting(), mondrian=lambda X: (X[:, 0] > 0.5)[:60], cv=3
    ).fit(X, Y)
    with pytest.raises(
        ValueError, match=r"one category per object, 120 in all, got an array of shape \(60,\)"
    ):
        grouped.predict_labelsets(np.vstack([X, X]))
    predictor = calibrate_outputs(X[:, :3], Y, X=X, mondrian=lambda X: np.asarray(X)[:, 0] > 0.5)
    with pytest.raises(
        ValueError, match="X and outputs must have the same number of rows, got 2 and 3"
    ):
        predictor.predict_labelsets(X[:3, :3], X[:2])
    with pytest.raises(ValueError, match="need the objects themselves: pass them as X"):
        predictor.predict_labelsets(X[:3, :3])
