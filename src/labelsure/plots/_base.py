"""What displays share: axes to draw on, colours that most eyes tell apart, checks at the door."""

from collections.abc import Iterable, Sequence
from typing import Any

from labelsure._checks import (
    LabelMatrix,
    LabelMatrixLike,
    check_label_matrix,
    check_same_length,
    check_significance,
    is_list,
    is_whole,
    shown,
)
from labelsure._errors import import_optional

BLUE = "#0072B2"
ORANGE = "#E69F00"
VERMILLION = "#D55E00"
GREY = "#BBBBBB"
"""Of Okabe and Ito's palette; shapes, hatches and line styles say the same without colour."""

LINE_STYLES = ("-", "--", "-.", ":")

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


def check_predictions(predictions: Any, *kinds: type) -> None:
    """Raise ValueError unless these are predictions of at least one object."""
    if not isinstance(predictions, kinds):
        makers = {
            "LabelsetPredictions": "predict_labelsets",
            "LabelWisePredictions": "predict_labels",
        }
        listed = " or ".join(makers[kind.__name__] for kind in kinds)
        raise ValueError(
            f"predictions must be what {listed} returns, got a {type(predictions).__name__}."
            " Pass model.predict_labelsets(X), not what predict returns."
        )
    if len(predictions) == 0:  # type: ignore[arg-type]
        raise ValueError("predictions must be of at least one object to draw, got none.")


def check_truth(Y_true: LabelMatrixLike, predictions: Any) -> LabelMatrix:
    """Return the true labels of the predicted objects as a label matrix, or raise ValueError."""
    names = predictions.label_names
    labels = check_label_matrix(Y_true, name="Y_true", n_labels=len(names), label_names=names)
    check_same_length(range(len(predictions)), labels, names=("the predictions", "Y_true"))
    return labels


def check_object(i: Any, n_objects: int) -> int:
    """Return the position of an object, counted from the end where it is negative, or raise an error."""
    if not is_whole(i):
        raise ValueError(f"i must be the position of an object, a whole number, got {shown(i)}.")
    position = int(i)
    if not -n_objects <= position < n_objects:
        raise IndexError(f"There are {n_objects} objects, got index {shown(i)}.")
    return position % n_objects


def check_levels(significance: float | Iterable[float]) -> tuple[float, ...]:
    """Return one or several significance levels as a tuple, or raise ValueError."""
    levels: tuple[Any, ...] = tuple(significance) if is_list(significance) else (significance,)
    if not levels:
        raise ValueError(
            "significance must hold at least one level, got none. Pass for instance (0.05, 0.2)."
        )
    for level in levels:
        check_significance(level)
    return levels


def percent(significance: float) -> str:
    """Return the confidence that belongs to a significance.

    Examples
    --------
    >>> percent(0.05)
    '95 %'
    """
    return f"{float(100 * (1 - check_significance(significance))):g} %"


def write_name(name: Any, *, most: int = 40) -> str:
    r"""Return what a label or an object is called for a picture: not too long, and dollars as they are, not formulas.

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
