"""How fast are tables on a GPU, and what is left of that end to end?"""

from functools import partial
from importlib.metadata import distributions
from typing import Any

import numpy as np

from benchmarks._answers import NotMeasuredError, Table
from benchmarks._figures import Figure
from benchmarks._gpu_limit import look_ups_per_second, milliseconds
from benchmarks._measuring import fastest
from benchmarks._yeast import N_FOLDS, _scaled, fitted_model, folds_of_yeast
from benchmarks.limit import fill
from labelsure import calibrate_outputs
from labelsure.conformal import OutputsPredictor
from labelsure.engine import _device
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions
from labelsure.estimators import outputs_of
from labelsure.measures import LogLossMeasure

TITLE = "Tables on a GPU"
METHOD = (
    "The table of yeast (917 test objects, 16 384 labelsets, ML-RBF in 15 folds) on a GPU against one thread of the"
    " processor beside it, without (lambda=0) and with (lambda=1) pairs of labels. The kernel alone is timed by the"
    " card's own clock, the median of ten launches; its baseline is the same table of counts, the fastest of three"
    " runs. A look-up is one labelset of one object in one fold. The limit is a loop that does nothing but what each"
    " entry cannot do without, an addition, a shift, a clip and a look-up at a random place of 90 000 buckets in the"
    " fast memory of each of the card's processors, where threads wait for each other's banks. What is missing to"
    " 100 %: sums over labels are made and read, scores that share a bucket with a calibration score are compared with"
    " it, each thread of a warp waiting for the others, and rows are written; with pairs each entry takes one more"
    " number from the card's second-level cache. End to end is from outputs on the card, arrays of CuPy, to sizes of"
    " regions, best labelsets and p-values of labels in memory, costs and copies included, kernels compiled beforehand;"
    " the processor begins with the same outputs in memory, and answers from tables as well, or in the way that it"
    " would choose. All answers are compared, and equal to the last bit. The last table is of made-up outputs, log loss"
    " in ten folds, and includes costs and copies."
)
PACKAGES = tuple(one.name for one in distributions() if one.name in ("cupy-cuda12x", "cupy-cuda13x"))
N_MANY = 20_000
MADE_UP = ((20, 10_000), (24, 100))


def measure() -> list[Figure | Table]:
    """Return the speed of the kernel, its share of the card's, and what is gained end to end."""
    try:
        cupy = _device.find_device("cuda").arrays
    except (ImportError, ValueError) as error:
        raise NotMeasuredError(str(error)) from error
    return [*_kernels(cupy, 0.0), *_kernels(cupy, 1.0), *_end_to_end(cupy), _made_up(cupy)]


class Recording(_device.CudaDevice):
    """A GPU that keeps what it was last asked to run."""

    def launch(self, *given: Any) -> None:
        """Run a kernel, and note it."""
        self.again = partial(super().launch, *given)
        self.again()


def _kernels(cupy: Any, penalty: float) -> list[Figure]:
    device, name = Recording(), f"lambda={penalty:g}"
    folds = folds_of_yeast(penalty)
    here = FoldEngine(folds, allow_empty=False, n_jobs=1)
    seconds = fastest({"here": partial(fill, here)}, repeats=3)["here"]
    own = _kernel_time(cupy, device, folds, here)
    chosen = np.random.default_rng(0).integers(len(folds[0].energy.constant), size=N_MANY)
    rate = N_MANY * 2**14 * N_FOLDS / _kernel_time(cupy, device, [fold.take(chosen) for fold in folds]) / 1e9
    bars = (300, 0.7) if penalty == 0 else (None, None)
    limit = look_ups_per_second(cupy, device.n_processors) / 1e12
    return [
        Figure(f"{name}: kernel alone", own, "ms"),
        Figure(f"{name}: kernel alone, against one thread", 1000 * seconds / own, "x", at_least=bars[0]),
        Figure(f"{name}: {N_MANY} objects", rate, "T look-ups/s", at_least=bars[1]),
        Figure(f"{name}: share of the limit, {limit:.2f} T look-ups/s", 100 * rate / limit, "%"),
    ]


def _kernel_time(cupy: Any, device: Recording, folds: list[Fold], here: FoldEngine | None = None) -> float:
    """Return the milliseconds of a table on the card, compared with the one here, if it is given."""
    from labelsure.engine._device_table import DeviceTable

    engine = FoldEngine(folds, allow_empty=False)
    common = (engine.n_objects, engine.n_labels, 1, engine.arrays.total_scores, engine.arrays, engine.weighing)
    table, everyone = DeviceTable(*common, device=device), np.arange(engine.n_objects)
    rows = cupy.empty((len(everyone), 2**engine.n_labels), dtype=np.int32)
    table._count(everyone, rows)
    if here is not None and not np.array_equal(cupy.asnumpy(rows), here.table.backend.numerators(everyone)):
        raise RuntimeError("The two tables differ, so their speeds cannot be compared.")
    return milliseconds(cupy, device.again)


def ask(predictor: OutputsPredictor, outputs: Any) -> tuple[Any, ...]:
    """Return the sizes of regions, the best labelsets and the p-values of labels."""
    predictions = predictor.predict_labelsets(outputs)
    return predictions.region(0.05).sizes, predictions.labelsets, predictions.label_p_values


def _end_to_end(cupy: Any) -> list[Figure]:
    model, X = fitted_model(0.0), _scaled()[2]
    outputs = np.stack([outputs_of(fitted, X, model.n_labels_) for fitted in model.models_])
    on_card = cupy.asarray(outputs)
    made = {
        name: OutputsPredictor(model.calibrator_, np.arange(N_FOLDS), model.n_labels_, 0.0, device)
        for name, device in (("card", "cuda"), ("here", "cpu"))
    }
    by_table = EngineOptions(table_labels=model.n_labels_)

    def ask_table() -> tuple[Any, ...]:
        model.calibrator_.options = by_table
        answers = ask(made["here"], outputs)
        model.calibrator_.options = None
        return answers

    functions = {
        "card": partial(ask, made["card"], on_card),
        "table": ask_table,
        "here": partial(ask, made["here"], outputs),
        "costs": lambda: [model.calibrator_.meet(k, part) for k, part in enumerate(outputs)],
    }
    answers = [functions[name]() for name in ("card", "table", "here")]
    if not all(np.array_equal(*both) for other in answers[1:] for both in zip(answers[0], other, strict=True)):
        raise RuntimeError("The answers differ, so their speeds cannot be compared.")
    seconds = fastest(functions, repeats=3)
    seconds |= fastest({name: functions[name] for name in ("card", "costs")}, repeats=20)
    return [
        Figure("end to end: on the card", 1000 * seconds["card"], "ms"),
        Figure("end to end: of which costs", 1000 * seconds["costs"], "ms"),
        Figure("end to end: against tables on one thread", seconds["table"] / seconds["card"], "x", at_least=50),
        Figure("end to end: against what one thread chooses", seconds["here"] / seconds["card"], "x"),
    ]


def _made_up(cupy: Any) -> Table:
    rows = []
    for n_labels, n_objects in MADE_UP:
        rng = np.random.default_rng(0)
        outputs = np.clip(rng.beta(0.3, 1.2, (10, n_objects + 1000, n_labels)), 1e-3, 1 - 1e-3)
        Y, folds = rng.random((1000, n_labels)) < outputs[0, :1000], np.arange(1000) % 10
        given: dict[str, Any] = {"folds": folds, "measure": LogLossMeasure(), "empty": "allow", "device": "cuda"}
        predictor = calibrate_outputs(outputs[folds, np.arange(1000)], Y, **given)
        new = cupy.asarray(outputs[:, 1000:])
        ask(predictor, new[:, :2])  # compiles
        pool = cupy.get_default_memory_pool()
        pool.free_all_blocks()
        before = pool.total_bytes()
        seconds = fastest({"card": partial(ask, predictor, new)}, repeats=1)["card"]
        look_ups = 3 * n_objects * 2**n_labels * 10
        rows.append([n_labels, n_objects, seconds, look_ups / seconds / 1e12, (pool.total_bytes() - before) / 1e9])
    columns = ["labels", "objects", "sizes, best, labels: s", "T look-ups/s", "memory of the card: GB"]
    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return Table(f"All on an {card}; many labels, end to end", columns, rows)
