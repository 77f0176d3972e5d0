"""Does it keep its promise? Errors against significance."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from labelsure._checks import FloatArray, LabelMatrixLike
from labelsure.metrics import CalibrationCurve, calibration_curve
from labelsure.plots._base import BLUE, VERMILLION, Display, check_predictions
from labelsure.predictions import LabelsetPredictions


@dataclass(eq=False, repr=False)
class CalibrationDisplay(Display):
    """The share of regions that miss the true labelset, against the significance that they were asked for at.

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
    >>> display = CalibrationDisplay.from_predictions(Y[200:], predictions, significance=[0.1, 0.2, 0.3])
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
        check_predictions(predictions, LabelsetPredictions)
        curve = calibration_curve(Y_true, predictions, significance, coverage_level=coverage_level)
        proven = getattr(predictions.guarantee, "error_bound", None)
        bound = (
            None
            if proven is None
            else np.array([min(proven(float(e)), 1.0) for e in curve.significance])
        )
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
            [0, 1], [0, 1], color="black", linewidth=0.8, linestyle="--", label="asked for"
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
