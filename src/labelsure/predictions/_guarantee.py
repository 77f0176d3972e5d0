"""What is proven about a region, in one sentence."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from labelsure._core.validation import check_significance


def as_promised(significance: float) -> float:
    """Return the significance itself, the error bound of exact methods."""
    return significance


@dataclass(frozen=True)
class Guarantee:
    """A proven bound on how often regions miss the true labelset.

    Attributes
    ----------
    name : str
        As the user asked for it.
    error_bound : callable
        Takes the significance and returns a number that the probability of missing the true labelset is at most.
    conditions : str or callable
        What that needs; takes the significance where it depends on it.
    proved_by : str
        Where it was proven.
    remark : str
        A sentence on what else is known, or nothing.
    vacuous_below : fractions.Fraction or None
        The significance below which there are too few calibration examples to rule out anything, if there is one.
    n_calibration : int or None
        The number of calibration examples, where it is known.

    Examples
    --------
    >>> guarantee = Guarantee("inductive", as_promised, "exchangeable examples", "Vovk et al. 2005")
    >>> print(guarantee.sentence(0.05))
    A region at significance 0.05 misses the true labelset with probability at most 0.05, for exchangeable examples
    (Vovk et al. 2005).
    """

    name: str
    error_bound: Callable[[float], float]
    conditions: str | Callable[[float], str]
    proved_by: str
    remark: str = ""
    vacuous_below: Fraction | None = None
    n_calibration: int | None = None

    def reaches(self, significance: float) -> bool:
        """Tell whether regions at this significance can leave out anything.

        Examples
        --------
        >>> few = Guarantee("inductive", as_promised, "", "", vacuous_below=Fraction(1, 16), n_calibration=15)
        >>> few.reaches(0.05), few.reaches(0.1)
        (False, True)
        """
        return self.vacuous_below is None or check_significance(significance) >= self.vacuous_below

    @property
    def limit(self) -> str:
        """What to say of a level that cannot be reached; nothing where all can.

        Examples
        --------
        >>> print(Guarantee("inductive", as_promised, "", "", vacuous_below=Fraction(1, 16), n_calibration=15).limit)
        With 15 calibration examples every labelset is in every region below significance 0.0625: the level asked for
        cannot be reached.
        """
        if self.vacuous_below is None:
            return ""
        few = "so few" if self.n_calibration is None else str(self.n_calibration)
        return (
            f"With {few} calibration examples every labelset is in every region below significance"
            f" {float(self.vacuous_below):g}: the level asked for cannot be reached."
        )

    def conditions_at(self, significance: float) -> str:
        """Return what the bound at a significance needs."""
        return self.conditions if isinstance(self.conditions, str) else self.conditions(significance)

    def sentence(self, significance: float) -> str:
        """Return what is guaranteed at a significance, under which conditions, and by whom it was proved."""
        level = float(significance)
        bound, conditions = min(self.error_bound(level), 1.0), self.conditions_at(level)
        proven = (
            f"A region at significance {level:g} misses the true labelset with probability at most {bound:.3g}, for"
            f" {conditions} ({self.proved_by})."
        )
        return " ".join(filter(None, [proven, self.remark, "" if self.reaches(significance) else self.limit]))


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
