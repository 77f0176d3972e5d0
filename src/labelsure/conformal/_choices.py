"""What a user asks of a predictor beside learner and measure, checked at the door and kept together."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from labelsure._core.types import FloatArray, LabelMatrix, MatrixLike
from labelsure._core.validation import check_choice
from labelsure.conformal._guarantees import check_guarantee
from labelsure.conformal._shift import weights_of
from labelsure.conformal._taxonomy import ByLabel, Categories, LabelsetTaxonomy, Taxonomy, check_taxonomy
from labelsure.measures import AutoMeasure, Measure, MeasureSum


@dataclass(frozen=True)
class Choices:
    """How calibration examples are counted.

    Attributes
    ----------
    guarantee : str
        How folds are merged.
    smoothed : bool
        Whether ties are counted with a random weight.
    empty : str
        What the empty labelset is: "auto", "allow" or "exclude".
    taxonomy : Taxonomy or None
        Within which categories examples are counted.
    weight : callable or None
        From objects to what they count.
    """

    guarantee: str = "cross"
    smoothed: bool = False
    empty: str = "auto"
    taxonomy: Taxonomy | None = None
    weight: Callable[[MatrixLike], Any] | None = None

    def look_at(
        self, X: MatrixLike, Y: LabelMatrix, calibration: Any = slice(None)
    ) -> tuple[Categories | None, FloatArray | None]:
        """Return the categories and the weights of examples, as far as they are asked for; some rows calibrate."""
        self.check_objects(X)
        categories = None if self.taxonomy is None else self.taxonomy.of_examples(X, Y)
        weights = None if self.weight is None else weights_of(self.weight, X)
        if weights is not None and not weights[calibration].any():
            raise ValueError("weight is 0 for all calibration objects: none of them says anything about new objects.")
        return categories, weights

    def check_objects(self, X: MatrixLike) -> None:
        """Raise ValueError where categories or weights have to look at objects and there are none."""
        by_object = self.taxonomy is not None and not isinstance(self.taxonomy, LabelsetTaxonomy)
        if X is None and (by_object or self.weight is not None):
            raise ValueError("Categories and weights of objects need the objects themselves: pass them as X.")


def check_choices(
    *,
    guarantee: str = "cross",
    smoothed: bool,
    empty: str,
    mondrian: Any = None,
    weight: Any = None,
    label_names: Sequence[str] | None,
    n_labels: int,
    one_fold: bool,
) -> Choices:
    """Return the choices, or raise ValueError where they make no sense or exclude each other.

    Parameters
    ----------
    guarantee, smoothed, empty, mondrian, weight
        As the user passed them.
    label_names, n_labels
        What the labels are.
    one_fold : bool
        Whether there is one model only.
    """
    check_choice(empty, ("auto", "allow", "exclude"), name="empty")
    check_guarantee(guarantee, smoothed=smoothed, one_fold=one_fold, within_categories=mondrian is not None)
    if weight is not None and not callable(weight):
        raise ValueError(f"weight must be a function from objects to numbers, or None, got {weight!r}.")
    if weight is not None and (mondrian is not None or smoothed or not one_fold):
        other, why = (
            ("mondrian", "categories of weighed examples have no common denominator, so p-values would be rounded")
            if mondrian is not None
            else ("smoothed", "exact weights and exact draws together do not fit whole numbers of 64 bits")
            if smoothed
            else ("folds", "nothing is proven about weighed p-values of several folds")
        )
        raise ValueError(f"weight does not go with {other}: {why}. Choose one of the two.")
    taxonomy = None if mondrian is None else check_taxonomy(mondrian, label_names, n_labels)
    return Choices(guarantee, bool(smoothed), empty, taxonomy, weight)


def check_empty_labelsets(empty: str, *labels: LabelMatrix) -> None:
    """Warn, or raise ValueError, where ``empty="exclude"`` leaves out a labelset that examples have.

    Parameters
    ----------
    empty : str
        The user's choice.
    *labels : arrays of shape (n, q)
        All labelsets that are known.
    """
    if empty != "exclude":
        return
    n_known = sum(len(part) for part in labels)
    n_empty = sum(int((~part.any(axis=1)).sum()) for part in labels)
    if n_empty == n_known:
        raise ValueError(
            'empty="exclude" leaves out the empty labelset, and no example has another: every region would miss.'
            ' Use empty="auto", or check that Y holds the labels.'
        )
    if n_empty:
        warnings.warn(
            f'{n_empty} of {n_known} examples have no label, and with empty="exclude" no region holds the empty'
            ' labelset: objects without labels are always missed. Use empty="auto" unless there will be none.',
            UserWarning,
            stacklevel=4,
        )


def check_categories_of(measure: Measure | AutoMeasure | None, taxonomy: Taxonomy | None, n_labels: int) -> None:
    """Raise ValueError where the scores of a measure cannot be told apart by the categories asked for."""
    if measure is None or not isinstance(taxonomy, ByLabel):
        return
    candidates = measure.list_candidates(n_labels) if isinstance(measure, AutoMeasure) else [measure]
    parts = [part for one in candidates for part in (one.parts() if isinstance(one, MeasureSum) else [one])]
    roots = [part for part in parts if part.form == "root"]
    if roots:
        raise ValueError(
            f"mondrian by one label goes with measures without a square root, got {roots[0]!r} in measure={measure!r}."
            " Choose ByCardinality(), a measure such as LogLossMeasure(), or AutoMeasure() with such candidates."
        )


def check_measure(measure: Any, n_labels: int) -> Measure | AutoMeasure | None:
    """Return the measure asked for, an AutoMeasure for "auto", None for the default, or say what a measure is."""
    if measure is None:
        return None
    if isinstance(measure, str) and measure == "auto":
        return AutoMeasure()
    if not isinstance(measure, Measure | AutoMeasure):
        raise ValueError(
            f"measure must be a nonconformity measure such as labelsure.measures.PowerMeasure(), got {measure!r}."
            " Pass measure='auto' to have one chosen."
        )
    measure.check_parameters(n_labels)
    return measure
