"""Which predictions can be trusted? Confidence against credibility."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from labelsure._checks import BoolArray, FloatArray, LabelMatrixLike
from labelsure.plots._base import BLUE, VERMILLION, Display, check_predictions, check_truth
from labelsure.predictions import LabelsetPredictions

KINDS = (
    ("right", BLUE, "o"),
    ("wrong", VERMILLION, "x"),
)


@dataclass(eq=False, repr=False)
class ConfidenceDisplay(Display):
    """Confidence against credibility, one point per object; right and wrong predictions apart where the truth is known.

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
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
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
        check_predictions(predictions, LabelsetPredictions)
        right = None
        if Y_true is not None:
            right = (predictions.labelsets == check_truth(Y_true, predictions)).all(axis=1)
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
