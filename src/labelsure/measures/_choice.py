"""What a choice between measures was, and why: tables to read, print and keep."""

from collections import Counter, UserList
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from labelsure._checks import FloatArray
from labelsure._errors import import_optional
from labelsure.measures._base import Measure

CLOSE_BITS = 0.05
"""Losses that differ by less, 3.5 % in size, count as equal. A hundred examples cannot tell them
apart, and folds that choose at random between close candidates make larger regions together than
with any one of them."""


@dataclass(frozen=True, eq=False)
class MeasureChoice:
    """What :class:`AutoMeasure` chose from a training part, and the figures that it chose by.

    Attributes
    ----------
    candidates : sequence of Measure
        The measures that were compared, unfitted, in the order given.
    sizes : array of shape (n_candidates, n_levels)
        For each candidate and level the mean size of the regions, or, where ``logarithmic``, the
        mean of log2 of it; NaN for candidates that could not be used.
    significance : tuple of float
        The levels of the regions.
    n_objects, n_examples : int
        The number of objects whose regions were measured, and of examples in the training part.
    logarithmic : bool
        Whether sizes are compared by their logarithms, which is done for more than 20 labels.
    skipped : dict of int to str
        Why a candidate could not be used.

    Examples
    --------
    >>> import numpy as np
    >>> from labelsure.measures import LogLossMeasure, PowerMeasure
    >>> sizes = np.array([[4.3, 2.6], [5.1, 3.0], [4.2, 2.6]])
    >>> candidates = (LogLossMeasure(floor=0.01), PowerMeasure(), LogLossMeasure())
    >>> choice = MeasureChoice(
    ...     candidates, sizes, significance=(0.05, 0.1), n_objects=50, n_examples=200
    ... )
    >>> print(choice)
    LogLossMeasure(floor=0.01) chosen from 3 candidates: the earliest within 0.05 bits of the
    smallest regions.
    Mean sizes of the regions of 50 of 200 training examples, by significance:
    rank 0.05  0.1 bits
       1 4.20 2.60 1.72   LogLossMeasure()
       2 4.30 2.60 1.74 * LogLossMeasure(floor=0.01)
       3 5.10 3.00 1.97   PowerMeasure()
    """

    candidates: Sequence[Measure]
    sizes: FloatArray
    _: KW_ONLY
    significance: tuple[float, ...]
    n_objects: int
    n_examples: int
    logarithmic: bool = False
    skipped: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.skipped) == len(self.candidates):
            reasons = " ".join(f"{self.candidates[c]!r}: {why}" for c, why in self.skipped.items())
            raise ValueError(f"None of the candidates can be used. {reasons}")

    @cached_property
    def losses(self) -> FloatArray:
        """In bits: the mean over the levels of log2 of the mean size, or of the mean log2 size."""
        losses: FloatArray = (self.sizes if self.logarithmic else np.log2(self.sizes)).mean(axis=1)
        return losses

    @cached_property
    def chosen(self) -> int:
        """Which candidate was chosen: the earliest whose loss is within 0.05 of the smallest."""
        return int(np.flatnonzero(self.losses <= np.nanmin(self.losses) + CLOSE_BITS)[0])

    @property
    def measure(self) -> Measure:
        """The measure that was chosen, unfitted."""
        return self.candidates[self.chosen]

    @property
    def ranking(self) -> list[int]:
        """The candidates that could be used, the one with the smallest regions first."""
        usable = [c for c in range(len(self.candidates)) if c not in self.skipped]
        return sorted(usable, key=lambda c: float(self.losses[c]))

    def __str__(self) -> str:
        what = "Mean log2 sizes" if self.logarithmic else "Mean sizes"
        head = [
            f"{self.measure!r} chosen from {len(self.candidates)} candidates: the earliest within"
            f" {CLOSE_BITS:g} bits of the smallest regions.",
            f"{what} of the regions of {self.n_objects} of {self.n_examples} training examples,"
            f" by significance:",
        ]
        return "\n".join([*head, *self._table()])

    def _table(self) -> list[str]:
        """Return the lines of the table: ranks, sizes, losses, candidates, failed candidates."""
        ranking = self.ranking
        cells = [["rank", *(f"{level:g}" for level in self.significance), "bits"]]
        cells += [
            [str(r + 1), *map(_readable, [*self.sizes[c], self.losses[c]])]
            for r, c in enumerate(ranking)
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        names = [
            "",
            *(f"{'*' if c == self.chosen else ' '} {self.candidates[c]!r}" for c in ranking),
        ]
        lines = [
            " ".join(
                [*(cell.rjust(width) for cell, width in zip(row, widths, strict=True)), name]
            ).rstrip()
            for row, name in zip(cells, names, strict=True)
        ]
        return lines + [
            f"not used: {self.candidates[c]!r}: {why}" for c, why in self.skipped.items()
        ]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: one row per candidate, best first, the chosen one marked."""
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        order = [*self.ranking, *self.skipped]
        what = "log2_size" if self.logarithmic else "size"
        columns: dict[str, Any] = {"candidate": [repr(self.candidates[c]) for c in order]}
        columns |= {
            f"{what}_{level:g}": self.sizes[order, j] for j, level in enumerate(self.significance)
        }
        columns |= {
            "loss": self.losses[order],
            "chosen": [c == self.chosen for c in order],
            "reason": [self.skipped.get(c, "") for c in order],
        }
        return pandas.DataFrame(columns)


class MeasureChoices(UserList[MeasureChoice]):
    """The choices of all folds of a predictor, a list of :class:`MeasureChoice`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import CrossConformalClassifier, MLkNNClassifier
    >>> X, Y = make_multilabel_classification(n_samples=90, n_classes=3, random_state=0)
    >>> model = CrossConformalClassifier(MLkNNClassifier(), measure="auto", cv=3, random_state=0)
    >>> model = model.fit(X, Y)
    >>> len(model.measure_choices_), model.measure_choices_.counts.total()
    (3, 3)
    >>> list(model.measure_choices_.to_frame().columns)
    ['fold', 'candidate', 'size_0.05', 'size_0.1', 'size_0.2', 'loss', 'chosen', 'reason']
    """

    def __repr__(self) -> str:
        return (
            f"MeasureChoices({', '.join(f'{n} x {name}' for name, n in self.counts.most_common())})"
        )

    @property
    def counts(self) -> Counter[str]:
        """How many folds chose each measure."""
        return Counter(repr(choice.measure) for choice in self)

    def __str__(self) -> str:
        chosen = [f"{n} of {len(self)} folds chose {name}" for name, n in self.counts.most_common()]
        return "\n\n".join(
            ["\n".join(chosen), *(f"fold {k}: {choice}" for k, choice in enumerate(self))]
        )

    def to_frame(self) -> Any:
        """Return one pandas DataFrame of the tables of all folds, with the column ``fold``."""
        pandas = import_optional("pandas", extra="pandas", purpose="to_frame")
        tables = pandas.concat(
            {k: choice.to_frame() for k, choice in enumerate(self)}, names=["fold", "row"]
        )
        return tables.reset_index(level="fold").reset_index(drop=True)


def _readable(size: float) -> str:
    return f"{size:.0f}" if size >= 1000 else f"{size:.2f}"
