"""What is said about single labels: how often each is sure, possible or ruled out; or one object's p-values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from labelsure._checks import FloatArray
from labelsure.plots._base import (
    BLUE,
    GREY,
    ORANGE,
    VERMILLION,
    Display,
    check_object,
    check_predictions,
    percent,
    write_name,
)
from labelsure.predictions import LabelsetPredictions, LabelWisePredictions

STYLES = {
    "sure": {"color": BLUE},
    "possible": {"color": ORANGE, "hatch": "///"},
    "ruled out": {"color": GREY},
    "neither": {"color": "white", "hatch": "xxx", "edgecolor": GREY},
}


@dataclass(eq=False, repr=False)
class LabelDisplay(Display):
    """How often each label is sure, possible and ruled out; or the p-values of one object's labels being off and on.

    Attributes
    ----------
    label_names : tuple of str
        The labels.
    significance : float
        The level.
    shares : dict of str to arrays of shape (q,), or None
        The share of objects for which each label is "sure", "possible", "ruled out" and "neither"
        (the region is empty, or both values of the label are ruled out).
    p_values : array of shape (q, 2) or None
        Of one object's labels being off and on.
    name : object
        What that object is called.
    ax_, figure_
        Where it was drawn.
    bars_ : dict of str to bars
        What was drawn of all objects.
    off_, on_, level_line_
        What was drawn of one object.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.plots import LabelDisplay
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.2, 0.9]])
    >>> LabelDisplay.from_predictions(predictions, significance=0.3).shares["sure"].tolist()
    [0.5, 0.5]
    >>> LabelDisplay.from_predictions(predictions, 0, significance=0.3).p_values.tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """

    label_names: tuple[str, ...]
    significance: float
    shares: Mapping[str, FloatArray] | None = None
    p_values: FloatArray | None = None
    name: Any = None

    @classmethod
    def from_predictions(
        cls,
        predictions: LabelsetPredictions | LabelWisePredictions,
        i: int | None = None,
        *,
        significance: float = 0.05,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw what is said about labels.

        Parameters
        ----------
        predictions : LabelsetPredictions or LabelWisePredictions
            Of n objects.
        i : int or None, default=None
            Which of them, by position: its p-values are drawn. None: how often labels are sure,
            possible and ruled out.
        significance : float, default=0.05
            The level.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: in a new figure.
        **kwargs
            For the bars, as in ``Axes.barh``, or for the points, as in ``Axes.scatter``.
        """
        check_predictions(predictions, LabelsetPredictions, LabelWisePredictions)
        names = predictions.label_names
        region = predictions.region(significance)
        if i is None:
            off, on = region.possible_values[:, :, 0], region.possible_values[:, :, 1]
            said = {
                "sure": on & ~off,
                "possible": on & off,
                "ruled out": off & ~on,
                "neither": ~on & ~off,
            }
            shares = {word: chosen.mean(axis=0) for word, chosen in said.items()}
            return cls(names, significance, shares).plot(ax=ax, **kwargs)
        position = check_object(i, len(predictions))
        one = predictions[[position]]
        p_values = one.label_p_values if isinstance(one, LabelsetPredictions) else one.p_values
        name = position if one.index is None else one.index[0]
        return cls(names, significance, None, p_values[0], name).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw it, on the axes given or in a new figure; further arguments are for the bars or points."""
        ax = self._open(ax, height=1.6 + 0.25 * len(self.label_names))
        rows = np.arange(len(self.label_names))
        ax.set_yticks(rows, [write_name(name) for name in self.label_names])
        ax.invert_yaxis()
        if self.p_values is None:
            self._draw_shares(ax, rows, kwargs)
        else:
            self._draw_p_values(ax, rows, kwargs)
        self._put_legend_above(ax)
        return self

    def _draw_shares(self, ax: Any, rows: Any, kwargs: dict[str, Any]) -> None:
        self.bars_, start = {}, np.zeros(len(rows))
        for word, shares in (self.shares or {}).items():
            if word == "neither" and not shares.any():
                continue
            style = {"edgecolor": "white", "linewidth": 0.5, **STYLES[word], **kwargs}
            self.bars_[word] = ax.barh(rows, shares, left=start, label=word, **style)
            start = start + shares
        ax.set(xlim=(0, 1), xlabel=f"share of objects at {percent(self.significance)} confidence")

    def _draw_p_values(self, ax: Any, rows: Any, kwargs: dict[str, Any]) -> None:
        off, on = np.asarray(self.p_values).T
        ax.hlines(rows, np.minimum(off, on), np.maximum(off, on), color=GREY, linewidth=1, zorder=0)
        style = {"s": 28, **kwargs}
        self.off_ = ax.scatter(
            off, rows, facecolors="white", edgecolors="black", label="off", **style
        )
        self.on_ = ax.scatter(on, rows, color=BLUE, label="on", **style)
        style = {"color": VERMILLION, "linestyle": "--", "linewidth": 1}
        self.level_line_ = ax.axvline(
            self.significance, label=f"significance {float(self.significance):g}", **style
        )
        ax.set(
            xlim=(-0.02, 1.02), xlabel=f"p-value of each label of object {write_name(self.name)}"
        )
