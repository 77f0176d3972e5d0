"""Predictions in words: the labels of each object, what is sure, and how far to trust it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, overload

import numpy as np

from labelsure._checks import check_significance
from labelsure.engine import RegionSize
from labelsure.predictions._frames import RepeatedValues, make_frame, name_labels, repeat_labels
from labelsure.predictions._region import EMPTY_REGION, LabelsetRegion
from labelsure.predictions._show import (
    LOW_CREDIBILITY,
    confidence_level,
    count_objects,
    in_words,
    shorten,
    show_summaries,
)

STRANGE = (
    "Low credibility: no labelset fits this object well. It may be unlike the calibration examples,"
    " so trust what is said about it less."
)
NOT_CERTAIN = (
    "The search was stopped: the prediction is the best labelset found, and another may be more"
    " plausible."
)


@dataclass(frozen=True)
class PlausibleLabelset:
    """One of the most plausible labelsets of an object.

    Attributes
    ----------
    labels : tuple of str
        The labels that are on.
    p_value : float
        How plausible it is.
    in_region : bool
        Whether it is in the region at the level of the summary.

    Examples
    --------
    >>> print(PlausibleLabelset(("sea", "night"), 0.25, True))
    {sea, night} p = 0.25
    """

    labels: tuple[str, ...]
    p_value: float
    in_region: bool

    def __str__(self) -> str:
        labels = f"{{{', '.join(self.labels)}}}" if self.labels else "no label"
        return f"{labels} p = {self.p_value:.3g}"


@dataclass(frozen=True)
class ObjectSummary:
    """What is predicted for one object, and how far to trust it; ``print`` it to read it.

    Made by :meth:`LabelsetPredictions.summary`.

    Attributes
    ----------
    name : object
        What the object is called: its entry in the index, or its position.
    labels : tuple of str
        The labels of the most plausible labelset.
    confidence, credibility : float
        One minus the second highest p-value, and the highest.
    significance : float
        The level that the following is said at.
    sure, possible, ruled_out : tuple of str
        The labels in all labelsets of the region, in some but not all of them, and in none. All
        three are empty where the region is.
    n_labelsets : RegionSize
        How many labelsets are in the region, with an interval where there are too many to count.
    top : tuple of PlausibleLabelset
        The most plausible labelsets, whether or not they are in the region.
    note : str
        What to beware of, or nothing: an empty region, low credibility, a level that cannot be
        reached, a search that was stopped.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs = [[0.9, 0.2, 0.4], [0.6, 0.1, 0.3], [0.3, 0.8, 0.4]]
    >>> Y = [[1, 0, 0], [1, 0, 1], [0, 1, 0]]
    >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city", "night"])
    >>> (summary,) = predictor.predict_labelsets([[0.9, 0.1, 0.4]]).summary(significance=0.4, top=3)
    >>> print(summary)
    Object 0: sea (confidence 0.5, credibility 1).
    At 60 % confidence 2 labelsets are left. Sure: sea. Possible: night. Ruled out: city.
    Most plausible: {sea} p = 1; {sea, night} p = 0.5; no label p = 0.25.
    >>> summary.sure, summary.possible, int(summary.n_labelsets)
    (('sea',), ('night',), 2)
    """

    name: Any
    labels: tuple[str, ...]
    confidence: float
    credibility: float
    significance: float
    sure: tuple[str, ...]
    possible: tuple[str, ...]
    ruled_out: tuple[str, ...]
    n_labelsets: RegionSize
    top: tuple[PlausibleLabelset, ...]
    note: str

    @property
    def confidence_level(self) -> str:
        """The level as a percentage: "95 %" for significance 0.05."""
        return confidence_level(self.significance)

    def __str__(self) -> str:
        predicted = in_words(self.labels)
        lines = [
            f"Object {self.name}: {predicted} (confidence {self.confidence:.3g}, credibility"
            f" {self.credibility:.3g}).",
            f"At {self.confidence_level} confidence {self._left()}",
        ]
        if self.top:
            lines.append(f"Most plausible: {'; '.join(map(str, self.top))}.")
        return "\n".join([*lines, self.note] if self.note else lines)

    def _left(self) -> str:
        """Say how many labelsets are left, and what that means for labels."""
        if self.n_labelsets.at_most == 0:
            return "no labelset is left."
        one = self.n_labelsets.at_most == 1
        left = "1 labelset is" if one else f"{self.n_labelsets} labelsets are"
        decided = {"Sure": self.sure, "Possible": self.possible, "Ruled out": self.ruled_out}
        parts = [f"{word}: {shorten(names)}." for word, names in decided.items() if names]
        return " ".join([f"{left} left.", *parts])


@dataclass(eq=False, repr=False)
class Summaries(Sequence[ObjectSummary]):
    """One :class:`ObjectSummary` per object, computed on access; ``print`` it to read them.

    Made by :meth:`LabelsetPredictions.summary`. It is indexed and sliced like a list.

    Attributes
    ----------
    region : LabelsetRegion
        At the requested level.
    n_top : int
        How many of the most plausible labelsets each summary lists.
    names : sequence
        What the objects are called: their index, or 0, 1, ...

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.1, 0.9]])
    >>> summaries = predictions.summary(significance=0.5, top=1)
    >>> print(summaries)
    Object 0: sea (confidence 0.667, credibility 0.667).
    At 50 % confidence 1 labelset is left. Sure: sea. Ruled out: city.
    Most plausible: {sea} p = 0.667.
    <BLANKLINE>
    Object 1: city (confidence 0.667, credibility 1).
    At 50 % confidence 1 labelset is left. Sure: city. Ruled out: sea.
    Most plausible: {city} p = 1.
    >>> len(summaries), summaries[1].labels
    (2, ('city',))
    """

    region: LabelsetRegion
    n_top: int
    names: Sequence[Any]

    @property
    def _predictions(self) -> Any:
        return self.region._predictions

    def __len__(self) -> int:
        return len(self.region)

    @overload
    def __getitem__(self, objects: int) -> ObjectSummary: ...
    @overload
    def __getitem__(self, objects: slice) -> "Summaries": ...
    def __getitem__(self, objects: Any) -> Any:
        if np.ndim(objects) or isinstance(objects, slice):
            names = [self.names[i] for i in np.arange(len(self))[objects].tolist()]
            return Summaries(self.region[objects], self.n_top, names)
        i = index(objects)
        if not -len(self) <= i < len(self):
            raise IndexError(f"There are {len(self)} objects, got index {i}.")
        # this object alone, unless all are there: with very many labels the others may take hours
        if "_records" in vars(self):
            return self._records[i]
        return self[i % len(self) : i % len(self) + 1]._records[0]

    def __iter__(self) -> Iterator[ObjectSummary]:
        return iter(self._records)

    def __repr__(self) -> str:
        significance = self.region.significance
        return f"Summaries({count_objects(len(self))}, significance={significance})"

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self), *filter(None, [self._predictions.answers])])

    def _repr_html_(self) -> str:
        return show_summaries(self)

    def to_frame(self, *, library: str | None = None) -> Any:
        """Return a DataFrame with one row per object and labels as texts, for spreadsheets.

        Parameters
        ----------
        library : {"pandas", "polars"} or None, default=None
            Which DataFrame to make; None: of the library that the objects came in, else of pandas.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
        >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.1, 0.9]])
        >>> frame = predictions.summary(significance=0.5).to_frame()
        >>> print(frame[["prediction", "sure", "possible", "ruled_out", "size"]])
          prediction  sure possible ruled_out  size
        0        sea   sea               city     1
        1       city  city                sea     1
        """
        columns: dict[str, Any] = {"prediction": [", ".join(one.labels) for one in self]}
        for name in ("confidence", "credibility"):
            columns[name] = np.array([getattr(one, name) for one in self], dtype=np.float64)
        for name in ("sure", "possible", "ruled_out"):
            columns[name] = [", ".join(getattr(one, name)) for one in self]
        columns |= {"size": self.region.sizes, "note": [one.note for one in self]}
        return make_frame(columns, index=self._predictions.index, library=library)

    def columns(self) -> dict[str, Any]:
        """Return all that the summaries say as columns, for tables of very many objects.

        Returns
        -------
        dict
            ``labels``, ``sure``, ``possible``, ``ruled_out`` and ``note`` as ``RepeatedValues``, of
            tuples of names and of texts; ``confidence`` and ``credibility`` as arrays;
            ``n_labelsets`` as :attr:`LabelsetRegion.sizes`; and for each of the most plausible
            labelsets ``top1`` and ``top1_p``, ``top2`` and ``top2_p``, ...: -1 and NaN where an
            object has fewer candidates. A note that says nothing is -1 too.

        Examples
        --------
        >>> from labelsure import calibrate_outputs
        >>> outputs, Y = [[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]
        >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
        >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.1, 0.9]])
        >>> columns = predictions.summary(significance=0.5, top=1).columns()
        >>> columns["sure"].to_list(), columns["n_labelsets"].tolist()
        ([('sea',), ('city',)], [1, 1])
        >>> columns["top1_p"].round(3).tolist()
        [0.667, 1.0]
        """
        pred, said = self._predictions, self._said()
        note = said.pop("note")
        columns: dict[str, Any] = {
            **said,
            "confidence": pred.confidence,
            "credibility": pred.credibility,
            "n_labelsets": self.region.sizes,
        }
        if self.n_top:
            ranked = pred.top(self.n_top)
            n, k, q = ranked.labelsets.shape
            named = repeat_labels(pred.label_names, ranked.labelsets.reshape(n * k, q).astype(bool))
            there = ranked.p_values > 0
            places = np.where(there, named.places.reshape(n, k), -1)
            p_values = np.where(there, ranked.p_values, np.nan)
            for j in range(k):
                columns[f"top{j + 1}"] = RepeatedValues(named.values, places[:, j])
                columns[f"top{j + 1}_p"] = p_values[:, j]
        silent = np.array([text == "" for text in note.values], dtype=bool)
        return columns | {
            "note": RepeatedValues(note.values, np.where(silent[note.places], -1, note.places))
        }

    @cached_property
    def _records(self) -> list[ObjectSummary]:
        pred, region = self._predictions, self.region
        columns: dict[str, Iterable[Any]] = {
            **{name: column.to_list() for name, column in self._said().items()},
            "name": self.names,
            "confidence": pred.confidence.tolist(),
            "credibility": pred.credibility.tolist(),
            "significance": [region.significance] * len(self),
            "n_labelsets": region.size_estimates,
            "top": self._most_plausible(),
        }
        rows = zip(*columns.values(), strict=True)
        return [ObjectSummary(**dict(zip(columns, row, strict=True))) for row in rows]

    def _said(self) -> dict[str, RepeatedValues]:
        """Return what is said in words."""
        pred, region = self._predictions, self.region
        chosen = {
            "labels": pred.labelsets.astype(bool),
            "sure": region.inner,
            "possible": region.undecided,
            "ruled_out": region._off,
        }
        said = {name: repeat_labels(pred.label_names, labels) for name, labels in chosen.items()}
        return said | {"note": self._notes()}

    def _most_plausible(self) -> list[tuple[PlausibleLabelset, ...]]:
        """Return the most plausible labelsets of each object, or all where there are fewer."""
        if self.n_top == 0:
            return [()] * len(self)
        ranked = self._predictions.top(self.n_top)
        n, k, q = ranked.labelsets.shape
        labelsets = ranked.labelsets.reshape(n * k, q)
        members = self.region.hold(labelsets, np.arange(n).repeat(k)).tolist()
        names = name_labels(self._predictions.label_names, labelsets.astype(bool))
        rows = list(map(PlausibleLabelset, names, ranked.p_values.ravel().tolist(), members))
        blocks = [rows[i * k : (i + 1) * k] for i in range(n)]
        return [tuple(row for row in block if row.p_value > 0) for block in blocks]

    def _notes(self) -> RepeatedValues:
        """Return what to beware of for each object."""
        pred, region = self._predictions, self.region
        least, level = pred.guarantee.vacuous_below, check_significance(region.significance)
        limit = pred.guarantee.limit if least is not None and level < least else ""
        empty = ~region.possible_values.any(axis=(1, 2))
        strange = ~empty & (pred.credibility <= LOW_CREDIBILITY)
        words = (EMPTY_REGION, STRANGE, NOT_CERTAIN)
        codes = empty + 2 * strange + 4 * ~pred.certain
        chosen = [[limit, *(words[j] for j in range(3) if code >> j & 1)] for code in range(8)]
        said = [" ".join(filter(None, sentences)) for sentences in chosen]
        return RepeatedValues(said, codes)
