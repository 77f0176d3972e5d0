"""What may one object be? Its most plausible labelsets."""

from dataclasses import dataclass
from typing import Any, Self

from labelsure._checks import LabelMatrixLike, check_count
from labelsure.plots._base import (
    BLUE,
    GREY,
    VERMILLION,
    Display,
    check_object,
    check_predictions,
    check_truth,
    percent,
    write_labelset,
    write_name,
)
from labelsure.predictions import LabelsetPredictions, ObjectSummary


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
    >>> display = LabelsetDisplay.from_predictions(predictor.predict_labelsets([[0.8, 0.3]]), significance=0.3, top=2)
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
        check_predictions(predictions, LabelsetPredictions)
        position, n_shown = check_object(i, len(predictions)), check_count(top, name="top")
        truth = None
        if Y_true is not None:
            on = check_truth(Y_true, predictions)[position]
            truth = tuple(
                name for name, value in zip(predictions.label_names, on, strict=True) if value
            )
        return cls(predictions.summary(significance, top=n_shown)[position], truth).plot(
            ax=ax, **kwargs
        )

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
        confidence = percent(summary.significance)
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
