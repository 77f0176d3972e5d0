"""Reads changed model files in a process of its own: ``python mutation_runner.py FOLDER FIRST LAST OUT``.

Prints a line before and after every file, so that whoever started it knows which one ended it. Code that a file makes
run is noticed by Python's audit events.
"""

import resource
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
from mutations import mutate

from labelsure.models import ModelFileError, load_model

SECONDS = 60
BYTES = 12 * 2**30
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "pickle.find_class", "socket.",
             "shutil.", "os.remove", "os.rename", "ctypes.dlopen", "code.__new__")  # fmt: skip


def notice(event, _arguments):
    if watching and event.startswith(FORBIDDEN):
        print("RAN", event, flush=True)  # noqa: T201


def use(model, X):
    """Ask a model for whatever it predicts."""
    if hasattr(model, "select"):
        return model.select(X, alpha=0.3).accepted
    if hasattr(model, "predict_labels"):
        return model.predict_labels(X).p_values
    if hasattr(model, "predict_labelsets"):
        predictions = model.predict_labelsets(X)
        region = predictions.region(0.2)
        return region.sizes, region.inner, region.outer, predictions.p_values(), region.statement
    return model.predict(X)


watching = False


def main(folder, first, last, out):
    global watching  # noqa: PLW0603 - audit hooks cannot be taken away
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    files = sorted(Path(folder).glob("*.labelsure"))
    X = {path: np.load(path.with_suffix(".npy")) for path in files}
    for path in files:
        use(load_model(path), X[path])  # so that everything is imported and compiled
    sys.addaudithook(notice)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    for seed in range(first, last):
        path, place = files[seed % len(files)], Path(out) / "changed.labelsure"
        place.unlink(missing_ok=True)
        mutate(path, place, seed)
        print("read", seed, path.stem, flush=True)  # noqa: T201
        signal.alarm(SECONDS)
        watching = True
        try:
            model = load_model(place)
            result = "loaded"
            try:
                use(model, X[path])
                result = "answered"
            except Exception as error:
                result = f"failed with {type(error).__name__}"
        except ModelFileError as error:
            result = "refused" if "\n" not in str(error) else "REFUSED IN SEVERAL LINES"
        except Exception as error:
            result = f"LEFT WITH {type(error).__name__}: {error}"
        watching = False
        signal.alarm(0)
        print("done", seed, result, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
