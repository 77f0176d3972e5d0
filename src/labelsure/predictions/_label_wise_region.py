"""Regions of labels taken one by one: what each label may be, so that few are wrong at once."""

from fractions import Fraction
from functools import cached_property
from math import comb

import numpy as np

from labelsure._core.types import BoolArray, IntArray, LabelMatrixLike
from labelsure._core.validation import check_count, check_label_matrix, check_same_length, check_significance
from labelsure.predictions._guarantee import Guarantee


class LabelWiseRegion:
    r"""For each label of each object the values with a p-value above a level.

    Made by :meth:`LabelWisePredictions.region`. At the level :math:`\varepsilon (h + 1) / q` each of q labels is wrong
    with at most that probability, so on average at most :math:`\varepsilon (h + 1)` labels are, and by Markov's
    inequality more than h of them with probability at most :math:`\varepsilon`, whatever their dependence [1]_.

    Attributes
    ----------
    significance : float
        The probability of more than ``at_most_wrong`` wrong labels that was asked for.
    at_most_wrong : int
        h, the number of labels that may be wrong.
    level : fractions.Fraction
        The level at which each label is decided.

    References
    ----------
    .. [1] Lambrou, A., Papadopoulos, H. (2016). Binary relevance multi-label conformal predictor. COPA 2016, LNCS
       9653, 90-104.

    Examples
    --------
    >>> from labelsure import calibrate_labels
    >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> region = predictor.predict_labels([[0.8, 0.15]]).region(significance=0.5)
    >>> region.level
    Fraction(1, 4)
    >>> region.possible.tolist()
    [[[False, True], [True, False]]]
    >>> region.contains([[1, 0]]).tolist(), region.n_wrong([[0, 1]]).tolist(), region.sizes.tolist()
    ([True], [2], [1])
    """

    def __init__(
        self,
        numerators: IntArray,
        denominators: IntArray,
        significance: float,
        *,
        at_most_wrong: int,
        guarantee: Guarantee | None,
    ) -> None:
        self.significance = significance
        self.at_most_wrong = check_count(at_most_wrong, name="at_most_wrong", at_least=0)
        n_labels = numerators.shape[1]
        if self.at_most_wrong >= n_labels:
            raise ValueError(
                f"at_most_wrong must be below the number of labels, {n_labels}, got {at_most_wrong}:"
                " more labels than there are cannot be wrong."
            )
        self.level = check_significance(significance) * Fraction(self.at_most_wrong + 1, n_labels)
        self._guarantee = guarantee
        self._possible: BoolArray = numerators >= _smallest_members(denominators, self.level)

    def __len__(self) -> int:
        return len(self._possible)

    def __repr__(self) -> str:
        wrong = f", at_most_wrong={self.at_most_wrong}" if self.at_most_wrong else ""
        return f"LabelWiseRegion(significance={self.significance}{wrong}, {len(self)} objects)"

    @property
    def possible(self) -> BoolArray:
        """Whether each label may be off and whether it may be on, shape (n, q, 2)."""
        return self._possible

    @property
    def inner(self) -> BoolArray:
        """The labels that may only be on, shape (n, q)."""
        return self._possible[:, :, 1] & ~self._possible[:, :, 0]

    @property
    def outer(self) -> BoolArray:
        """The labels that may be on, shape (n, q)."""
        return self._possible[:, :, 1]

    @property
    def undecided(self) -> BoolArray:
        """The labels that may be both off and on, shape (n, q)."""
        return self._possible[:, :, 0] & self._possible[:, :, 1]

    @property
    def empty(self) -> BoolArray:
        """The labels that can be neither off nor on, shape (n, q): the object is strange, and they count as wrong."""
        return ~(self._possible[:, :, 0] | self._possible[:, :, 1])

    def n_wrong(self, Y: LabelMatrixLike) -> IntArray:
        """Return how many labels of one labelset per object have a value that was ruled out, shape (n,).

        Parameters
        ----------
        Y : array-like of shape (n, q)
            Zeros and ones.
        """
        Y = check_label_matrix(Y, n_labels=self._possible.shape[1])
        check_same_length(range(len(self)), Y, names=("the predictions", "Y"))
        right = np.take_along_axis(self._possible, Y[:, :, None].astype(np.int64), axis=2)[:, :, 0]
        n_wrong: IntArray = np.sum(~right, axis=1, dtype=np.int64)
        return n_wrong

    def contains(self, Y: LabelMatrixLike) -> BoolArray:
        """Tell for one labelset per object whether at most ``at_most_wrong`` of its labels are ruled out.

        With the true labelsets, the share of False is the error rate, which ``significance`` bounds.

        Parameters
        ----------
        Y : array-like of shape (n, q)
            Zeros and ones.
        """
        members: BoolArray = self.n_wrong(Y) <= self.at_most_wrong
        return members

    @cached_property
    def sizes(self) -> IntArray:
        """The number of labelsets that :meth:`contains` accepts for each object, shape (n,).

        Python integers, in an array of objects, where some do not fit 64 bits. With ``at_most_wrong=0`` that is 2 to
        the number of undecided labels, or 0 where a label can be neither off nor on.
        """
        n_empty, n_both = self.empty.sum(axis=1).tolist(), self.undecided.sum(axis=1).tolist()
        sizes = [self._size(empty, both) for empty, both in zip(n_empty, n_both, strict=True)]
        counted = all(size < 2**63 for size in sizes)
        return np.array(sizes, dtype=np.int64 if counted else object)

    def _size(self, n_empty: int, n_both: int) -> int:
        """Count labelsets: both values of an empty or undecided label count, of the others up to h - n_empty flip."""
        n_single = self._possible.shape[1] - n_empty - n_both
        n_flips = self.at_most_wrong - n_empty
        return (1 << n_empty + n_both) * sum(comb(n_single, flips) for flips in range(n_flips + 1))

    @property
    def guarantee(self) -> str:
        """What is guaranteed about these regions, under which conditions, and by whom it was proved.

        Examples
        --------
        >>> from labelsure import calibrate_labels
        >>> predictor = calibrate_labels([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
        >>> print(predictor.predict_labels([[0.8, 0.3]]).region(0.1).guarantee)
        A label is wrong with probability at most 0.1, for exchangeable examples (Lambrou, Papadopoulos 2016, from what
        holds for each label: Papadopoulos, Proedrou, Vovk, Gammerman 2002; Vovk, Gammerman, Shafer 2005).
        """
        if self._guarantee is None:
            return (
                "Nothing is proved about label-conditional or smoothed p-values from folds:"
                " hold out a calibration set instead."
            )
        in_words = {0: "A label is wrong", 1: "More than one label is wrong"}
        what = in_words.get(self.at_most_wrong, f"More than {self.at_most_wrong} labels are wrong")
        expected = self._possible.shape[1] * self._guarantee.error_bound(float(self.level))
        return (
            f"{what} with probability at most {min(expected / (self.at_most_wrong + 1), 1.0):.3g},"
            f" for {self._guarantee.conditions} (Lambrou, Papadopoulos 2016, from what holds for each label:"
            f" {self._guarantee.proved_by})."
        )


def _smallest_members(denominators: IntArray, level: Fraction) -> IntArray:
    """Return the smallest numerator of a p-value above the level, for each denominator."""
    distinct, which = np.unique(denominators, return_inverse=True)
    smallest = [level.numerator * int(one) // level.denominator + 1 for one in distinct]
    return np.array(smallest, dtype=np.int64)[which].reshape(denominators.shape)
