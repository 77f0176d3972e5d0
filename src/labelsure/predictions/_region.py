"""Regions: the labelsets that cannot be ruled out at a chosen significance."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import inf, log2
from operator import index
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from labelsure._checks import BoolArray, FloatArray, IntArray, LabelMatrix, check_count
from labelsure.engine import RegionSize
from labelsure.engine._engine import LabelsetEngine
from labelsure.engine._results import NotAllListedError
from labelsure.engine._rules import Inequality
from labelsure.predictions._batch import RankedLabelsets
from labelsure.predictions._frames import describe_labels, frame_of_labels, name_labels
from labelsure.predictions._questions import (
    MOST_LISTED,
    MOST_PLAUSIBLE,
    SETTLED_STATEMENT,
    Members,
    Questions,
    check_labelset_cost,
)
from labelsure.predictions._show import count_objects, show_region

if TYPE_CHECKING:
    from labelsure.predictions._labelset_predictions import LabelsetPredictions

EMPTY_REGION = (
    "No labelset is left at this level: either the object is unlike the calibration examples, or so"
    " little confidence is asked for that the truth of some objects is ruled out with all else. Ask"
    " for more confidence, or have somebody look at it; force_nonempty=True keeps the most"
    " plausible labelset."
)


class Region:
    """Base of regions: which values each label may have, and how many labelsets there are."""

    possible_values: Any  # (n, q, 2): whether each label may be off, and whether it may be on
    label_names: Any
    size_estimates: Any  # one RegionSize per object

    @property
    def inner(self) -> BoolArray:
        """The labels that can only be on, (n, q): those in every labelset of each object's region.

        None where the region is empty. With the probability that the region holds the true
        labelset, all of these labels are true, and all true labels are among :attr:`outer`: one
        guarantee for all labels at once.
        """
        inner: BoolArray = self.possible_values[:, :, 1] & ~self.possible_values[:, :, 0]
        return inner

    @property
    def outer(self) -> BoolArray:
        """The labels that may be on, (n, q): those in some labelset of each object's region."""
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
        """The names of the labels that can only be on, by object: those in every labelset.

        An empty region says nothing about labels: there no label is sure, possible or ruled out.
        With the probability that the region holds the true labelset, all that is said here about
        all labels at once is true.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs = [[0.9, 0.2, 0.4], [0.6, 0.1, 0.3], [0.3, 0.8, 0.4]]
        >>> Y = [[1, 0, 0], [1, 0, 1], [0, 1, 0]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city", "night"])
        >>> region = predictor.predict_labelsets([[0.9, 0.1, 0.4]]).region(0.4)
        >>> region.sure, region.possible, region.ruled_out
        ([['sea']], [['night']], [['city']])
        """
        return list(map(list, name_labels(self.label_names, self.inner)))

    @property
    def possible(self) -> list[list[str]]:
        """The names of the undecided labels, by object: those in some but not all labelsets.

        Each may be on and may be off, so a label that is sure is not among them; see :attr:`sure`
        for an example.
        """
        return list(map(list, name_labels(self.label_names, self.undecided)))

    @property
    def ruled_out(self) -> list[list[str]]:
        """The names of the labels that can only be off, by object: those in no labelset.

        None where the region is empty; see :attr:`sure` for an example.
        """
        return list(map(list, name_labels(self.label_names, self._off)))

    @property
    def sizes(self) -> IntArray | FloatArray:
        """The number of labelsets in each object's region, shape (n,).

        Whole numbers of 64 bits where all sizes fit, else floats, infinite beyond 2^1023; see
        :attr:`log2_sizes`. Regions too large to be counted are estimated; :attr:`size_estimates`
        says which, and how well.
        """
        values = [size.value for size in self.size_estimates]
        if all(value < 2**63 for value in values):
            return np.array(values, dtype=np.int64)
        return np.array([float(value) if value <= 2**1023 else inf for value in values])

    @property
    def log2_sizes(self) -> FloatArray:
        """The logarithm of the sizes to base 2, (n,), for any number of labels; -inf if empty."""
        return np.array(
            [log2(size.value) if size.value else -inf for size in self.size_estimates],
            dtype=np.float64,
        )


@dataclass(eq=False, repr=False)
class LabelsetRegion(Region):
    """The prediction regions of several objects: the labelsets that cannot be ruled out.

    Made by :meth:`LabelsetPredictions.region`; nothing is computed before it is needed. A region
    is ``{labelsets: p-value > significance}``, but for ``guarantee="exact"``, which merges the
    folds anew for each level: there the rule at that level decides who is a member, and the
    p-values shown beside members are the plain cross-conformal ones, some of which may lie on the
    other side of the significance.

    An empty region says that no labelset fits the object at this level: it is unlike what was
    calibrated with, or the level is high for an accurate learner. ``force_nonempty=True`` keeps the
    most plausible labelset.

    ``region[i]`` is the region of one object, ``region[:3]`` or any other choice of objects is
    again a LabelsetRegion.

    Attributes
    ----------
    significance : float
        The requested level.
    force_nonempty : bool
        Whether the most plausible labelset is a member even where it can be ruled out.
    size_precision : float
        How precise the sizes are that are too large to be counted.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, empty_labelset="exclude")
    >>> region = predictor.predict_labelsets([[0.8, 0.3], [0.5, 0.5]]).region(significance=0.3)
    >>> region.sizes.tolist()
    [1, 0]
    >>> region[0].members().labelsets.tolist()
    [[1, 0]]
    >>> region.contains([[1, 0], [0, 1]]).tolist()
    [True, False]
    """

    significance: float
    force_nonempty: bool
    size_precision: float
    _predictions: "LabelsetPredictions"
    _engine: LabelsetEngine
    _smallest: IntArray

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels."""
        return self._predictions.label_names

    @property
    def index(self) -> Any:
        """What the objects are called, where they came in a DataFrame."""
        return self._predictions.index

    def __len__(self) -> int:
        return self._engine.n_objects

    @overload
    def __getitem__(self, objects: int | np.integer[Any]) -> "ObjectRegion": ...
    @overload
    def __getitem__(
        self, objects: slice | Sequence[int] | IntArray | BoolArray
    ) -> "LabelsetRegion": ...
    def __getitem__(self, objects: Any) -> Any:
        """Return the region of one object, or those of a slice, indices or a boolean mask."""
        if np.ndim(objects) == 0 and not isinstance(objects, slice):
            if not -len(self) <= index(objects) < len(self):
                raise IndexError(f"There are {len(self)} objects, got index {objects}.")
            return ObjectRegion(self, index(objects) % len(self))
        return self._predictions[objects]._region(
            self.significance, self.force_nonempty, self.size_precision
        )

    def __iter__(self) -> Iterator["ObjectRegion"]:
        return (ObjectRegion(self, i) for i in range(len(self)))

    def __repr__(self) -> str:
        forced = ", force_nonempty=True" if self.force_nonempty else ""
        precision = "" if self.size_precision == 1 else f", size_precision={self.size_precision:g}"
        options = f"significance={self.significance}{forced}{precision}"
        return f"LabelsetRegion({options}, {count_objects(len(self))})"

    def _repr_html_(self) -> str:
        return show_region(self, EMPTY_REGION)

    @property
    def statement(self) -> str:
        """What is guaranteed about these regions, under which conditions, and who proved it."""
        return self._predictions.guarantee.sentence(self.significance)

    @cached_property
    def size_estimates(self) -> tuple[RegionSize, ...]:
        """The sizes with what is known about them: an interval, and bounds that are certain.

        Where a size was counted all of them are that number. Others are as precise as the
        ``size_precision`` of :meth:`LabelsetPredictions.region`, or as far as a limited number of
        draws gets; printing tells.
        """
        sizes = self._engine.region_sizes(self._smallest, bits=self.size_precision)
        return tuple(size.raised(1) if self.force_nonempty else size for size in sizes)

    def contains(self, Y: Any) -> BoolArray:
        """Tell whether one labelset per object, or one labelset for all, is in the regions.

        Parameters
        ----------
        Y : label matrix of shape (n, q), labelset of shape (q,), or set or list of label names
            As in :meth:`LabelsetPredictions.p_value`; with the true labelsets, the share of False
            is the error rate.
        """
        return self.hold(self._predictions._check(Y), np.arange(len(self)))

    @cached_property
    def expected_answers(self) -> FloatArray:
        """About how many yes/no answers settle each object, shape (n,).

        To rank objects by what they cost; infinite where the region is empty.
        """
        return np.array([one.questions().expected_answers for one in self])

    def to_frame(
        self, *, layout: str = "wide", prefix: str = "", library: str | None = None
    ) -> Any:
        """Return a DataFrame of which labels of each object are sure, and its region's size.

        Each label is "sure" (in every labelset of the region), "possible" (in some of them) or
        "ruled out" (in none). Where the region is empty each is "empty": no labelset fits the
        object, so nothing is said about its labels. With ``layout="long"`` there is one row per
        object and label, with :attr:`LabelsetPredictions.label_p_values`.

        Parameters
        ----------
        layout : {"wide", "long"}, default="wide"
            "wide": one row per object. "long": one row per object and label.
        prefix : str, default=""
            Put before the names of the labels, for labels called "size".
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the objects came in, else of pandas.
            The index of a pandas table is kept; in polars, which has none, it becomes a column.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
        >>> print(predictor.predict_labelsets([[0.8, 0.3], [0.9, 0.1]]).region(0.5).to_frame())
            sea       city  size
        0  sure  ruled out     1
        1  sure  ruled out     1
        """
        said = describe_labels(self.possible_values, neither="empty")
        table = partial(frame_of_labels, self, said, "decision", layout, prefix, library)
        predictions = self._predictions
        return table(
            p_values=lambda: predictions.label_p_values, figures=lambda: {"size": self.sizes}
        )

    @cached_property
    def possible_values(self) -> BoolArray:
        """Whether some member has each label off, and whether some has it on, (n, q, 2)."""
        if not self.force_nonempty:
            return self._unforced_values
        best = self._predictions._best.labelsets[:, 0].astype(bool)
        empty = ~self._unforced_values.any(axis=(1, 2), keepdims=True)
        return np.where(empty, np.stack([~best, best], axis=2), self._unforced_values)

    @cached_property
    def _unforced_values(self) -> BoolArray:
        """The same without labelsets that ``force_nonempty`` adds."""
        numerators = self._predictions._label_numerators
        if self._engine is not self._predictions._engine:
            numerators = self._engine.label_numerators()
        possible: BoolArray = numerators >= self._smallest[:, None, None]
        return possible

    def hold(self, Y: LabelMatrix, objects: IntArray) -> BoolArray:
        """Tell whether ``Y[r]`` is in the region of object ``objects[r]``, without checks."""
        members: BoolArray = self._engine.numerators_of(Y, objects) >= self._smallest[objects]
        if self.force_nonempty:
            empty = ~self._unforced_values[objects].any(axis=(1, 2))
            members |= empty & (self._predictions._best.labelsets[objects, 0] == Y).all(axis=1)
        return members


@dataclass(eq=False, repr=False)
class ObjectRegion:
    """The region of one object, made by indexing a :class:`LabelsetRegion`.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, empty_labelset="exclude")
    >>> region = predictor.predict_labelsets([[0.8, 0.3]]).region(significance=0.2)
    >>> region[0].size, [1, 0] in region[0], [0, 0] in region[0]
    (3, True, False)
    >>> region[0].sure, region[0].possible, region[0].ruled_out
    ([], ['label_0', 'label_1'], [])
    >>> members = region[0].members(limit=2)
    >>> members.labelsets.tolist(), members.p_values.tolist()
    ([[1, 0], [1, 1]], [0.75, 0.25])
    """

    _region: LabelsetRegion
    _i: int

    def __contains__(self, labelset: object) -> bool:
        """Tell whether a labelset, as zeros and ones or as a set of label names, is a member."""
        region = self._region
        return bool(
            region.hold(region._predictions._check(labelset, "labelset", 1), np.array([self._i]))[0]
        )

    def __iter__(self) -> Iterator[LabelMatrix]:
        """Yield the members one by one in the order of the search, in bounded memory.

        Raises ValueError where a search goes on for seconds without finding any: there may be more
        members than those yielded by then. :meth:`members` returns them with the most plausible
        first.
        """
        region = self._region
        chunks = region._engine.iterate_members(self._i, int(region._smallest[self._i]))
        n_members = 0
        for labelsets, _ in chunks:
            n_members += len(labelsets)
            yield from labelsets
        if n_members == 0 and region.force_nonempty:
            yield region._predictions._best.labelsets[self._i, 0]

    def __repr__(self) -> str:
        return f"ObjectRegion(object {self._i}, significance={self._region.significance})"

    @property
    def sure(self) -> list[str]:
        """The labels in every labelset of the region, by name; none where it is empty."""
        return self._alone.sure[0]

    @property
    def possible(self) -> list[str]:
        """The undecided labels, in some but not all labelsets of the region, by name."""
        return self._alone.possible[0]

    @property
    def ruled_out(self) -> list[str]:
        """The labels in no labelset of the region, by name; none where it is empty."""
        return self._alone.ruled_out[0]

    @cached_property
    def size(self) -> int:
        """The number of members; estimated where there are too many to count."""
        region = self._region
        if "size_estimates" in vars(region):
            return region.size_estimates[self._i].value
        return self._alone.size_estimates[0].value

    @cached_property
    def _alone(self) -> LabelsetRegion:
        """The region of this object alone: with very many labels the others may take hours."""
        return self._region[[self._i]]

    def members(self, *, limit: int | None = None) -> RankedLabelsets:
        """Return the members with their p-values, by p-value, then by lowest total score.

        Where a rule decides anew at each level, as with ``guarantee="exact"``, the first are those
        that it is farthest from ruling out at this one; the p-values beside them need not fall.

        Parameters
        ----------
        limit : int or None
            At most this many; needed for regions too large to be listed.

        Returns
        -------
        RankedLabelsets
            ``labelsets`` of shape (m, q) and ``p_values`` of shape (m,); ``to_frame()`` makes a
            table.

        Raises
        ------
        ValueError
            Without a limit, where a list would take more than a gigabyte, or where the members are
            so far apart that a search for them goes on for seconds without finding any.
        """
        region, predictions = self._region, self._region._predictions
        limit = None if limit is None else check_count(limit, name="limit", at_least=0)
        labelsets, numerators = region._engine.region_members(
            self._i, int(region._smallest[self._i]), limit
        )
        forced = region.force_nonempty and not len(labelsets) and limit != 0
        if forced:
            labelsets = predictions._best.labelsets[[self._i], 0]
        objects = np.full(len(labelsets), self._i)
        if forced or region._engine is not predictions._engine:
            numerators = predictions._engine.numerators_of(labelsets, objects)
        p_values = predictions._engine.to_p_values(numerators, objects)
        names = [self._i] if region.index is None else region.index[[self._i]]
        return RankedLabelsets(labelsets, p_values, predictions.label_names, objects=names)

    def questions(self, *, labelset_cost: float = 1.0) -> Questions:
        """Return the questions whose answers settle the object, or make its labels certain.

        Parameters
        ----------
        labelset_cost : float, default=1.0
            What it costs to judge whether a labelset is exactly the object's, judging a label being
            1. Infinite: only labels are asked about.

        Returns
        -------
        Questions
            Ask ``question`` and pass what was said to ``answer``: to settle the object while it is
            ``undecided``, to make its labels certain until it is ``certain``.
        """
        cost, names = check_labelset_cost(labelset_cost), self._region.label_names
        statement = f"{self._region.statement} {SETTLED_STATEMENT}"
        return Questions(self._find_members, names, labelset_cost=cost, statement=statement)

    def _find_members(self, inequalities: Sequence[Inequality]) -> Members:
        """Return the members that obey inequalities: all, or the most plausible of very many."""
        alone = self._alone
        smallest = int(alone._smallest[0])
        engine = alone._engine.under(inequalities) if inequalities else alone._engine
        try:
            listed = engine.list_members(0, smallest, MOST_LISTED)
        except NotAllListedError:
            listed = None
        labelsets, _ = listed or engine.region_members(0, smallest, MOST_PLAUSIBLE)
        count = None
        if listed is None:
            count = partial(_estimate_size, engine, alone._smallest)
        if not len(labelsets) and not inequalities and alone.force_nonempty:
            labelsets = alone._predictions._best.labelsets[:, 0]
        return Members.of(labelsets, self._log_weights(labelsets), count)

    def _log_weights(self, labelsets: LabelMatrix) -> FloatArray:
        """Return the log weights of labelsets, posterior probabilities or p-values, by blocks."""
        predictions, n_block = self._alone._predictions, 2**14
        logs = [np.empty(0)]
        for start in range(0, len(labelsets), n_block):
            block = labelsets[start : start + n_block]
            if predictions._posterior is not None:
                logs.append(predictions._posterior.log_probabilities(block, 0))
            else:
                engine, objects = predictions._engine, np.zeros(len(block), dtype=np.int64)
                p_values = engine.to_p_values(engine.numerators_of(block, objects), objects)
                logs.append(np.log(np.maximum(p_values, np.finfo(np.float64).tiny)))
        return np.concatenate(logs)


def _estimate_size(engine: LabelsetEngine, smallest: IntArray) -> int:
    """Return about how many labelsets the region of a single object has."""
    return engine.region_sizes(smallest, bits=4.0)[0].value
