"""Full conformal prediction: the original, transductive definition."""

import time
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from labelsure._core.progress import progress_bar
from labelsure._core.randomness import draw_seeds
from labelsure._core.types import LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_count, n_rows
from labelsure.conformal._base import ConformalClassifier, resolve_empty
from labelsure.estimators import fit_base, outputs_of
from labelsure.labelsets import StoredEngine, decode
from labelsure.measures import Measure, PowerMeasure
from labelsure.predictions import LabelsetPredictions


class FullConformalClassifier(ConformalClassifier):
    """Full (transductive) conformal predictor for multi-label classification.

    For a new object and every assumed labelset psi, the classifier is trained on all n examples and the new object
    with labels psi; all n + 1 are scored with it. The p-value is the share of scores as large as the new object's::

        p(psi) = #{i in 1..n+1 : alpha_i >= alpha_{n+1}} / (n + 1)

    That is one fit per object and labelset, so it is for small data, and for checking the other predictors.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`; it must not depend on the order of the examples.
    measure : Measure or None, default=None
        The nonconformity measure; None is the paper's ``PowerMeasure(d=4)``.
    max_fits : int or None, default=10_000
        Predicting is refused where it would take more fits than this, with a word on what it would cost; None goes
        on in any case.
    empty, smoothed, random_state
        As in :class:`CrossConformalClassifier`.
    n_jobs : int or None, default=None
        Fits at a time.

    Attributes
    ----------
    allow_empty_, n_labels_, label_names_
        As in :class:`CrossConformalClassifier`.

    Notes
    -----
    For exchangeable data a region at significance eps misses the true labelset with probability at most eps [1]_.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World. Springer.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import FullConformalClassifier, MLkNNClassifier
    >>> X, Y = make_multilabel_classification(n_samples=31, n_classes=2, random_state=0)
    >>> model = FullConformalClassifier(MLkNNClassifier(3)).fit(X[:30], Y[:30])
    >>> model.n_fits(1)
    4
    >>> model.predict_labelsets(X[30:]).p_values().shape
    (1, 4)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        measure: Measure | None = None,
        max_fits: int | None = 10_000,
        empty: str = "auto",
        smoothed: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.max_fits = max_fits
        self.empty = empty
        self.smoothed = smoothed
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: MatrixLike, Y: LabelMatrixLike) -> Self:
        """Store the training data; the models are trained when objects arrive.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.
        """
        X, Y = self._check_fit(X, Y)
        self.allow_empty_ = resolve_empty(self.empty, Y)
        (seed,) = draw_seeds(self.random_state, 1)
        self.X_, self.Y_ = X, Y
        self.base_ = self._seeded_estimator(seed)
        self.measure_ = PowerMeasure() if self.measure is None else clone(self.measure)
        return self

    def n_fits(self, n_objects: int) -> int:
        """Return how many times the classifier would be trained to predict so many objects."""
        return n_objects * int(2**self.n_labels_ - (not self.allow_empty_))

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Train once per object and assumed labelset, and return the p-values.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_predict(X)
        n_objects = n_rows(X)
        self._check_cost(X)
        codes = range(not self.allow_empty_, 2**self.n_labels_)
        jobs = [(i, code) for i in range(n_objects) for code in codes]
        at_least = np.zeros((n_objects, 2**self.n_labels_), dtype=np.int32)
        above, scores = np.zeros_like(at_least), np.zeros(at_least.shape, dtype=np.int64)
        with threadpool_limits(limits=1):
            answers = Parallel(n_jobs=self.n_jobs, return_as="generator")(
                delayed(self._assume)(_safe_indexing(X, [i]), code) for i, code in jobs
            )
            bar = progress_bar(answers, description=f"full conformal, {len(jobs)} fits", total=len(jobs))
            for job, answer in zip(jobs, bar, strict=True):
                at_least[job], above[job], scores[job] = answer
        engine = StoredEngine(
            at_least,
            above,
            scores,
            n_calibration=len(self.Y_),
            allow_empty=self.allow_empty_,
            draws=self._draws(n_objects),
        )
        return LabelsetPredictions(engine, label_names=self.label_names_)

    def _assume(self, x: MatrixLike, code: int) -> tuple[int, int, int]:
        """Train with one object assumed to have one labelset; count the scores >= and > its own, and return that."""
        X = _append_row(self.X_, x)
        Y: LabelMatrix = np.vstack([self.Y_, decode(np.array([code]), self.n_labels_)])
        with threadpool_limits(limits=1):
            outputs = outputs_of(fit_base(self.base_, X, Y), X, self.n_labels_)
        scores = clone(self.measure_).fit(Y).energy(outputs).scores(Y)
        own, others = int(scores[-1]), scores[:-1]
        return int(np.count_nonzero(others >= own)), int(np.count_nonzero(others > own)), own

    def _check_cost(self, X: MatrixLike) -> None:
        n_objects, n_fits = n_rows(X), self.n_fits(n_rows(X))
        if self.max_fits is None or n_fits <= check_count(self.max_fits, name="max_fits"):
            return
        start = time.perf_counter()
        self._assume(_safe_indexing(X, [0]), 1)
        seconds = time.perf_counter() - start
        raise ValueError(
            f"Full conformal prediction of {n_objects} objects with {self.n_labels_} labels takes {n_fits:.6g} fits,"
            f" about {seconds * n_fits / 3600:.3g} hours at {seconds:.2g} s each, more than max_fits={self.max_fits}."
            " Pass max_fits=None to go on, predict fewer objects, or use CrossConformalClassifier."
        )


def _append_row(X: MatrixLike, x: MatrixLike) -> MatrixLike:
    """Return X with the row x below it, as the kind of container that X is."""
    if sparse.issparse(X):
        return sparse.vstack([X, x], format="csr")
    if hasattr(X, "iloc"):
        import pandas as pd

        return pd.concat([X, x], ignore_index=True)
    if isinstance(X, list):
        return X + list(x)
    return np.concatenate([X, x])
