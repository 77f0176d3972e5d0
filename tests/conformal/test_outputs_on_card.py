"""Outputs on a GPU stay there where measures are portable; answers are those of the same outputs in memory."""

import pickle
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from far_arrays import FarArray
from host_device import HostDevice, make_device
from labelsure import PowerMeasure, calibrate_outputs
from labelsure._core.card import CardArray, CardOutputs
from labelsure.labelsets import decode
from labelsure.labelsets.table import _device
from labelsure.measures import (
    CardinalityPenalty,
    Costs,
    HammingPenalty,
    LabelsetPrior,
    LogLossMeasure,
    Measure,
    PosteriorMeasure,
    UnseenPenalty,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label", "ignore:.*cannot be reached")

N_LABELS = 4
rng = np.random.default_rng(0)
OUTPUTS = rng.random((2, 64, N_LABELS)).round(2)
Y = (rng.random((64, N_LABELS)) < OUTPUTS[0]).astype(int)
FOLDS, NEW = np.arange(60) % 2, OUTPUTS[:, 60:]
OF_FOLDS = OUTPUTS[FOLDS, np.arange(60)]

PORTABLE = {
    **{f"power {d}": PowerMeasure(d=d) for d in (1, 2, 3, 4, 7, 64)},
    "pairs": PowerMeasure(pair_penalty=1.0),
    "log loss": LogLossMeasure(),
    "log loss with a floor": LogLossMeasure(floor=0.25),
    "log loss and a prior": LogLossMeasure() + LabelsetPrior(),
    "penalties": PowerMeasure(d=2) + HammingPenalty() + CardinalityPenalty() + UnseenPenalty(),
    "two": LogLossMeasure() + PowerMeasure(d=2),
}


class Watched:
    """A GPU that notes what is copied from it."""

    def __init__(self, card):
        self.card, self.copied = card, []

    def __getattr__(self, name):
        return getattr(self.card, name)

    def to_host(self, array):
        self.copied.append(self.card.to_host(array))
        return self.copied[-1]

    def put(self, values):
        return self.arrays.asarray(values)

    def left(self):
        """Return the shapes of the floats that have left the card."""
        return [one.shape for one in self.copied if one.dtype.kind == "f"]


@pytest.fixture(params=["host", "cuda"])
def card(request):
    there = Watched(make_device(request.param))
    _device.find_device.cache_clear()
    with mock.patch.object(_device, "CudaDevice", lambda: there):
        yield there
    _device.find_device.cache_clear()


@pytest.mark.parametrize("measure", PORTABLE.values(), ids=PORTABLE)
@settings(max_examples=20, deadline=None)
@given(arrays(np.float64, (3, N_LABELS), elements=st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))))
def test_energy_of_a_portable_measure_is_the_same_on_a_card(measure, outputs):
    card, fitted = HostDevice(), measure.fit(Y)
    assert fitted.portable
    there, here = fitted.energy(CardOutputs(card, FarArray(outputs))), fitted.energy(outputs)
    assert card.copied == []
    assert isinstance(there.unary, CardArray)
    codes, objects = np.tile(np.arange(2**N_LABELS), 3), np.repeat(np.arange(3), 2**N_LABELS)
    labelsets = decode(codes, N_LABELS)
    assert np.array_equal(there.scores(labelsets, objects=objects), here.scores(labelsets, objects=objects))


@pytest.mark.parametrize("measure", [PosteriorMeasure(), PowerMeasure(d=2.5), PowerMeasure(d=65), LabelsetPrior()])
def test_measures_with_other_functions_are_not_portable(measure):
    assert not measure.portable
    assert not (measure + HammingPenalty()).portable


def answers_of(predictions):
    region = predictions.region(0.2)
    return {
        "sizes": region.sizes,
        "labelsets": predictions.labelsets,
        "confidence": predictions.confidence,
        "labels": predictions.label_p_values,
        "p-value": predictions.p_value(Y[60:]),
        "p-values": predictions.p_values(),
        "members": np.concatenate([one.members().labelsets for one in region]),
        "some": predictions[[2, 0]].label_p_values,
        "pickled": pickle.loads(pickle.dumps(predictions)).p_values(),
    }


CHOICES = {
    "default": {},
    "smoothed": {"smoothed": True, "random_state": 0},
    "log loss": {"measure": LogLossMeasure()},
    "folds": {"measure": LogLossMeasure(), "folds": FOLDS},
    "folds, exact": {"measure": PowerMeasure(), "folds": FOLDS, "guarantee": "exact", "random_state": 0},
    "folds, by cardinality": {"measure": LogLossMeasure(), "folds": FOLDS, "mondrian": "cardinality"},
    "prior": {"measure": LogLossMeasure() + LabelsetPrior(), "folds": FOLDS},
    "empty excluded": {"empty": "exclude"},
    "two jobs": {"n_jobs": 2, "folds": FOLDS, "measure": PowerMeasure()},
}


@pytest.mark.parametrize("choices", CHOICES.values(), ids=CHOICES)
def test_outputs_on_a_card_give_the_answers_of_memory_and_stay_there(card, choices):
    new = NEW if "folds" in choices else NEW[0]
    expected = answers_of(calibrate_outputs(OF_FOLDS, Y[:60], **choices).predict_labelsets(new))
    predictor = calibrate_outputs(card.put(OF_FOLDS), Y[:60], device="cuda", **choices)
    found = answers_of(predictor.predict_labelsets(card.put(new)))
    if choices.get("n_jobs", 1) == 1:
        assert card.left() == []
    for name, answer in expected.items():
        np.testing.assert_array_equal(found[name], answer, err_msg=name)


def test_outputs_on_a_card_cost_no_copy_of_their_costs(card):
    """Sizes, best labelsets and p-values of labels: only answers travel."""
    choices = {"folds": FOLDS, "measure": LogLossMeasure(), "empty": "allow", "device": "cuda"}
    predictor = calibrate_outputs(card.put(OF_FOLDS), Y[:60], **choices)
    card.copied.clear()
    predictions = predictor.predict_labelsets(card.put(NEW))
    region = predictions.region(0.2)
    assert len(region.sizes) == len(predictions.labelsets) == len(predictions.label_p_values) == 4
    shapes = {one.shape for one in card.copied if one.ndim}  # single numbers say which kernel will do
    assert shapes == {(4,), (3, 4, 2), (4, N_LABELS, 2)}  # sizes; the two best; highest counts of labels off and on


def test_outputs_of_each_fold_may_be_a_list_on_a_card_or_partly_in_memory(card):
    predictor = calibrate_outputs(OF_FOLDS, Y[:60], folds=FOLDS, measure=PowerMeasure(), device="cuda")
    expected = predictor.predict_labelsets(NEW).p_values()
    for new, n_left in (([*map(card.put, NEW)], 0), ([card.put(NEW[0]), NEW[1]], 1)):
        card.copied.clear()
        assert np.array_equal(predictor.predict_labelsets(new).p_values(), expected)
        assert len(card.left()) == n_left


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, bool])
def test_outputs_of_other_types_on_a_card_are_those_of_memory(card, kind):
    outputs, new = OUTPUTS[0, :60].astype(kind), NEW[0].astype(kind)
    expected = calibrate_outputs(outputs, Y[:60]).predict_labelsets(new).p_values()
    predictor = calibrate_outputs(card.put(outputs), Y[:60], device="cuda")
    assert np.array_equal(predictor.predict_labelsets(card.put(new)).p_values(), expected)
    assert card.left() == []


def test_examples_on_a_card_are_added_and_scored_there(card):
    here, there = (calibrate_outputs(OUTPUTS[0, :50], Y[:50], device=device) for device in ("cpu", "cuda"))
    here.update(OUTPUTS[0, 50:60], Y[50:60])
    there.update(card.put(OUTPUTS[0, 50:60]), Y[50:60])
    assert np.array_equal(here.calibrator.scores, there.calibrator.scores)
    strange = here.nonconformity(NEW[0], Y[60:]), there.nonconformity(card.put(NEW[0]), Y[60:])
    assert np.array_equal(*strange)
    assert card.left() == []


def test_outputs_of_a_measure_that_is_not_portable_are_copied(card):
    choices = {"folds": FOLDS, "training_outputs": OUTPUTS[:, :60]}
    expected = calibrate_outputs(OF_FOLDS, Y[:60], **choices).predict_labelsets(NEW).p_values()
    predictor = calibrate_outputs(card.put(OF_FOLDS), Y[:60], device="cuda", **choices)
    with mock.patch("labelsure.conformal._outputs.to_host", card.to_host):
        assert np.array_equal(predictor.predict_labelsets(card.put(NEW)).p_values(), expected)
    assert card.left()[-1] == NEW.shape


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (np.full((2, N_LABELS), 1.5), "outputs must lie between 0 and 1, got 1.5"),
        (np.full((2, N_LABELS), np.nan), "outputs must lie between 0 and 1, got nan"),
        (np.full((2, 3), 0.5), r"outputs must have shape \(n_objects, 4\), got \(2, 3\)"),
        (np.full(4, 0.5), r"outputs must have shape \(n_objects, 4\), got \(4,\)"),
    ],
)
def test_odd_outputs_on_a_card_are_refused_as_elsewhere(card, outputs, message):
    predictor = calibrate_outputs(OUTPUTS[0, :60], Y[:60], device="cuda")
    to_host = lambda values: card.to_host(values) if hasattr(values, "__dlpack_device__") else values  # noqa: E731
    with mock.patch("labelsure._core.validation.to_host", to_host), pytest.raises(ValueError, match=message):
        predictor.predict(card.put(outputs))


class Boundless(Measure):
    portable = True

    def _learn(self, *_):
        return 0.5

    def _costs(self, outputs, *_):
        return Costs(off=4 * outputs, on=4 * outputs)


class Odd(Measure):
    def _learn(self, *_):
        return 99.0


class Huge(Odd):
    portable = True

    def _costs(self, outputs, *_):
        return Costs(off=1e200 * outputs, on=1e200 * outputs)


class WithConstant(Odd):
    portable = True

    def _costs(self, outputs, *_):
        return Costs(off=outputs, on=outputs, constant=1.0)


class Root(Odd):
    portable, form = True, "root"

    def _costs(self, outputs, *_):
        return Costs(off=outputs, on=outputs)


class OneRow(Odd):
    portable = True

    def _costs(self, outputs, *_):
        return Costs(off=outputs[:1], on=outputs)


class OwnPairs(Odd):
    portable = True

    def _costs(self, outputs, *_):
        return Costs(off=outputs, on=outputs, pairwise=np.zeros((2, N_LABELS, N_LABELS))[: len(outputs)])


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (Boundless(), "reach 8, more than the 0.5"),
        (Huge(), r"reach 2e\+200, more"),
        *((kind(), "A portable") for kind in (WithConstant, Root, OneRow, OwnPairs)),
    ],
)
def test_costs_on_a_card_that_break_their_promise_are_refused(measure, message):
    fitted, outputs = measure.fit(Y), CardOutputs(HostDevice(), FarArray(np.full((2, N_LABELS), 0.5)))
    with pytest.raises(ValueError, match=message):
        fitted.energy(outputs)


class Ours(LogLossMeasure):
    def _costs(self, outputs, *_):
        return Costs(off=np.exp(outputs) - 1, on=1 - outputs)


def test_a_measure_with_costs_of_its_own_is_portable_only_if_it_says_so():
    assert not Ours().portable
    assert LogLossMeasure().portable


def test_tiny_outputs_of_32_bits_have_the_draws_of_memory(card):
    """CuPy takes them for zeros, and draws belong to outputs."""
    new = NEW[0].astype(np.float32)
    new[1, 2] = 1e-40
    predictor = calibrate_outputs(OUTPUTS[0, :60], Y[:60], smoothed=True, random_state=0)
    expected = predictor.predict_labelsets(new).p_values()
    predictor.device = "cuda"
    with mock.patch("labelsure._core.validation.to_host", card.to_host):
        assert np.array_equal(predictor.predict_labelsets(card.put(new)).p_values(), expected)


def test_outputs_on_another_card_are_copied(card):
    predictor = calibrate_outputs(OUTPUTS[0, :60], Y[:60], device="cuda")
    expected, new = predictor.predict(NEW[0]), card.put(NEW[0])
    with mock.patch.object(card.card, "number", 1), mock.patch("labelsure.conformal._outputs.to_host", card.to_host):
        assert np.array_equal(predictor.predict(new), expected)
    assert card.left() == [NEW[0].shape]


def test_no_outputs_on_a_card_give_no_answers(card):
    predictor = calibrate_outputs(OUTPUTS[0, :60], Y[:60], device="cuda")
    assert predictor.predict(card.put(NEW[0][:0])).shape == (0, N_LABELS)
