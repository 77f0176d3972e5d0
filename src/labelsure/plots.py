"""Pictures of predictions: displays in the manner of scikit-learn, drawn by matplotlib."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from labelsure._checks import BoolArray, FloatArray, LabelMatrixLike, check_count, is_whole, shown
from labelsure._errors import import_optional
from labelsure.metrics import CalibrationCurve, calibration_curve
from labelsure.metrics._regions import check_levels, check_predictions, check_true_labels
from labelsure.predictions import LabelsetPredictions, LabelWisePredictions, ObjectSummary
from labelsure.predictions._frames import name_labels
from labelsure.predictions._show import confidence_level

__all__ = [
    "CalibrationDisplay",
    "ConfidenceDisplay",
    "LabelDisplay",
    "LabelsetDisplay",
    "RegionSizeDisplay",
]

BLUE = "#0072B2"

ORANGE = "#E69F00"

VERMILLION = "#D55E00"

GREY = "#BBBBBB"
"""Of Okabe and Ito's palette; shapes, hatches and line styles say the same without colour."""

COLOURS = (BLUE, VERMILLION, ORANGE, "#009E73", "#CC79A7", "#56B4E9")

LINE_STYLES = ("-", "--", "-.", ":")

KINDS = (("right", BLUE, "o"), ("wrong", VERMILLION, "x"))

STYLES = {
    "sure": {"color": BLUE},
    "possible": {"color": ORANGE, "hatch": "///"},
    "ruled out": {"color": GREY},
    "neither": {"color": "white", "hatch": "xxx", "edgecolor": GREY},
}

NAMES_SHOWN, LETTERS_SHOWN = 4, 48
"""Of a labelset beside an axis: with more there is no room for what is drawn."""


class Display:
    """Base of the displays: where they are drawn."""

    ax_: Any
    figure_: Any

    def _open(self, ax: Any, *, height: float = 4.0) -> Any:
        """Return the axes to draw on, new ones for None, and remember them and their figure."""
        pyplot = import_optional("matplotlib.pyplot", extra="plots", purpose=type(self).__name__)
        if ax is None:
            _, ax = pyplot.subplots(figsize=(6.4, height), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        ax.spines[["top", "right"]].set_visible(False)
        return ax

    def _put_legend_above(self, ax: Any) -> None:
        """Explain lines and colours where nothing is drawn."""
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=4, frameon=False)


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """The share of regions that miss the true labelset, against the significance.

    A predictor that keeps its promise stays near or below the diagonal. The dark band holds the
    error probability of each level with the probability ``curve.coverage_level``, the light band
    those of all levels at once. The dotted line is what is proven, where that is not the diagonal.

    Attributes
    ----------
    curve : CalibrationCurve
        The errors with their intervals.
    bound : array of shape (m,) or None
        What the error probability is proven to be at most at each level; None where nothing is.
    name : str or None
        What to call it in the legend.
    ax_, figure_
        Where it was drawn.
    line_, band_, wide_band_, diagonal_, bound_line_
        What was drawn; ``bound_line_`` is None where the bound is the diagonal.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.plots import CalibrationDisplay
    >>> rng = np.random.default_rng(0)
    >>> outputs = rng.random((300, 3))
    >>> Y = (rng.random((300, 3)) < outputs).astype(int)
    >>> predictions = calibrate_outputs(outputs[:200], Y[:200]).predict_labelsets(outputs[200:])
    >>> display = CalibrationDisplay.from_predictions(Y[200:], predictions, [0.1, 0.2, 0.3])
    >>> [float(share) for share in display.line_.get_ydata()] == display.curve.error_rate.tolist()
    True
    """

    curve: CalibrationCurve
    bound: FloatArray | None = None
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        Y_true: LabelMatrixLike,
        predictions: LabelsetPredictions,
        significance: float | Iterable[float] | None = None,
        *,
        coverage_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the errors of predictions whose truth is known.

        Parameters
        ----------
        Y_true : array-like, sparse matrix or DataFrame of shape (n, q)
            The true labels: of objects that neither trained nor calibrated.
        predictions : LabelsetPredictions
            Of the n objects.
        significance : float, iterable of float or None, default=None
            The levels; None: 0.01, 0.02, ..., 0.99.
        coverage_level : float, default=0.95
            How sure the bands are.
        name : str or None, default=None
            What to call it in the legend.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: in a new figure.
        **kwargs
            For the line, as in ``Axes.plot``.
        """
        check_predictions(predictions)
        curve = calibration_curve(Y_true, predictions, significance, coverage_level=coverage_level)
        proven = getattr(predictions.guarantee, "error_bound", None)
        bound = None
        if proven is not None:
            bound = np.array([min(proven(float(level)), 1.0) for level in curve.significance])
        return cls(curve, bound, name).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw it, on the axes given or in a new figure; further arguments are for the line."""
        ax, curve = self._open(ax), self.curve
        style = {"color": BLUE, "label": name or self.name or "errors", **kwargs}
        (self.line_,) = ax.plot(curve.significance, curve.error_rate, **style)
        colour = self.line_.get_color()
        sure = f"{100 * curve.coverage_level:g} %"
        shade = {"color": colour, "linewidth": 0}
        wide = curve.simultaneous_band
        self.wide_band_ = ax.fill_between(
            curve.significance, *wide, alpha=0.15, label=f"{sure}, all levels at once", **shade
        )
        self.band_ = ax.fill_between(
            curve.significance,
            curve.low,
            curve.high,
            alpha=0.35,
            label=f"{sure}, each level",
            **shade,
        )
        (self.diagonal_,) = ax.plot(
            [0, 1], [0, 1], color="black", linewidth=0.8, linestyle="--", label="diagonal"
        )
        self.bound_line_ = None
        if self.bound is not None and not np.allclose(self.bound, curve.significance):
            (self.bound_line_,) = ax.plot(
                curve.significance,
                self.bound,
                color=VERMILLION,
                linestyle=":",
                label="proven bound",
            )
        ax.set(
            xlim=(0, 1),
            ylim=(0, 1),
            xlabel="significance",
            ylabel="share of regions that miss the truth",
        )
        ax.set_aspect("equal")
        ax.legend(loc="lower right", frameon=False, fontsize="small")
        return self


@dataclass(eq=False, repr=False)
class ConfidenceDisplay(Display):
    """Confidence against credibility, one point per object; right and wrong ones apart if known.

    Objects on the right are told apart from all other labelsets but one; objects at the bottom fit
    no labelset well.

    Attributes
    ----------
    confidence, credibility : arrays of shape (n,)
        Of each object.
    right : bool array of shape (n,) or None
        Whether the most plausible labelset is the true one, where that is known.
    ax_, figure_
        Where it was drawn.
    points_ : dict of str to artists
        What was drawn: "right" and "wrong", or "all".

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.plots import ConfidenceDisplay
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y)
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.5, 0.5]])
    >>> display = ConfidenceDisplay.from_predictions(predictions, Y_true=[[1, 0], [0, 1]])
    >>> display.points_["right"].get_offsets().tolist()
    [[0.75, 0.75]]
    """

    confidence: FloatArray
    credibility: FloatArray
    right: BoolArray | None = None

    @classmethod
    def from_predictions(
        cls,
        predictions: LabelsetPredictions,
        Y_true: LabelMatrixLike | None = None,
        *,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the confidence and credibility of predictions.

        Parameters
        ----------
        predictions : LabelsetPredictions
            Of n objects.
        Y_true : label matrix of shape (n, q) or None, default=None
            The true labels, where they are known.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: in a new figure.
        **kwargs
            For the points, as in ``Axes.scatter``.
        """
        check_predictions(predictions)
        right = None
        if Y_true is not None:
            right = (predictions.labelsets == check_true_labels(Y_true, predictions)).all(axis=1)
        return cls(predictions.confidence, predictions.credibility, right).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw it, on the axes given or in a new figure; further arguments are for the points."""
        ax = self._open(ax)
        groups: list[tuple[str, str, str, Any]] = [("all", BLUE, "o", slice(None))]
        if self.right is not None:
            masks = (self.right, ~self.right)
            groups = [(*kind, mask) for kind, mask in zip(KINDS, masks, strict=True)]
        self.points_ = {}
        for name, colour, marker, chosen in groups:
            n = len(self.confidence[chosen])
            style = {
                "color": colour,
                "marker": marker,
                "s": 16,
                "alpha": 0.6,
                "linewidths": 1,
                **kwargs,
            }
            self.points_[name] = ax.scatter(
                self.confidence[chosen], self.credibility[chosen], label=f"{name} ({n})", **style
            )
        if self.right is not None:
            self._put_legend_above(ax)
        least = float(np.min(self.confidence))
        ax.set(
            xlim=(max(least - 0.05, -0.02), 1.02),
            ylim=(-0.02, 1.02),
            xlabel="confidence",
            ylabel="credibility",
        )
        return self


@dataclass(eq=False, repr=False)
class LabelDisplay(Display):
    """How often each label is sure, possible and ruled out, or the p-values of one object's labels.

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
        check_predictions(predictions, LabelWisePredictions)
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
        """Draw it, on the given axes or a new figure; further arguments style bars or points."""
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
        ax.set(
            xlim=(0, 1),
            xlabel=f"share of objects at {confidence_level(self.significance)} confidence",
        )

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


@dataclass(eq=False, repr=False)
class LabelsetDisplay(Display):
    """One object's most plausible labelsets with their p-values, and the level that cuts them.

    Attributes
    ----------
    summary : ObjectSummary
        The object's.
    truth : tuple of str or None
        Its true labels, where they are known.
    ax_, figure_
        Where it was drawn.
    bars_, level_line_
        What was drawn: bars of labelsets outside of the region are grey and hatched.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.plots import LabelsetDisplay
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y, label_names=["sea", "city"])
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3]])
    >>> display = LabelsetDisplay.from_predictions(predictions, significance=0.3, top=2)
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()]
    ['sea', 'sea + city']
    """

    summary: ObjectSummary
    truth: tuple[str, ...] | None = None

    @classmethod
    def from_predictions(
        cls,
        predictions: LabelsetPredictions,
        i: int = 0,
        *,
        significance: float = 0.05,
        top: int = 8,
        Y_true: LabelMatrixLike | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the most plausible labelsets of one object.

        Parameters
        ----------
        predictions : LabelsetPredictions
            Of n objects.
        i : int, default=0
            Which of them, by position.
        significance : float, default=0.05
            The level of the region.
        top : int, default=8
            How many labelsets.
        Y_true : label matrix of shape (n, q) or None, default=None
            The true labels of all n objects, to mark the true labelset where it is among those
            shown.
        ax : matplotlib Axes or None, default=None
            Where to draw; None: in a new figure.
        **kwargs
            For the bars, as in ``Axes.barh``.
        """
        check_predictions(predictions)
        position, n_shown = check_object(i, len(predictions)), check_count(top, name="top")
        truth = None
        if Y_true is not None:
            on = check_true_labels(Y_true, predictions)[position]
            truth = name_labels(predictions.label_names, on[None] == 1)[0]
        summary = predictions.summary(significance, top=n_shown)[position]
        return cls(summary, truth).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw it, on the axes given or in a new figure; further arguments are for the bars."""
        shown, summary = self.summary.top, self.summary
        ax = self._open(ax, height=1.4 + 0.3 * len(shown))
        style = {"color": [BLUE if one.in_region else GREY for one in shown], **kwargs}
        rows = range(len(shown))
        self.bars_ = ax.barh(rows, [one.p_value for one in shown], **style)
        for bar, one in zip(self.bars_, shown, strict=True):
            bar.set_hatch("" if one.in_region else "///")
            bar.set_edgecolor("white")
        texts = [
            f"{one.p_value:.3g}{'  true' if one.labels == self.truth else ''}" for one in shown
        ]
        ax.bar_label(
            self.bars_, texts, padding=4, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}
        )
        ax.set_yticks(rows, [write_labelset(one.labels) for one in shown])
        ax.invert_yaxis()
        self.level_line_ = ax.axvline(
            summary.significance, color=VERMILLION, linestyle="--", linewidth=1
        )
        confidence = confidence_level(summary.significance)
        ax.set(
            xlim=(0, 1.2 * max([*(one.p_value for one in shown), summary.significance])),
            xlabel="p-value",
        )
        left = (
            "1 labelset" if summary.n_labelsets.at_most == 1 else f"{summary.n_labelsets} labelsets"
        )
        title = f"Object {write_name(summary.name)}\n{left} left at {confidence} confidence"
        ax.set_title(title, loc="left", fontsize="medium")
        return self


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
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y)
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
        check_predictions(predictions)
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
            (line,) = ax.step(
                *steps, where="post", label=f"{confidence_level(level)} confidence", **style
            )
            self.lines_.append(line)
        powers = np.unique(np.linspace(0, np.ceil(largest), 7).round().astype(int)).tolist()
        words = [f"{2**power}" if power <= 10 else f"$2^{{{power}}}$" for power in powers]
        if any(np.isneginf(sizes[0]) for sizes in self.log2_sizes):
            powers, words = [empty, *powers], ["empty", *words]
        ax.set_xticks(powers, words)
        of_all = 2**self.n_labels if self.n_labels <= 20 else f"2^{self.n_labels}"
        ax.set(
            ylim=(0, 1.02),
            xlabel=f"labelsets left, of {of_all}",
            ylabel="share of objects with at most as many",
        )
        self._put_legend_above(ax)
        return self


def check_object(i: Any, n_objects: int) -> int:
    """Return the position of an object, which may count from the end, or raise an error."""
    if not is_whole(i):
        raise ValueError(f"i must be the position of an object, a whole number, got {shown(i)}.")
    position = int(i)
    if not -n_objects <= position < n_objects:
        raise IndexError(f"There are {n_objects} objects, got index {shown(i)}.")
    return position % n_objects


def write_name(name: Any, *, most: int = 40) -> str:
    r"""Return the name of a label or an object for a picture: shortened, dollars escaped.

    Examples
    --------
    >>> write_name("under $5"), write_name("a long story", most=8)
    ('under \\$5', 'a long …')
    """
    text = str(name)
    return (text if len(text) <= most else text[: most - 1] + "…").replace("$", r"\$")


def write_labelset(labels: Sequence[str]) -> str:
    """Return the labels of a labelset for an axis, of many or long ones only the first.

    Examples
    --------
    >>> write_labelset(["sea", "night"]), write_labelset([]), write_labelset(list("abcdef"))
    ('sea + night', 'no label', 'a + b + c + d + 2 more')
    """
    names = [write_name(label) for label in labels]
    n_shown = len(names) if len(names) <= NAMES_SHOWN + 1 else NAMES_SHOWN
    while n_shown > 1 and sum(map(len, names[:n_shown])) > LETTERS_SHOWN:
        n_shown -= 1
    more = [f"{len(names) - n_shown} more"] if n_shown < len(names) else []
    return " + ".join([*names[:n_shown], *more]) or "no label"
