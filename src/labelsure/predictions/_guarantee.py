"""What is proven about a region, in one sentence."""

from collections.abc import Callable
from dataclasses import dataclass


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
    conditions : str
        What that needs.
    proved_by : str
        Where it was proven.
    remark : str
        A sentence on what else is known, or nothing.

    Examples
    --------
    >>> guarantee = Guarantee("inductive", as_promised, "exchangeable examples", "Vovk et al. 2005")
    >>> print(guarantee.sentence(0.05))
    A region at significance 0.05 misses the true labelset with probability at most 0.05, for exchangeable examples
    (Vovk et al. 2005).
    """

    name: str
    error_bound: Callable[[float], float]
    conditions: str
    proved_by: str
    remark: str = ""

    def sentence(self, significance: float) -> str:
        """Return what is guaranteed at a significance, under which conditions, and by whom it was proved."""
        bound = min(self.error_bound(float(significance)), 1.0)
        return (
            f"A region at significance {float(significance):g} misses the true labelset with probability at most"
            f" {bound:.3g}, for {self.conditions} ({self.proved_by}).{' ' if self.remark else ''}{self.remark}"
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
    >>> print(NoGuarantee("cross-conformal p-values within categories").sentence(0.05))
    Nothing is proven about cross-conformal p-values within categories.
    """

    what: str

    def sentence(self, significance: float) -> str:  # noqa: ARG002
        """Return that nothing is proven."""
        return f"Nothing is proven about {self.what}."
