"""Full conformal prediction: the original, transductive definition."""

import time
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from labelsure._core.randomness import draw_seeds
from labelsure._core.running import one_thread, progress_bar
from labelsure._core.types import IntArray, LabelMatrix, LabelMatrixLike, MatrixLike
from labelsure._core.validation import check_count, n_rows
from labelsure.conformal._base import ORDER_STREAM, ConformalClassifier, open_stream, resolve_empty
from labelsure.conformal._calibrated import TrainingPart, copy_measure, fit_measure, score_examples
from labelsure.conformal._guarantees import FULL
from labelsure.conformal._inside import fit_inside
from labelsure.estimators import outputs_of
from labelsure.labelsets import StoredEngine, Weighing, decode
from labelsure.measures import Measure
from labelsure.predictions import LabelsetPredictions

MAX_LABELS = 24
"""With more labels one object's tables of counts and scores no longer fit in 256 MiB."""


class FullConformalClassifier(ConformalClassifier):
    """Full (transductive) conformal predictor for multi-label classification.

    For a new object and every assumed labelset psi, the classifier is trained on all n examples and the new object
    with labels psi; all n + 1 are scored with it. The p-value is the share of scores as large as the new object's::

        p(psi) = #{i in 1..n+1 : alpha_i >= alpha_{n+1}} / (n + 1)

    That is one fit per object and labelset, so it is for small data, and for checking the other predictors.

    The definition asks for a classifier that treats all examples alike, whatever their order. Many do not (neighbours
    at the same distance, bootstrap samples, stochastic gradients), so the n + 1 examples are put into a random order,
    drawn once per object, which makes the p-values valid for any classifier.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`.
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

        One is trained now and thrown away, so that data or a classifier that cannot be used are refused here.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects.
        Y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.
        """
        X, Y = self._check_fit(X, Y)
        (seed,) = draw_seeds(self.random_state, 1)
        self.X_, self.Y_ = X, Y
        self.base_ = self._seeded_estimator(seed)
        self.measure_ = copy_measure(self.measure, seed, self.n_labels_, training_labels=False)
        if self.measure_.needs_out_of_fold_outputs:
            raise ValueError(
                f"measure={self.measure!r} needs outputs of models that had not seen the example, and full conformal"
                " prediction trains on all examples at once. Use CrossConformalClassifier, or name another measure."
            )
        self._score(X, Y)
        self.allow_empty_ = resolve_empty(self.empty, Y)
        return self

    def n_fits(self, n_objects: int) -> int:
        """Return how many times the classifier would be trained to predict so many objects."""
        check_is_fitted(self)
        return n_objects * int(2**self.n_labels_ - (not self.allow_empty_))

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Train once per object and assumed labelset, and return the p-values.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X = self._check_predict(X)
        X = _in_kind_of(self.X_, X)
        n_objects = n_rows(X)
        self._check_cost(X)
        at_least = np.zeros((n_objects, 2**self.n_labels_), dtype=np.int32)
        above, scores = np.zeros_like(at_least), np.zeros(at_least.shape, dtype=np.int64)
        codes = range(not self.allow_empty_, 2**self.n_labels_)
        answers = Parallel(n_jobs=self.n_jobs, return_as="generator")(self._jobs(X, codes))
        bar = progress_bar(answers, description="full conformal, fits", total=self.n_fits(n_objects))
        for job, answer in zip(product(range(n_objects), codes), bar, strict=True):
            at_least[job], above[job], scores[job] = answer
        draws, n_others = self._draws(n_objects), len(self.Y_)
        weighing = Weighing.plain(n_others, n_objects) if draws is None else Weighing.smoothed(n_others, draws)
        engine = StoredEngine(at_least, above, scores, weighing, allow_empty=self.allow_empty_)
        return LabelsetPredictions(engine, label_names=self.label_names_, guarantee=FULL)

    def _jobs(self, X: MatrixLike, codes: range) -> Iterator[Any]:
        """Yield the fits to be done, object by object; the examples' order is drawn once per object."""
        rng = open_stream(self.random_state, ORDER_STREAM)
        for i in range(n_rows(X)):
            x, order = _safe_indexing(X, [i]), rng.permutation(len(self.Y_) + 1)
            yield from (delayed(self._assume)(x, code, order) for code in codes)

    def _assume(self, x: MatrixLike, code: int, order: IntArray) -> tuple[int, int, int]:
        """Train with one object assumed to have one labelset; count the scores >= and > its own, and return that."""
        X = _safe_indexing(_append_row(self.X_, x), order)
        Y: LabelMatrix = np.vstack([self.Y_, decode(np.array([code]), self.n_labels_)])[order]
        scores = self._score(X, Y)
        own = int(scores[order == len(self.Y_)][0])
        return int(np.count_nonzero(scores >= own)) - 1, int(np.count_nonzero(scores > own)), own

    def _score(self, X: MatrixLike, Y: LabelMatrix) -> IntArray:
        """Train on all examples and return their scores, everything treating them alike."""
        with one_thread():
            model = fit_inside(self.base_, X, Y)
            outputs = outputs_of(model, X, self.n_labels_)
            training = TrainingPart(Y, outputs, X if self.measure_.needs_features else None)
            return score_examples(fit_measure(self.measure_, training, n_labels=self.n_labels_), outputs, Y, X)

    def _check_cost(self, X: MatrixLike) -> None:
        n_objects, n_fits = n_rows(X), self.n_fits(n_rows(X))
        if self.max_fits is not None and n_fits > check_count(self.max_fits, name="max_fits"):
            start = time.perf_counter()
            self._assume(_safe_indexing(X, [0]), 1, np.arange(len(self.Y_) + 1))
            seconds = time.perf_counter() - start
            raise ValueError(
                f"Full conformal prediction of {n_objects} objects with {self.n_labels_} labels takes"
                f" {_readable(n_fits)} fits, about {_readable(Fraction(seconds) * n_fits / 3600)} hours at"
                f" {seconds:.2g} s each, more than max_fits={self.max_fits}."
                " Pass max_fits=None to go on, predict fewer objects, or use CrossConformalClassifier."
            )
        if self.n_labels_ > MAX_LABELS:
            raise ValueError(
                f"Full conformal prediction tries every labelset, which is possible for up to {MAX_LABELS}"
                f" labels, got {self.n_labels_}. Use CrossConformalClassifier."
            )


def _readable(amount: int | Fraction) -> str:
    """Return a whole number in full, a fraction in two digits; where either is huge, the power of two below it."""
    if amount >= 10**12:
        return f"2^{int(amount).bit_length() - 1}"
    return str(amount) if isinstance(amount, int) else f"{float(amount):.2g}"


def _in_kind_of(model: MatrixLike, X: MatrixLike) -> MatrixLike:
    """Return X as the kind of container that ``model`` is, so that its rows can be put below it."""
    if sparse.issparse(model):
        return X if sparse.issparse(X) else sparse.csr_array(np.asarray(X))
    if sparse.issparse(X):
        X = X.toarray()
    if hasattr(model, "iloc") and not hasattr(X, "iloc"):
        return type(model)(X) if model.ndim == 1 else type(model)(X, columns=model.columns)
    if isinstance(model, list) and not isinstance(X, list):
        return list(np.asarray(X))
    return X


def _append_row(X: MatrixLike, x: MatrixLike) -> MatrixLike:
    """Return X with the row x, of the same kind, below it."""
    if sparse.issparse(X):
        return sparse.vstack([X, x], format="csr")
    if hasattr(X, "iloc"):
        import pandas as pd

        return pd.concat([X, x], ignore_index=True)
    if isinstance(X, list):
        return X + list(x)
    return np.concatenate([X, x])
