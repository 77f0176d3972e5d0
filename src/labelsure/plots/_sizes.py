"""How informative is it? How many labelsets are left."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from labelsure._checks import FloatArray
from labelsure.plots._base import (
    BLUE,
    LINE_STYLES,
    ORANGE,
    VERMILLION,
    Display,
    check_levels,
    check_predictions,
    percent,
)
from labelsure.predictions import LabelsetPredictions

COLOURS = (BLUE, VERMILLION, ORANGE, "#009E73", "#CC79A7", "#56B4E9")


@dataclass(eq=False, repr=False)
class RegionSizeDisplay(Display):
    """The share of objects whose region has at most so many labelsets, one line per level.

    The further up and to the left, the more informative. Empty regions are where the axis says
    "empty".

    Attributes
    ----------
    log2_sizes : list of arrays of shape (n,)
        The logarithms of the sizes to base 2, ascending, one array per level; -inf for empty
        regions.
    significance : tuple of float
        The levels.
    n_labels : int
        The number of labels: there are at most 2^q labelsets.
    ax_, figure_
        Where it was drawn.
    lines_ : list
        What was drawn, one line per level.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.plots import RegionSizeDisplay
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.2, 0.9], [0.5, 0.5]])
    >>> display = RegionSizeDisplay.from_predictions(predictions, significance=(0.3, 0.6))
    >>> [sizes.tolist() for sizes in display.log2_sizes]
    [[-inf, 0.0, 0.0], [-inf, 0.0, 0.0]]
    """

    log2_sizes: Sequence[FloatArray]
    significance: tuple[float, ...]
    n_labels: int

    @classmethod
    def from_predictions(
        cls,
        predictions: LabelsetPredictions,
        significance: float | Iterable[float] = (0.05, 0.1, 0.2),
        *,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the sizes of the regions of predictions.

        Parameters
        ----------
        predictions : LabelsetPredictions
            Of n objects.
        significance : float or iterable of float, default=(0.05, 0.1, 0.2)
            The levels.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: in a new figure.
        **kwargs
            For all lines, as in ``Axes.step``.
        """
        levels = check_levels(significance)
        check_predictions(predictions, LabelsetPredictions)
        sizes = [np.sort(predictions.region(level).log2_sizes) for level in levels]
        return cls(sizes, levels, len(predictions.label_names)).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw it, on the axes given or in a new figure; further arguments are for all lines."""
        ax = self._open(ax)
        largest = max([1.0, *(float(sizes[-1]) for sizes in self.log2_sizes)])
        empty = -max(1.0, largest / 12)  # a place left of one labelset
        self.lines_ = []
        for k, (level, sizes) in enumerate(zip(self.significance, self.log2_sizes, strict=True)):
            x, shares = np.maximum(sizes, empty), np.arange(1, len(sizes) + 1) / len(sizes)
            style = {
                "color": COLOURS[k % len(COLOURS)],
                "linestyle": LINE_STYLES[k % len(LINE_STYLES)],
                **kwargs,
            }
            steps = [x[0], *x, largest], [0.0, *shares, 1.0]
            (line,) = ax.step(*steps, where="post", label=f"{percent(level)} confidence", **style)
            self.lines_.append(line)
        powers = np.unique(np.linspace(0, np.ceil(largest), 7).round().astype(int)).tolist()
        words = [f"{2**power}" if power <= 10 else f"$2^{{{power}}}$" for power in powers]
        if any(np.isneginf(sizes[0]) for sizes in self.log2_sizes):
            powers, words = [empty, *powers], ["empty", *words]
        ax.set_xticks(powers, words)
        of_all = f"labelsets left, of {2**self.n_labels if self.n_labels <= 20 else f'2^{self.n_labels}'}"
        ax.set(ylim=(0, 1.02), xlabel=of_all, ylabel="share of objects with at most as many")
        self._put_legend_above(ax)
        return self
