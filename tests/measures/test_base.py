"""What all measures have in common, and sums of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError

from labelsure import CrossConformalClassifier, FullConformalClassifier, InductiveConformalClassifier, calibrate_outputs
from labelsure.labelsets import decode
from labelsure.measures import (
    CardinalityPenalty,
    Costs,
    ForestMeasure,
    FunctionMeasure,
    HammingPenalty,
    LabelsetPrior,
    LogLossMeasure,
    MahalanobisMeasure,
    MaxNormMeasure,
    Measure,
    MeasureSum,
    Need,
    PowerMeasure,
    UnseenPenalty,
)
from penalty_cases import training_and_labelsets

OUTPUTS = st.sampled_from([0.0, 0.5, 1.0, 0.1]) | st.floats(0, 1)


def three():
    return PowerMeasure() + HammingPenalty(2.0) + UnseenPenalty(1.0)


def transcription(t, o, training):
    """sum_j |t_j - o_j|^4 + 2 min Hamming distance to training / q + 1 if not in training."""
    errors = sum(abs(tj - oj) ** 4 for tj, oj in zip(t, o, strict=True))
    nearest = min(sum(a != b for a, b in zip(t, row, strict=True)) for row in training)
    return errors + 2 * nearest / len(t) + (t not in training)


@given(training_and_labelsets(), st.data())
def test_scores_equal_the_sum_of_the_formulas(case, data):
    training, labelsets = case
    outputs = data.draw(arrays(np.float64, labelsets.shape, elements=OUTPUTS))
    measure = three().fit(training)
    scores = measure.energy(outputs).scores(labelsets) * 2.0**-measure.exponent_
    tolerance = (2 + 2 * labelsets.shape[1]) * 2.0**-measure.exponent_
    for score, t, o in zip(scores, labelsets.tolist(), outputs.tolist(), strict=True):
        assert abs(score - transcription(t, o, training.tolist())) <= tolerance


PARTS = [
    PowerMeasure(2, pair_penalty=0.5),
    HammingPenalty(1.5),
    CardinalityPenalty(0.3),
    UnseenPenalty(2.5),
    LabelsetPrior(0.7, smoothing=2.0),
    LabelsetPrior(0.7, base="uniform"),
    MaxNormMeasure(),
    PowerMeasure(1) + MaxNormMeasure(),
]


@pytest.mark.parametrize("first", PARTS, ids=repr)
@pytest.mark.parametrize("second", PARTS, ids=repr)
def test_scores_are_sums_of_both_to_the_bit(first, second):
    rng = np.random.default_rng(0)
    training = (rng.random((6, 4)) < 0.4).astype(int)
    outputs, labelsets = np.repeat(rng.random((2, 4)), 16, axis=0), np.tile(decode(np.arange(16), 4), (2, 1))
    both = (clone(first) + clone(second)).fit(training)
    parts = [clone(part).fit(training).energy(outputs, exponent=both.exponent_) for part in (first, second)]
    expected = sum(part.scores(labelsets) for part in parts)
    assert both.energy(outputs).scores(labelsets).tolist() == expected.tolist()


def test_sums_do_not_depend_on_brackets():
    training, outputs = np.array([[1, 0, 1], [0, 0, 1]]), np.full((8, 3), 0.3)
    a, b, c = PowerMeasure(), LabelsetPrior(0.2), UnseenPenalty(1.0)
    left, right = (a + b) + c, clone(a) + (clone(b) + clone(c))
    scores = [
        measure.fit(training).energy(outputs).scores(decode(np.arange(8), 3)).tolist() for measure in (left, right)
    ]
    assert scores[0] == scores[1]


def test_a_large_part_makes_the_units_of_the_sum_coarser():
    small, large = PowerMeasure(), UnseenPenalty(1e8)
    both = (small + large).fit([[1, 0]])
    assert both.exponent_ == 50 - 27
    assert both.bound_ == 2 + 1e8
    scores = both.energy([[0.5, 0.5]]).scores([[0, 1]])
    assert scores.tolist() == [(10**8 * 2**both.exponent_) + 2 * 2 ** (both.exponent_ - 4)]
    with pytest.raises(ValueError, match="Scores may be as large as"):
        (UnseenPenalty(1e9) + UnseenPenalty(1e9)).fit([[1, 0]])


@pytest.mark.parametrize("need", list(Need))
def test_needs_are_those_of_either_part(need):
    asking = type("Asking", (MaxNormMeasure,), {"needs": need})
    assert (PowerMeasure() + PowerMeasure()).needs == Need.NOTHING
    assert (asking() + PowerMeasure()).needs == (PowerMeasure() + asking()).needs == need
    assert (three() + asking()).needs == need | Need.TRAINING_LABELS


def test_parameters_of_the_parts_can_be_reached():
    measure = three()
    parameters = measure.get_params()
    assert parameters["first__first__d"] == 4
    assert parameters["first__second__weight"] == 2.0
    assert parameters["second__weight"] == 1.0
    measure.set_params(first__second__weight=7.0, second__weight=8.0)
    assert measure.first.second.weight == 7.0
    assert measure.second.weight == 8.0
    predictor = CrossConformalClassifier(measure=measure)
    assert predictor.get_params()["measure__first__first__pair_penalty"] == 0.0


def test_clone_copies_the_parts_unfitted():
    measure = three().fit([[1, 0], [0, 1]])
    copy = clone(measure)
    assert isinstance(copy, MeasureSum)
    assert copy.first.second is not measure.first.second
    assert copy.first.second.weight == 2.0
    assert not hasattr(copy.first.second, "labelsets_")
    with pytest.raises(NotFittedError):
        copy.energy([[0.5, 0.5]])
    assert hasattr(measure.first.second, "labelsets_")


def test_repr_is_what_a_user_writes():
    assert repr(three()) == "PowerMeasure() + HammingPenalty() + UnseenPenalty(weight=1.0)"
    again = eval(repr(three()))
    assert again.get_params().keys() == three().get_params().keys()
    assert repr(again) == repr(three())
    inside = repr(CrossConformalClassifier(measure=three()))  # scikit-learn's own way with what is nested
    assert repr(eval(inside)) == inside


def test_only_measures_can_be_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        PowerMeasure() + 3
    assert isinstance(PowerMeasure() + PowerMeasure(), Measure)


def test_a_sum_in_a_predictor_equals_a_direct_count():
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 3)) < 0.4).astype(int)
    outputs, new = rng.random((40, 3)), rng.random((2, 1, 3))
    fold_of = np.arange(40) % 2
    pred = calibrate_outputs(outputs, Y, folds=fold_of, measure=three(), empty="allow").predict_labelsets(new)
    labelsets = decode(np.arange(8), 3)
    counts = np.zeros(8, dtype=int)
    for k in (0, 1):
        measure = three().fit(Y[fold_of != k])
        calibration = measure.energy(outputs[fold_of == k]).scores(Y[fold_of == k])
        own = measure.energy(np.repeat(new[k], 8, axis=0)).scores(labelsets)
        counts += (calibration >= own[:, None]).sum(axis=1)
    assert pred.p_values()[0].tolist() == ((counts + 1) / 41).tolist()


def refusing():
    """A classifier that fails when it is fitted: what is refused before was refused at the door."""

    class Refusing(ClassifierMixin, BaseEstimator):
        def fit(self, *_):
            raise AssertionError("fitted")

        def predict_proba(self, *_):
            raise AssertionError("asked")

    return Refusing()


ROOT_SUMS = [
    lambda: MahalanobisMeasure() + LabelsetPrior(),
    lambda: LabelsetPrior() + MahalanobisMeasure(),
    lambda: MahalanobisMeasure() + HammingPenalty() + PowerMeasure(),
    lambda: UnseenPenalty() + (MahalanobisMeasure() + (HammingPenalty() + MahalanobisMeasure("absolute"))),
    lambda: ForestMeasure() + MahalanobisMeasure(),
]


@pytest.mark.parametrize("write", ROOT_SUMS)
def test_sum_that_could_not_be_searched_is_refused_when_it_is_written(write):
    message = r"MahalanobisMeasure\(.* takes a square root, so it can only be added to penalties on labelsets, got "
    with pytest.raises(ValueError, match=message):
        write()


def test_sum_that_can_be_searched_is_not_refused():
    penalties = HammingPenalty() + CardinalityPenalty() + UnseenPenalty() + LabelsetPrior(base="uniform")
    for measure in (MahalanobisMeasure(), MaxNormMeasure() + FunctionMeasure(max), LogLossMeasure() + ForestMeasure()):
        (penalties + measure).check_parameters(5)
        (measure + penalties).check_parameters(5)


@pytest.mark.parametrize("kind", [CrossConformalClassifier, InductiveConformalClassifier, FullConformalClassifier])
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: (MahalanobisMeasure() + LabelsetPrior(base="uniform")).set_params(second__base="marginals"),
            "takes a square root",
        ),
        (lambda: MeasureSum(MahalanobisMeasure(), PowerMeasure()), "takes a square root"),
        (lambda: MeasureSum(PowerMeasure(), 3), "can only have measures as parts, got 3"),
        (lambda: PowerMeasure() + UnseenPenalty(-1), "weight must be a finite number of at least 0, got -1"),
        (lambda: FunctionMeasure(max), "up to 12 labels"),
        (lambda: LogLossMeasure(floor=0.7), "floor must lie below one half"),
    ],
)
def test_measures_that_make_no_sense_are_refused_before_anything_is_fitted(kind, make, message):
    X, Y = np.zeros((20, 2)), np.random.default_rng(0).integers(0, 2, (20, 13))
    with pytest.raises(ValueError, match=message):
        kind(refusing(), measure=make()).fit(X, Y)


def test_scores_are_those_of_the_energy_in_floats():
    training, outputs = np.array([[1, 0, 1], [0, 0, 1]]), np.array([[0.5, 0.25, 1.0], [0.0, 0.5, 0.5]])
    measure = (PowerMeasure(2) + UnseenPenalty(1.5)).fit(training)
    assert measure.scores(outputs, [[1, 0, 1], [1, 1, 1]]).tolist() == [0.3125, 3.0]
    with pytest.raises(ValueError, match="outputs and Y must have the same number of rows, got 2 and 1"):
        measure.scores(outputs, [[1, 0, 1]])
    with pytest.raises(ValueError, match="Y must have 3 columns, one per label, got 2"):
        measure.scores(outputs, [[1, 0], [1, 1]])


@pytest.mark.parametrize("name", ["_learn", "_costs"])
def test_a_measure_without_its_two_methods_says_which_is_missing(name):
    methods = {"_learn": lambda *_: 1.0, "_costs": lambda *_: Costs()}
    del methods[name]
    half = type("Half", (Measure,), methods)()
    with pytest.raises(NotImplementedError, match=rf"Half must define {name}\("):
        half.fit([[1, 0]]).energy([[0.5, 0.5]])
