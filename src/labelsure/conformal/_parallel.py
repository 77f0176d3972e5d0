"""Several folds at a time: their models are fitted in processes, and asked for outputs in threads."""

from collections.abc import Iterable, Sequence
from typing import Any

from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel

from labelsure._core.running import map_in_threads, one_thread, progress_bar
from labelsure._core.types import FloatArray, MatrixLike
from labelsure.estimators import outputs_of


def fit_in_parallel(jobs: Iterable[Any], *, n_folds: int, n_jobs: int | None) -> list[Any]:
    """Return what the folds' jobs return, in their order, with a progress bar.

    Parameters
    ----------
    jobs : iterable of delayed calls
        One per fold, made by ``sklearn.utils.parallel.delayed``.
    n_folds : int
        How many there are.
    n_jobs : int or None
        As in joblib.
    """
    with one_thread():
        fitted = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
        return list(progress_bar(fitted, description="fitting folds", total=n_folds))


def outputs_of_models(
    models: Sequence[Any], X: MatrixLike, n_labels: int, *, n_jobs: int | None
) -> Iterable[FloatArray]:
    """Yield each model's outputs for the same objects; to be used within ``one_thread()``."""
    config = get_config()  # scikit-learn's settings belong to one thread and must follow the work into others

    def read_outputs(model: Any) -> FloatArray:
        with config_context(**config):
            return outputs_of(model, X, n_labels)

    return map_in_threads(read_outputs, models, n_jobs=n_jobs, description="outputs of the folds' models")
