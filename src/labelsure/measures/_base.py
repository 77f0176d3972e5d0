"""What a nonconformity measure is, and sums of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add, or_
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from labelsure._checks import (
    BoolArray,
    FloatArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    check_label_matrix,
    check_outputs,
    check_same_length,
)
from labelsure.measures._costs import Costs, Form, choose_exponent
from labelsure.measures._energy import Energy
from labelsure.measures._log_partition import LabelsetPosterior
from labelsure.measures._need import Need


def rows_with_outputs(outputs: FloatArray) -> BoolArray:
    """Return which examples have outputs, shape (n,): the rows of the others are NaN.

    Out-of-fold outputs come from few models that many folds share, for part of the examples.

    Examples
    --------
    >>> import numpy as np
    >>> rows_with_outputs(np.array([[0.5, 1.0], [np.nan, np.nan]]))
    array([ True, False])
    """
    known: BoolArray = np.equal(np.isnan(outputs.reshape(len(outputs), -1)).sum(axis=1), 0)
    return known


class Measure(BaseEstimator):
    """A nonconformity measure: how strange is a labelset, given a learner's outputs for the object?

    A measure is fitted on a fold's training part, never on its calibration part. Measures add up:
    ``LogLossMeasure() + UnseenPenalty(3.0)``. A measure is a scikit-learn estimator as far as
    parameters go, so a grid search can reach them as ``measure__...``.

    A subclass has an ``__init__`` that stores its parameters, ``_learn(labels, outputs, X)``, which
    learns from the training part and returns a number that no score exceeds in magnitude, and
    ``_costs(outputs, X)``, which returns :class:`Costs`, floats. Two class attributes say what it
    ``needs`` and which ``form`` its scores have, where these differ from what is set here, and
    ``check_parameters`` checks its parameters. All else is done here.

    Attributes
    ----------
    n_labels_ : int
        The number of labels.
    bound_ : float
        No labelset's score, nor a partial sum of it, is larger in magnitude.
    exponent_ : int
        Scores are whole numbers of 2 to the power of -``exponent_``.
    labels_are_better_ : bool
        Whether training showed that labels one by one are better single answers than the best
        labelset; False unless ``_learn`` sets it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import Costs, Measure
    >>> class AbsoluteError(Measure):
    ...     def _learn(self, labels, outputs, X):
    ...         return self.n_labels_
    ...     def _costs(self, outputs, X):
    ...         return Costs(off=outputs, on=1 - outputs)
    >>> AbsoluteError().fit([[1, 0]]).scores([[0.75, 0.5]], [[1, 1]])
    array([0.75])
    """

    needs: Need = Need.NOTHING
    """What the measure needs to know of the training part and of objects."""

    form: Form = "sum"
    """What becomes of the costs of labels.

    "sum": they add up. "root": the square root of their sum counts, so the measure can only be
    added to those of the form "none". "maximum": the largest counts; this takes a table of all
    labelsets, up to 24 labels. "none": there are none, only costs of whole labelsets.
    """

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where parameters make no sense, before anything is fitted.

        Parameters
        ----------
        n_labels : int or None
            The number of labels where it is known.
        """

    def _learn(self, labels: LabelMatrix, outputs: FloatArray | None, X: MatrixLike) -> float:
        """Learn from the checked training part; return a number that no score exceeds in magnitude.

        Neither may the sum of the magnitudes of a score's costs. ``n_labels_`` is known already.
        Outputs have rows of NaN for examples without any.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define _learn(labels, outputs, X): see Measure."
        )

    def _costs(self, outputs: FloatArray, X: MatrixLike) -> Costs:
        """Return what the labelsets of the objects with these outputs (n, q) cost."""
        raise NotImplementedError(
            f"{type(self).__name__} must define _costs(outputs, X): see Measure."
        )

    def fit(self, Y: LabelMatrixLike, *, outputs: Any = None, X: MatrixLike = None) -> Self:
        """Learn from a fold's training part.

        Parameters
        ----------
        Y : array-like of shape (n, q)
            Its labelsets, zeros and ones; no rows where the measure needs no training labels.
        outputs : array of shape (n, q) or None
            The learner's outputs for its objects, where the measure needs them; rows of NaN for
            objects without any.
        X : array-like of n rows or None
            The objects, where the measure needs them.
        """
        labels = check_label_matrix(Y)
        self.check_parameters(labels.shape[1])
        if Need.TRAINING_LABELS in self.needs and len(labels) == 0:
            raise ValueError(
                f"{self!r} learns from training examples, so Y needs at least one row, got none."
                " Pass the labels of the examples that the learner was trained on."
            )
        if Need.TRAINING_OUTPUTS in self.needs:
            if outputs is None:
                raise ValueError(
                    f"{self!r} learns from errors: pass outputs, those for the examples of Y, got"
                    f" None."
                )
            outputs = _check_training_outputs(outputs, labels)
        self.n_labels_: int = labels.shape[1]
        self.labels_are_better_ = False
        self.bound_ = float(self._learn(labels, outputs, X))
        self.exponent_ = choose_exponent(self.bound_, root=self.form == "root")
        return self

    def energy(
        self, outputs: FloatArray, *, X: MatrixLike = None, exponent: int | None = None
    ) -> Energy:
        """Return the scores of all labelsets of the objects with these outputs, as integers.

        Parameters
        ----------
        outputs : array-like of shape (n, q)
            Between 0 and 1.
        X : array-like of n rows or None
            The objects, where the measure needs them.
        exponent : int or None
            Scores are whole numbers of 2^-exponent; at most ``exponent_``, which is meant by None.
        """
        if not hasattr(self, "exponent_"):  # check_is_fitted takes longer than an object
            check_is_fitted(self, "exponent_")
        unit = self.exponent_ if exponent is None else exponent
        checked = check_outputs(outputs, n_labels=self.n_labels_)
        return reduce(add, (part._energy(checked, X, unit) for part in self.parts()))

    def _energy(self, outputs: FloatArray, X: MatrixLike, exponent: int) -> Energy:
        """Return the energy of a measure other than a sum, in units of 2^-exponent."""
        costs = self._costs(outputs, X)
        return costs.energy(outputs.shape, exponent, form=self.form, bound=self.bound_)

    def posterior(self, outputs: FloatArray, X: MatrixLike = None) -> LabelsetPosterior | None:
        """Return the probabilities that the scores are logarithms of, None where they are of none.

        Parameters
        ----------
        outputs : array-like of shape (n, q)
            Between 0 and 1.
        X : array-like of n rows or None
            The objects, where the measure needs them.
        """
        return None

    def scores(
        self, outputs: FloatArray, Y: LabelMatrixLike, *, X: MatrixLike = None
    ) -> FloatArray:
        """Return how strange each object's labelset is.

        Parameters
        ----------
        outputs : array-like of shape (n, q)
            Between 0 and 1.
        Y : array-like of shape (n, q)
            One labelset per object, zeros and ones.
        X : array-like of n rows or None
            The objects, where the measure needs them.

        Returns
        -------
        array of shape (n,)
            Larger is stranger.
        """
        energy = self.energy(outputs, X=X)
        labels = check_label_matrix(Y, n_labels=self.n_labels_)
        check_same_length(outputs, labels, names=("outputs", "Y"))
        scores: FloatArray = np.ldexp(energy.scores(labels).astype(np.float64), -self.exponent_)
        return scores

    def parts(self) -> list["Measure"]:
        """Return the measures that are added up: itself, or those of a sum."""
        return [self]

    def alternatives(self, n_labels: int) -> Sequence["Measure"]:
        """Return the measures of which one is fitted: itself, unless it chooses among others."""
        return [self]

    def __add__(self, other: "Measure") -> "MeasureSum":
        """Return the measure whose scores are the sums of both measures' scores."""
        if not isinstance(other, Measure):
            return NotImplemented
        both = MeasureSum(self, other)
        both.check_form()
        return both


def _check_training_outputs(outputs: Any, labels: LabelMatrix) -> FloatArray:
    """Return outputs for the examples with these labels, whole rows of which may be NaN."""
    given = np.asarray(outputs)
    known = np.ones(len(given), dtype=bool)
    if given.ndim == 2 and given.dtype.kind == "f":
        known = ~np.isnan(given).all(axis=1)
    checked = check_outputs(outputs if known.all() else given[known], n_labels=labels.shape[1])
    check_same_length(given, labels, names=("outputs", "Y"))
    if known.all():
        return checked
    if not known.any():
        raise ValueError("outputs must be known for at least one example, got only rows of NaN.")
    filled = np.full(labels.shape, np.nan)
    filled[known] = checked
    return filled


@dataclass(eq=False, repr=False)
class MeasureSum(Measure):
    """The sum of two measures, written ``a + b``.

    Parameters
    ----------
    first, second : Measure
        At most one of them may have a square root (as the Mahalanobis measures do), and then the
        other has to be a penalty on labelsets alone.

    Examples
    --------
    >>> from labelsure.measures import PowerMeasure
    >>> both = PowerMeasure(d=2) + PowerMeasure(d=4)
    >>> both.fit([[1, 0]]).scores([[0.5, 0.0]], [[1, 0]])
    array([0.3125])
    """

    first: Measure
    second: Measure

    @property
    def needs(self) -> Need:  # type: ignore[override]
        """What any part needs."""
        return reduce(or_, (part.needs for part in self.parts()))

    def parts(self) -> list[Measure]:
        """Return the measures that are added up, those of sums inside too."""
        both = (self.first, self.second)
        return [
            part for one in both for part in (one.parts() if isinstance(one, MeasureSum) else [one])
        ]

    def check_form(self) -> None:
        """Raise ValueError where the sum could not be searched."""
        parts = self.parts()
        wrong = [part for part in parts if not isinstance(part, Measure)]
        if wrong:
            raise ValueError(
                f"A sum of measures can only have measures as parts, got {wrong[0]!r}."
            )
        roots = [part for part in parts if part.form == "root"]
        others = roots[1:] + [part for part in parts if part.form == "sum"]
        if roots and others:
            raise ValueError(
                f"{roots[0]!r} takes a square root, so it can only be added to penalties on"
                f" labelsets, got {others[0]!r}: the sum would not be one energy that can be"
                " searched. Add HammingPenalty(), CardinalityPenalty(), UnseenPenalty() or"
                " LabelsetPrior(base='uniform')."
            )

    def check_parameters(self, n_labels: int | None = None) -> None:
        """Raise ValueError where the parameters of a part make no sense, or parts do not add up."""
        self.check_form()
        for part in self.parts():
            part.check_parameters(n_labels)

    def fit(self, Y: LabelMatrixLike, *, outputs: Any = None, X: MatrixLike = None) -> Self:
        """Fit both measures; see :meth:`Measure.fit`."""
        labels = check_label_matrix(Y)
        self.check_form()
        self.first.fit(labels, outputs=outputs, X=X)
        self.second.fit(labels, outputs=outputs, X=X)
        return self.join()

    def join(self) -> Self:
        """Learn from two measures that are fitted already, on the same examples."""
        self.n_labels_ = self.first.n_labels_
        self.labels_are_better_ = False
        self.bound_ = self.first.bound_ + self.second.bound_
        self.exponent_ = min(
            choose_exponent(self.bound_), self.first.exponent_, self.second.exponent_
        )
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{self.first!r} + {self.second!r}"
