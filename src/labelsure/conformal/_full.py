"""Full conformal prediction: the original, transductive definition."""

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_count,
    n_rows,
    row_index_of,
)
from labelsure._parallel import one_thread, run_jobs
from labelsure._random import (
    SMOOTHING,
    draw_order,
    draw_seeds,
    draw_uniforms,
    object_keys,
    set_missing_seeds,
)
from labelsure.conformal._base import WrappingClassifier
from labelsure.conformal._calibrator import STRANGEST, score_examples
from labelsure.conformal._guarantees import add_conditions, state_guarantee
from labelsure.conformal._models import fit_model
from labelsure.conformal._probabilities import Candidates, recalibrated
from labelsure.conformal._training_data import TrainingData
from labelsure.engine import Constraint
from labelsure.engine._fold_engine import StoredEngine
from labelsure.engine._weighing import Weighing
from labelsure.learners import outputs_of
from labelsure.measures import Measure, Need
from labelsure.measures._labelset_bits import decode
from labelsure.predictions import LabelsetPredictions

MAX_LABELS = 24
"""With more labels one object's tables of counts and scores no longer fit in 256 MiB."""


@dataclass(eq=False, repr=False)
class FullConformalClassifier(WrappingClassifier):
    """Full (transductive) conformal predictor for multi-label classification.

    For a new object and every assumed labelset psi, the classifier is trained on all n examples and
    the new object with labels psi; all n + 1 are scored with it. The p-value is the share of scores
    as large as the new object's::

        p(psi) = #{i in 1..n+1 : alpha_i >= alpha_{n+1}} / (n + 1)

    That is one fit per object and labelset, so it is for small data, and for checking the other
    predictors.

    The definition asks for a classifier that treats all examples alike, whatever their order. Many
    do not (neighbours at the same distance, bootstrap samples, stochastic gradients), so the n + 1
    examples are put into a random order, drawn once per object from its features and the seed. On
    average over that order the p-values are valid for any classifier.

    Parameters
    ----------
    estimator : classifier or None, default=None
        As in :class:`CrossConformalClassifier`.
    measure : Measure or None, default=None
        The nonconformity measure; None is the paper's ``PowerMeasure(d=4)``.
    max_fits : int or None, default=10_000
        Predicting is refused where it would take more fits than this, with a word on what it would
        cost; None goes on in any case.
    empty_labelset : {"auto", "allow", "exclude"}, default="auto"
        What the empty labelset is, see :class:`CrossConformalClassifier`; "auto": stranger than
        every other labelset where only one of the n + 1 examples has no label.
    smoothed, constraints, on_violation, random_state
        As in :class:`CrossConformalClassifier`; nothing is trained for labelsets that are not
        allowed.
    n_jobs : int or None, default=None
        Fits at a time.

    Attributes
    ----------
    n_labels_, label_names_
        As in :class:`CrossConformalClassifier`.

    Notes
    -----
    For exchangeable data a region at significance eps misses the true labelset with probability at
    most eps [1]_.

    References
    ----------
    .. [1] Vovk, V., Gammerman, A., Shafer, G. (2005). Algorithmic Learning in a Random World.
       Springer.

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

    _learned_last = "choices_"

    estimator: Any = None
    _: KW_ONLY
    measure: Measure | None = None
    max_fits: int | None = 10_000
    empty_labelset: str = "auto"
    smoothed: bool = False
    constraints: Constraint | Sequence[Constraint] | None = None
    on_violation: str = "refuse"
    random_state: Any = None
    n_jobs: int | None = None

    def fit(
        self, X: MatrixLike, y: LabelMatrixLike, *, label_names: Sequence[str] | None = None
    ) -> Self:
        """Store the training data; the models are trained when objects arrive.

        One is trained now and thrown away, so that data or a classifier that cannot be used are
        refused here.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.
        label_names : sequence of str or None, default=None
            What the labels are called; None: as the columns of ``y``, where it is a DataFrame.
        """
        X, Y = self._check_fit(X, y, label_names)
        choices, measure = self._check_choices(Y, one_fold=True, known=Need.NOTHING)
        if Need.OUT_OF_FOLD_OUTPUTS in measure.needs:
            raise ValueError(
                f"measure={self.measure!r} needs outputs of models that had not seen the example,"
                " and full conformal prediction trains on all examples at once. Use"
                " CrossConformalClassifier, or name another measure."
            )
        self.seed_, self.draw_seed_ = draw_seeds(self.random_state, 2)
        self.X_, self.Y_ = X, Y
        self.base_ = clone(self.estimator, safe=False)
        self.measure_ = set_missing_seeds(clone(measure), self.seed_)
        self._score(X, Y)
        self.choices_ = choices
        return self

    def n_fits(self, n_objects: int) -> int:
        """Return how many times the classifier would be trained to predict this many objects."""
        check_is_fitted(self)
        n = check_count(n_objects, name="n_objects", at_least=0)
        rules, excluded = self.choices_.constraints, self.choices_.empty_labelset == "exclude"
        if rules is None:
            return n * int(2**self.n_labels_ - excluded)
        return n * int(rules.n_allowed - (excluded and rules.allows_empty))

    def predict_labelsets(self, X: MatrixLike) -> LabelsetPredictions:
        """Train once per object and assumed labelset, and return the p-values.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X, index = self._check_objects(X), row_index_of(X)
        n_objects = n_rows(X)
        n_examples = len(self.Y_)
        smoothed = self.choices_.smoothed
        everyone = _put_below(self.X_, X)
        self._check_cost(everyone, n_objects)
        at_least = np.zeros((n_objects, 2**self.n_labels_), dtype=np.int32)
        above, scores = np.zeros_like(at_least), np.zeros(at_least.shape, dtype=np.int64)
        excluded = self.choices_.empty_labelset == "exclude"
        rules = self.choices_.constraints
        codes = [
            code
            for code in range(excluded, 2**self.n_labels_)
            if rules is None or rules.by_code[code]
        ]
        objects = [_safe_indexing(everyone, [n_examples + i]) for i in range(n_objects)]
        # the orders belong to the objects
        orders = [draw_order(self.draw_seed_, x, n_examples + 1) for x in objects]
        jobs = (
            delayed(self._assume)(everyone, i, code, orders[i])
            for i in range(n_objects)
            for code in codes
        )
        total = self.n_fits(n_objects)
        answers = run_jobs(
            jobs, n_jobs=self.n_jobs, description="fitting once per labelset", total=total
        )
        for job, answer in zip(product(range(n_objects), codes), answers, strict=True):
            at_least[job], above[job], scores[job] = answer
        weighing = Weighing.plain(n_examples, n_objects)
        if smoothed:
            keys = np.concatenate([object_keys(x) for x in objects])
            weighing = Weighing.smoothed(
                n_examples, draw_uniforms(self.draw_seed_, SMOOTHING, keys)
            )
        guarantee = state_guarantee("full", [[n_examples]], smoothed=smoothed, with_labels=excluded)
        return LabelsetPredictions(
            StoredEngine(
                at_least, above, scores, weighing, allow_empty=not excluded, constraints=rules
            ),
            label_names=self.label_names_ or (),
            guarantee=add_conditions(guarantee, constrained=rules is not None),
            index=index,
            _find_probabilities=partial(self.predict_proba, X),
        )

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the probability of each label from one model of all training examples.

        As in :meth:`CrossConformalClassifier.predict_proba`, but with a measure that has no
        posterior, as the default, outputs count as they are: no example is left to recalibrate
        them.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.
        """
        X, choices = self._check_objects(X), self.choices_
        with one_thread():
            model = fit_model(self.base_, TrainingData(self.X_, self.Y_), seed=self.seed_)
            known, outputs = (outputs_of(model, rows, self.n_labels_) for rows in (self.X_, X))
            measure = clone(self.measure_).fit(self.Y_, outputs=known, X=self.X_)
        found = measure.posterior(outputs, X)
        candidates = Candidates(
            choices.constraints, choices.empty_labelset == "exclude", self.draw_seed_
        )
        keys = object_keys(X) if candidates.drawn else None
        return candidates.marginals(recalibrated(outputs, None) if found is None else found, keys)

    def predict(self, X: MatrixLike) -> Any:
        """Return the labelset with the highest p-value for each object, ties by lowest total score.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array or DataFrame of shape (n_objects, n_labels)
            Zeros and ones; see :meth:`set_output`.
        """
        labels = self.predict_labelsets(X).labelsets.astype(np.int64)  # scikit-learn's own type
        return self._put_out(labels, X)

    def _assume(
        self, everyone: MatrixLike, i: int, code: int, order: IntArray
    ) -> tuple[int, int, int]:
        """Assume a labelset and train; return the counts of scores >= and > its own, and that."""
        n_examples = len(self.Y_)
        X = _safe_indexing(everyone, np.where(order == n_examples, n_examples + i, order))
        Y: LabelMatrix = np.vstack([self.Y_, decode(np.array([code]), self.n_labels_)])[order]
        scores = self._score(X, Y)
        without_labels = ~Y.any(axis=1)
        # the empty labelset may be the new example's or another's
        if self.choices_.empty_labelset == "auto" and without_labels.sum() == 1:
            scores[without_labels] = STRANGEST
        own = int(scores[order == n_examples][0])
        return int(np.count_nonzero(scores >= own)) - 1, int(np.count_nonzero(scores > own)), own

    def _score(self, X: MatrixLike, Y: LabelMatrix) -> IntArray:
        """Train on all examples and return their scores, everything treating them alike."""
        with one_thread():
            model = fit_model(self.base_, TrainingData(X, Y), seed=self.seed_)
            outputs = outputs_of(model, X, self.n_labels_)
            features = X if Need.FEATURES in self.measure_.needs else None
            fitted = clone(self.measure_).fit(Y, outputs=outputs, X=features)
            return score_examples(fitted, outputs, Y, X)

    def _check_cost(self, everyone: MatrixLike, n_objects: int) -> None:
        n_fits = self.n_fits(n_objects)
        if self.max_fits is not None and n_fits > check_count(self.max_fits, name="max_fits"):
            start = time.perf_counter()
            self._assume(everyone, 0, 1, np.arange(len(self.Y_) + 1))
            seconds = time.perf_counter() - start
            raise ValueError(
                f"Full conformal prediction of {n_objects} objects with {self.n_labels_} labels"
                f" takes {_readable(n_fits)} fits, about"
                f" {_readable(Fraction(seconds) * n_fits / 3600)} hours at {seconds:.2g} s each,"
                f" more than max_fits={self.max_fits}. Pass max_fits=None to go on, predict fewer"
                " objects, or use CrossConformalClassifier."
            )
        if self.n_labels_ > MAX_LABELS:
            raise ValueError(
                "Full conformal prediction tries every labelset, which is possible for up to"
                f" {MAX_LABELS} labels, got {self.n_labels_}. Use CrossConformalClassifier."
            )


def _readable(amount: int | Fraction) -> str:
    """Return a whole number in full, a fraction in two digits, a huge one as a power of 2."""
    if amount >= 10**12:
        return f"2^{int(amount).bit_length() - 1}"
    return str(amount) if isinstance(amount, int) else f"{float(amount):.2g}"


def _put_below(X: MatrixLike, more: MatrixLike) -> MatrixLike:
    """Return X with more rows below it, all in the kind of container that X is."""
    if sparse.issparse(X):
        return sparse.vstack([X, more if sparse.issparse(more) else np.asarray(more)], format="csr")
    more = more.toarray() if sparse.issparse(more) else more
    if hasattr(X, "iloc"):
        import pandas as pd

        columns = {} if X.ndim == 1 else {"columns": X.columns}
        return pd.concat(
            [X, more if hasattr(more, "iloc") else type(X)(more, **columns)], ignore_index=True
        )
    if hasattr(X, "vstack"):  # polars
        import polars

        more = more if hasattr(more, "vstack") else type(X)(np.asarray(more), schema=X.columns)
        # columns of two numeric types get the type that holds both
        return polars.concat([X, more], how="vertical_relaxed")
    if isinstance(X, list):
        return X + list(more if isinstance(more, list) else np.asarray(more))
    try:
        return np.concatenate([X, more])
    except TypeError:
        kinds = [getattr(part, "dtype", type(part).__name__) for part in (X, more)]
        raise ValueError(
            f"X must be of the kind that fit was given, {kinds[0]}, got {kinds[1]}."
        ) from None
