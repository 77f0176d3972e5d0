"""What all measures have in common, and sums of them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from labelsure import CrossConformalClassifier
from labelsure.measures import (
    CardinalityPenalty,
    Costs,
    ForestMeasure,
    FunctionMeasure,
    HammingPenalty,
    LabelsetPrior,
    LabelWiseCombination,
    LogLossMeasure,
    MahalanobisMeasure,
    MaxNormMeasure,
    Measure,
    MeasureSum,
    PosteriorMeasure,
    PowerMeasure,
    UnseenPenalty,
)
from labelsure.measures._labelset_bits import decode


def three():
    return PowerMeasure() + HammingPenalty(2.0) + UnseenPenalty(1.0)


def total_error(outputs, labelset):
    return np.abs(outputs - labelset).sum(axis=1)


ALL_MEASURES = [
    PowerMeasure(2, pair_penalty=0.5),
    LogLossMeasure(floor=0.01),
    MaxNormMeasure(),
    FunctionMeasure(total_error, largest=5.0),
    MahalanobisMeasure(),
    MahalanobisMeasure(
        "absolute", rescale=False, shrinkage=0.5, normalised=False, out_of_fold=True
    ),
    LabelWiseCombination(out_of_fold=True),
    PosteriorMeasure(),
    ForestMeasure(LogLossMeasure(), n_estimators=3, min_samples_leaf=2, random_state=0),
    HammingPenalty(2.0),
    CardinalityPenalty(0.7),
    UnseenPenalty(3.0),
    LabelsetPrior(0.7, smoothing=2.0),
    LabelsetPrior(base="uniform"),
    LogLossMeasure() + LabelsetPrior(),
]


@pytest.mark.parametrize("measure", ALL_MEASURES, ids=range(len(ALL_MEASURES)))
def test_every_measure_is_an_object_of_scikit_learn_whose_scores_belong_to_objects(measure):
    rng = np.random.default_rng(0)
    Y = (rng.random((30, 4)) < 0.4).astype(int)
    outputs, X = rng.random((30, 4)), rng.random((30, 2))
    measure = clone(measure)
    with pytest.raises(NotFittedError):
        measure.energy(outputs, X=X)
    assert measure.fit(Y[:20], outputs=outputs[:20], X=X[:20]) is measure
    copy = clone(measure)
    assert repr(copy) == repr(measure)
    assert not hasattr(copy, "exponent_")
    batch = measure.scores(outputs[20:], Y[20:], X=X[20:])
    assert (
        batch.tolist()
        == pickle.loads(pickle.dumps(measure)).scores(outputs[20:], Y[20:], X=X[20:]).tolist()
    )
    alone = [measure.scores(outputs[[i]], Y[[i]], X=X[[i]])[0] for i in range(20, 30)]
    assert batch.tolist() == alone
    assert batch[::-1].tolist() == measure.scores(outputs[:19:-1], Y[:19:-1], X=X[:19:-1]).tolist()
    nobody = measure.energy(np.empty((0, 4)), X=np.empty((0, 2)))
    assert nobody.n_objects == 0
    assert nobody.scores(np.empty((0, 4))).shape == (0,)


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
    outputs, labelsets = (
        np.repeat(rng.random((2, 4)), 16, axis=0),
        np.tile(decode(np.arange(16), 4), (2, 1)),
    )
    both = (clone(first) + clone(second)).fit(training)
    parts = [
        clone(part).fit(training).energy(outputs, exponent=both.exponent_)
        for part in (first, second)
    ]
    expected = sum(part.scores(labelsets) for part in parts)
    assert both.energy(outputs).scores(labelsets).tolist() == expected.tolist()


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


def test_repr_is_what_a_user_writes():
    assert repr(three()) == "PowerMeasure() + HammingPenalty() + UnseenPenalty(weight=1.0)"
    again = eval(repr(three()))
    assert again.get_params().keys() == three().get_params().keys()
    assert repr(again) == repr(three())
    # scikit-learn's own way with what is nested
    inside = repr(CrossConformalClassifier(measure=three()))
    assert repr(eval(inside)) == inside


def test_only_measures_can_be_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        PowerMeasure() + 3
    assert isinstance(PowerMeasure() + PowerMeasure(), Measure)
    with pytest.raises(ValueError, match="can only have measures as parts, got 3"):
        MeasureSum(PowerMeasure(), 3).check_parameters(5)


ROOT_SUMS = [
    lambda: MahalanobisMeasure() + LabelsetPrior(),
    lambda: LabelsetPrior() + MahalanobisMeasure(),
    lambda: MahalanobisMeasure() + HammingPenalty() + PowerMeasure(),
    lambda: (
        UnseenPenalty()
        + (MahalanobisMeasure() + (HammingPenalty() + MahalanobisMeasure("absolute")))
    ),
    lambda: ForestMeasure() + MahalanobisMeasure(),
]


@pytest.mark.parametrize("write", ROOT_SUMS)
def test_sum_that_could_not_be_searched_is_refused_when_it_is_written(write):
    message = (
        r"MahalanobisMeasure\(.* takes a square root,"
        " so it can only be added to penalties on labelsets, got "
    )
    with pytest.raises(ValueError, match=message):
        write()


def test_scores_are_those_of_the_energy_in_floats():
    training, outputs = (
        np.array([[1, 0, 1], [0, 0, 1]]),
        np.array([[0.5, 0.25, 1.0], [0.0, 0.5, 0.5]]),
    )
    measure = (PowerMeasure(2) + UnseenPenalty(1.5)).fit(training)
    assert measure.scores(outputs, [[1, 0, 1], [1, 1, 1]]).tolist() == [0.3125, 3.0]
    with pytest.raises(
        ValueError, match="outputs and Y must have the same number of rows, got 2 and 1"
    ):
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
