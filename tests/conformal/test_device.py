"""``device="cuda"``: the same answers as on the processor; without a GPU one that stands in for it gives them."""

import pickle
from functools import partial
from unittest import mock

import numpy as np
import pytest
from counting import Counting, make_data
from sklearn.base import clone

from host_device import make_device
from labelsure import (
    CrossConformalClassifier,
    InductiveConformalClassifier,
    PowerMeasure,
    calibrate_outputs,
    load_model,
    save_model,
)
from labelsure.engine import AtMost, _device
from labelsure.measures import HammingPenalty, LogLossMeasure, MahalanobisMeasure, MaxNormMeasure

pytestmark = pytest.mark.filterwarnings("ignore:.*examples have no label", "ignore:.*cannot be reached")

N_LABELS = 4
rng = np.random.default_rng(0)
OUTPUTS = rng.random((2, 64, N_LABELS)).round(2)
Y = (rng.random((64, N_LABELS)) < OUTPUTS[0]).astype(int)
Y[Y[:, [0, 1, 3]].all(axis=1), 3] = 0
FOLDS, NEW = np.arange(60) % 2, OUTPUTS[:, 60:]


@pytest.fixture(params=["host", "cuda"])
def device(request):
    """A GPU or, for "host", what stands in for one in all that a user calls."""
    there = make_device(request.param)
    _device.find_device.cache_clear()
    with mock.patch.object(_device, "CudaDevice", lambda: there):
        yield there
    _device.find_device.cache_clear()


def right(X):
    return np.asarray(X)[:, 0] > 0.5


CASES = {
    "default measure": {"measure": None},
    "pairs": {"measure": PowerMeasure(pair_penalty=1.0)},
    "pairs of the empty labelset apart": {"measure": PowerMeasure(pair_penalty=1.0), "empty": "exclude"},
    "root and penalty": {"measure": MahalanobisMeasure() + HammingPenalty()},
    "maximum": {"measure": MaxNormMeasure()},
    "e-values": {"measure": LogLossMeasure(), "guarantee": "exact"},
    "smoothed": {"measure": LogLossMeasure(), "smoothed": True, "random_state": 0},
    "by cardinality": {"measure": LogLossMeasure(), "mondrian": "cardinality"},
    "by object": {"measure": LogLossMeasure(), "mondrian": right},
    "constraints": {"measure": LogLossMeasure(), "constraints": AtMost(2, [0, 1, 3])},
}


def answers_of(predictions):
    region = predictions.region(0.2)
    return {
        "p-values": predictions.p_values(),
        "labelsets": predictions.labelsets,
        "confidence": predictions.confidence,
        "top": predictions.top(3).labelsets,
        "sizes": region.sizes,
        "members": np.concatenate([one.members().labelsets for one in region]),
        "labels": predictions.label_p_values,
        "masses": predictions.rank_labels(method="mass"),
        "some": predictions[[2, 0]].p_values(),
    }


@pytest.mark.parametrize("choices", CASES.values(), ids=CASES)
def test_device_gives_the_answers_of_the_processor(device, choices):
    given = {"folds": FOLDS, "training_outputs": OUTPUTS[:, :60], "X": OUTPUTS[0, :60], **choices}
    predictor = calibrate_outputs(OUTPUTS[FOLDS, np.arange(60)], Y[:60], device="cuda", **given)
    there = answers_of(predictor.predict_labelsets(NEW, NEW[0]))
    predictor.device = "cpu"
    for name, here in answers_of(predictor.predict_labelsets(NEW, NEW[0])).items():
        np.testing.assert_array_equal(there[name], here, err_msg=name)


@pytest.mark.parametrize("cls", [CrossConformalClassifier, InductiveConformalClassifier])
def test_device_is_a_parameter_that_fitted_models_can_change(device, cls, tmp_path):
    X, y = make_data(60)
    model = cls(Counting(), measure=LogLossMeasure(), device="cuda", random_state=0).fit(X, y)
    assert clone(model).get_params()["device"] == "cuda"
    there = model.predict_labelsets(X[:5])
    sizes, copied = there.region(0.2).sizes, pickle.loads(pickle.dumps(there))
    assert np.array_equal(copied.region(0.2).sizes, sizes)
    here = pickle.loads(pickle.dumps(model)).set_params(device="cpu").predict_labelsets(X[:5])
    assert np.array_equal(here.region(0.2).sizes, sizes)
    assert np.array_equal(model.predict(X), model.recalibrate(X, y, device="cpu").predict(X))


def test_device_is_kept_in_files_that_load_anywhere(device, tmp_path):
    predictor = calibrate_outputs(OUTPUTS[0, :60], Y[:60], device="cuda")
    save_model(predictor, tmp_path / "predictor.labelsure")
    _device.find_device.cache_clear()
    with mock.patch.object(_device, "CudaDevice", side_effect=ValueError("no GPU")):
        loaded = load_model(tmp_path / "predictor.labelsure")
        with pytest.raises(ValueError, match="no GPU"):
            loaded.predict(NEW[0])
        loaded.device = "cpu"
        here = loaded.predict(NEW[0])
    _device.find_device.cache_clear()
    assert np.array_equal(here, predictor.predict(NEW[0]))


class FarAway:
    """What CuPy brings where there is a GPU or, with an error, where there is none."""

    def __init__(self, error=None):
        self.cuda = mock.Mock()
        self.cuda.runtime.CUDARuntimeError = RuntimeError
        self.cuda.Device.side_effect = error


@pytest.mark.parametrize("cls", [CrossConformalClassifier, InductiveConformalClassifier])
@pytest.mark.parametrize(
    ("cupy", "error", "message"),
    [
        (None, ImportError, r'needs the package \'cupy\'.*labelsure\[cuda13\]" or "labelsure\[cuda12\]'),
        (FarAway(RuntimeError("no CUDA-capable device")), ValueError, 'no CUDA-capable device.*device="cpu"'),
    ],
    ids=["no CuPy", "no GPU"],
)
def test_device_that_is_missing_is_an_error_before_any_fit(cls, cupy, error, message):
    X, y = make_data(20)
    _device.find_device.cache_clear()
    n_fits = len(Counting.fits)
    with mock.patch.dict("sys.modules", {"cupy": cupy}), pytest.raises(error, match=message):
        cls(Counting(), device="cuda").fit(X, y)
    assert len(Counting.fits) == n_fits


def test_device_refuses_what_it_cannot_do_before_any_work():
    X, y = make_data(20)
    with pytest.raises(ValueError, match="device must be one of 'cpu', 'cuda', got 'gpu'"):
        CrossConformalClassifier(Counting(), device="gpu").fit(X, y)
    with pytest.raises(ValueError, match="up to 24 labels, got 25"):
        calibrate_outputs(np.full((3, 25), 0.5), np.eye(3, 25), device="cuda")


class OnHost:
    """An array of some other library."""

    def __init__(self, values, place=(1, 0)):
        self.values, self.place = values, place

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.place


def test_outputs_of_other_libraries_are_read():
    expected = calibrate_outputs(OUTPUTS[0, :60], Y[:60]).predict_labelsets(NEW[0]).p_values()
    predictor = calibrate_outputs(OnHost(OUTPUTS[0, :60]), OnHost(Y[:60]))
    assert np.array_equal(predictor.predict_labelsets(OnHost(NEW[0])).p_values(), expected)


def test_outputs_on_a_gpu_need_cupy():
    predictor = calibrate_outputs(OUTPUTS[0, :60], Y[:60])
    with mock.patch.dict("sys.modules", {"cupy": None}), pytest.raises(ImportError, match=r"GPU needs .*\[cuda13\]"):
        predictor.predict(OnHost(NEW[0], place=(2, 0)))


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_outputs_on_a_gpu_give_the_answers_of_the_processor(library):
    cupy = make_device("cuda").arrays
    put = cupy.asarray if library == "cupy" else partial(pytest.importorskip("torch").tensor, device="cuda")
    predictor = calibrate_outputs(put(OUTPUTS[0, :60]), put(Y[:60]), device="cuda")
    there = predictor.predict_labelsets(put(NEW[0])).p_values()
    assert np.array_equal(there, calibrate_outputs(OUTPUTS[0, :60], Y[:60]).predict_labelsets(NEW[0]).p_values())
