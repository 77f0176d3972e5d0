"""What regions of both kinds say about single labels: what is sure, possible and ruled out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from labelsure._checks import BoolArray
from labelsure.predictions._repeated import repeat_labels


class DecidedLabels:
    """What a region says about single labels: which values each may have, as arrays and by name."""

    possible_values: Any  # bool array of shape (n, q, 2): whether each label may be off, and whether it may be on
    label_names: Any  # one per label

    @property
    def inner(self) -> BoolArray:
        """The labels that can only be on, shape (n, q): those in every labelset of each object's region.

        None where the region is empty. With the probability that the region holds the true
        labelset, all of these labels are true, and all true labels are among :attr:`outer`: one
        guarantee for all labels at once.
        """
        inner: BoolArray = self.possible_values[:, :, 1] & ~self.possible_values[:, :, 0]
        return inner

    @property
    def outer(self) -> BoolArray:
        """The labels that may be on, shape (n, q): those in at least one labelset of each object's region."""
        outer: BoolArray = self.possible_values[:, :, 1]
        return outer

    @property
    def _off(self) -> BoolArray:
        """The labels that can only be off, shape (n, q): :attr:`ruled_out` names them."""
        off: BoolArray = self.possible_values[:, :, 0] & ~self.possible_values[:, :, 1]
        return off

    @property
    def undecided(self) -> BoolArray:
        """The labels that may be both off and on, shape (n, q); :attr:`possible` names them."""
        undecided: BoolArray = self.possible_values.all(axis=2)
        return undecided

    @property
    def sure(self) -> list[list[str]]:
        """The names of the labels that can only be on, by object: those in every labelset of its region.

        An empty region says nothing about labels: there no label is sure, possible or ruled out.
        With the probability that the region holds the true labelset, all that is said here about
        all labels at once is true.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2, 0.4], [0.6, 0.1, 0.3], [0.3, 0.8, 0.4]], [[1, 0, 0], [1, 0, 1], [0, 1, 0]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city", "night"])
        >>> region = predictor.predict_labelsets([[0.9, 0.1, 0.4]]).region(0.4)
        >>> region.sure, region.possible, region.ruled_out
        ([['sea']], [['night']], [['city']])
        """
        return list(map(list, name_labels(self.label_names, self.inner)))

    @property
    def possible(self) -> list[list[str]]:
        """The names of the undecided labels, by object: those in some but not all labelsets of its region.

        Each may be on and may be off, so a label that is sure is not among them; see :attr:`sure`
        for an example.
        """
        return list(map(list, name_labels(self.label_names, self.undecided)))

    @property
    def ruled_out(self) -> list[list[str]]:
        """The names of the labels that can only be off, by object: those in no labelset of its region.

        None where the region is empty; see :attr:`sure` for an example.
        """
        return list(map(list, name_labels(self.label_names, self._off)))


def describe_labels(possible: BoolArray, *, neither: str) -> np.ndarray[Any, Any]:
    """Return what is said about labels that may be off and may be on, (n, q, 2) -> (n, q)."""
    words = np.array([[neither, "sure"], ["ruled out", "possible"]], dtype=object)
    described: np.ndarray[Any, Any] = words[
        possible[:, :, 0].astype(int), possible[:, :, 1].astype(int)
    ]
    return described


def name_labels(label_names: Sequence[str], chosen: BoolArray) -> list[tuple[str, ...]]:
    """Return the names of the labels that are chosen for each object, (n, q) -> n tuples.

    Objects with the same labels share one.

    Examples
    --------
    >>> name_labels(["sea", "city"], np.array([[True, False], [True, True]]))
    [('sea',), ('sea', 'city')]
    """
    return repeat_labels(label_names, chosen).to_list()
