"""What is proven about a region, in one sentence: of labelsets, and of labels taken one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from labelsure._checks import FloatArray, IntArray, check_significance


def as_promised(significance: float) -> float:
    """Return the significance itself, the error bound of exact methods."""
    return significance


@dataclass(frozen=True)
class Guarantee:
    """A proven bound on how often regions miss the true labelset.

    Attributes
    ----------
    name : str
        As in the parameter ``guarantee``.
    error_bound : callable
        Takes the significance and returns a number that the probability of missing the true
        labelset is at most.
    conditions : str or callable
        What that needs; takes the significance where it depends on it.
    proved_by : str
        Where it was proven.
    remark : str
        A sentence on what else is known, or nothing.
    vacuous_below : fractions.Fraction or None
        The significance below which there are too few calibration examples to rule out anything, if
        there is one.
    n_calibration : int or None
        The number of calibration examples, where it is known; of groups, where these count alike.
    counted : str
        What it is the number of.
    although : str
        What belongs to the event that is bounded beside a miss, or nothing.

    Examples
    --------
    >>> guarantee = Guarantee("inductive", as_promised, "exchangeable examples", "Vovk et al. 2005")
    >>> print(guarantee.sentence(0.05))
    A region at significance 0.05 misses the true labelset with probability at most 0.05, for
    exchangeable examples
    (Vovk et al. 2005).
    """

    name: str
    error_bound: Callable[[float], float]
    conditions: str | Callable[[float], str]
    proved_by: str
    remark: str = ""
    vacuous_below: Fraction | None = None
    n_calibration: int | None = None
    counted: str = "calibration examples"
    although: str = ""

    def reaches(self, significance: float) -> bool:
        """Tell whether regions at this significance can leave out anything.

        Examples
        --------
        >>> few = Guarantee("inductive", as_promised, "", "", vacuous_below=Fraction(1, 16))
        >>> few.reaches(0.05), few.reaches(0.1)
        (False, True)
        """
        return self.vacuous_below is None or check_significance(significance) >= self.vacuous_below

    @property
    def limit(self) -> str:
        """What to say of a level that cannot be reached; nothing where all can.

        Examples
        --------
        >>> least = {"vacuous_below": Fraction(1, 16), "n_calibration": 15}
        >>> print(Guarantee("inductive", as_promised, "", "", **least).limit)
        With 15 calibration examples every labelset is in every region below significance 0.0625:
        the level asked for
        cannot be reached.
        """
        if self.vacuous_below is None:
            return ""
        few = "so few" if self.n_calibration is None else str(self.n_calibration)
        return (
            f"With {few} {self.counted} every labelset is in every region below significance"
            f" {float(self.vacuous_below):g}: the level asked for cannot be reached."
        )

    def conditions_at(self, significance: float) -> str:
        """Return what the bound at a significance needs."""
        return (
            self.conditions if isinstance(self.conditions, str) else self.conditions(significance)
        )

    def sentence(self, significance: float) -> str:
        """Return the guarantee at a significance, its conditions, and who proved it."""
        check_significance(significance)
        level = float(significance)
        bound, conditions = min(self.error_bound(level), 1.0), self.conditions_at(level)
        proven = (
            f"A region at significance {level:g} misses the true labelset{self.although} with"
            f" probability at most {bound:.3g}, for {conditions} ({self.proved_by})."
        )
        return " ".join(
            filter(None, [proven, self.remark, "" if self.reaches(significance) else self.limit])
        )


@dataclass(frozen=True)
class NoGuarantee:
    """Stands where nothing is proven, and says so.

    Attributes
    ----------
    what : str
        What it is that nothing is proven about.

    Examples
    --------
    >>> print(NoGuarantee("p-values of unknown origin").sentence(0.05))
    Nothing is proven about p-values of unknown origin.
    """

    what: str
    vacuous_below: ClassVar[None] = None
    limit: ClassVar[str] = ""

    def sentence(self, significance: float) -> str:  # noqa: ARG002
        """Return that nothing is proven."""
        return f"Nothing is proven about {self.what}."


@dataclass(frozen=True, eq=False)
class LabelWiseGuarantee:
    r"""Bounds on how often the values of labels are ruled out that are true.

    Given the value c of label j, the :math:`n_c` examples with that value in one of :math:`K'`
    folds and a new one are exchangeable, so each fold's p-value is valid. With :math:`w` the mean
    of these, weighted by the number of examples plus 1, :math:`(n_c + K') w = (n_c + 1) p + K' -
    1`, smoothed at most that, and twice a weighted mean of p-values is a p-value [1]_. So a true
    value has a p-value of at most :math:`\varepsilon` with probability at most

    .. math:: 2 \varepsilon + 2 (1 - \varepsilon) \frac{K' - 1}{n_c + K'},

    for any learner and folds that were not chosen by their labels, and :math:`\varepsilon` for one
    fold. Without conditions the same holds with all examples.

    Attributes
    ----------
    n_examples, n_folds : int arrays of shape (q, 2)
        The calibration examples that "off" and "on" of each label are compared with, and the folds
        that have any.
    conditional : bool
        Whether these are the examples with the same value of the label.
    of_labelsets : Guarantee
        What is proven about p-values from all examples: their bound, unless ``conditional``, the
        conditions, and who proved it.
    n_incomplete : int
        How many of the examples have unknown labels. Then every label has a bound by its own known
        ones, and what holds for all labels together is of the complete examples.

    References
    ----------
    .. [1] Vovk, V., Wang, R. (2020). Combining p-values via averaging. Biometrika 107(4), 791-808.

    Examples
    --------
    >>> from labelsure.predictions import Guarantee
    >>> from labelsure.predictions._guarantee import as_promised
    >>> of_labelsets = Guarantee("cross", as_promised, "exchangeable examples", "Vovk, Wang 2020")
    >>> guarantee = LabelWiseGuarantee(np.array([[90, 10]]), np.array([[5, 4]]), True, of_labelsets)
    >>> guarantee.bounds(0.1).round(3).tolist()
    [[0.276, 0.586]]
    """

    n_examples: IntArray
    n_folds: IntArray
    conditional: bool
    of_labelsets: Guarantee
    n_incomplete: int = 0

    def bounds(self, level: float) -> FloatArray:
        """Return bounds on how often a true "off" or "on" of each label is ruled out, (q, 2)."""
        if not self.conditional and (self.n_incomplete == 0 or self.of_labelsets.name == "groups"):
            return np.full(self.n_examples.shape, min(self.of_labelsets.error_bound(level), 1.0))
        of_folds = 2 * level + 2 * (1 - level) * (self.n_folds - 1) / np.maximum(
            self.n_examples + self.n_folds, 1
        )
        bounds = np.where(self.n_folds == 1, level, np.minimum(of_folds, 1.0))
        # a value that no example has is never ruled out
        return np.where(self.n_folds == 0, 0.0, bounds)

    def state_joint(self, significance: float, at_most_wrong: int) -> str:
        """Return what holds for regions from joint scores."""
        bound = min(self.of_labelsets.error_bound(significance), 1.0)
        if at_most_wrong == 0:
            each = "Each label by itself is wrong with at most that probability too."
        else:
            each = (
                "It says nothing of each label by itself: for that, ask for"
                f" region({significance:g}, per_label=True)."
            )
        why = self._why(significance)
        return f"{self._few_wrong(at_most_wrong, bound)}, {why} {each}{self._remark()}"

    def state_per_label(self, level: float) -> str:
        """Return what holds where each label is decided at the level by itself."""
        on_average = self._expected(level)
        n_labels = len(self.n_examples)
        together = (
            f"Of all {n_labels} labels together at most {on_average:.3g} are wrong on average"
        )
        some = (
            f", and some label with probability at most {on_average:.3g}" if on_average < 1 else ""
        )
        why = self._why(level, per_label=True)
        return f"{self._each_wrong(level)}, {why} {together}{some}.{self._remark()}"

    def state_divided(self, level: float, at_most_wrong: int) -> str:
        """Return what holds where each label is decided at its share of the significance."""
        bound = min(self._expected(level) / (at_most_wrong + 1), 1.0)
        why = self._why(
            level, "Lambrou, Papadopoulos 2016, from what holds for each label: ", per_label=True
        )
        few, each = self._few_wrong(at_most_wrong, bound), self._each_wrong(level)
        return f"{few}, {why} {each}.{self._remark()}"

    def _expected(self, level: float) -> float:
        """Return a bound of the mean number of wrong labels."""
        return float(self.bounds(level).max(axis=1).sum())

    def _few_wrong(self, at_most_wrong: int, bound: float) -> str:
        words = {0: "Some label is wrong", 1: "More than one label is wrong"}
        what = words.get(at_most_wrong, f"More than {at_most_wrong} labels are wrong")
        return f"{what} with probability at most {bound:.3g}"

    def _each_wrong(self, level: float) -> str:
        bounds = self.bounds(level)
        sentence = f"Each label by itself is wrong with probability at most {bounds.max():.3g}"
        if not self.conditional:
            return sentence
        sentence += ", both among the objects that have it and among those that do not"
        if (self.n_folds <= 1).all():
            return sentence
        j, c = np.unravel_index(bounds.argmax(), bounds.shape)
        n, n_folds = self.n_examples[j, c], self.n_folds[j, c]
        return f"{sentence} (at worst: {n} examples in {n_folds} folds have that value)"

    def _why(self, level: float, proved_by: str = "", *, per_label: bool = False) -> str:
        conditions = self.of_labelsets.conditions_at(level)
        if per_label and self.n_incomplete and self.of_labelsets.name != "groups":
            known = self.n_examples.sum(axis=1) if self.conditional else self.n_examples[:, 0]
            least, most = int(known.min()), int(known.max())
            n_known = f"{least}" if least == most else f"{least} to {most}"
            conditions = f"exchangeable examples, {n_known} of which are known for each label"
            if self.n_folds.max() > 1:
                folds = f"{self.n_folds.max()} folds that were not chosen by their labels"
                conditions += f", in {folds}, and any learner"
        return f"for {conditions} ({proved_by}{self.of_labelsets.proved_by})."

    def _remark(self) -> str:
        remarks = [self.of_labelsets.remark]
        if self.n_incomplete:
            given = "given its value, whether a label is known does not depend on the object"
            free = "whether labels are known depends neither on the object nor on its labels"
            where = given if self.conditional else free
            remarks.append(
                f"{self.n_incomplete} examples have unknown labels: this holds where {where}."
            )
        return "".join(f" {remark}" for remark in remarks if remark)
