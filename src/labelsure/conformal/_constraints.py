"""Constraints at the door of a predictor: do the examples obey them, and what is proven under them?"""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from labelsure._checks import LabelMatrix, made_up_names
from labelsure.engine import Constraint, broken_by, compile_constraints
from labelsure.engine._constraints import list_constraints
from labelsure.engine._rules import LabelsetRules
from labelsure.predictions import Guarantee

SHOWN_ROWS = 5
OBEYED = " although it obeys the constraints"
MISSED = (
    "A true labelset that breaks a constraint is in no region; among those that obey, the bound"
    " is this one divided by"
    " their share."
)


def check_constraints(
    constraints: Any,
    on_violation: str,
    *labels: LabelMatrix,
    label_names: Sequence[str] | None,
    empty: str,
) -> LabelsetRules | None:
    """Return constraints as engines take them, None for an empty list, or raise ValueError before anything is fitted.

    Parameters
    ----------
    constraints : Constraint or sequence of Constraint
        As the user passed them.
    on_violation : {"refuse", "drop"}
        What to do where examples break a constraint: raise ValueError, or warn and leave the
        constraint out.
    *labels : arrays of shape (n, q)
        All labelsets that are known.
    label_names : sequence of str or None
        What the labels are called.
    empty : str
        What the empty labelset is.
    """
    everyone = np.concatenate(labels)
    names = label_names or made_up_names(everyone.shape[1])
    given = list_constraints(constraints)
    if not given:
        return None
    rules = compile_constraints(given, names)
    if rules.n_allowed == 1 and rules.allows_empty and empty == "exclude":
        raise ValueError(
            'constraints allow the empty labelset only, and empty="exclude" leaves that out:'
            " every region would be"
            ' empty. Use empty="auto", or leave a constraint out.'
        )
    kept = _obeyed(given, everyone, names, on_violation)
    if not kept:
        return None
    return rules if len(kept) == len(given) else compile_constraints(kept, names)


def _obeyed(
    constraints: list[Constraint], Y: LabelMatrix, names: Sequence[str], on_violation: str
) -> list[Constraint]:
    """Return the constraints that all examples obey, and report the others."""
    broken = {i: rows for i, one in enumerate(constraints) if len(rows := broken_by(one, Y, names))}
    if not broken:
        return constraints
    reports = []
    for i, rows in broken.items():
        shown = ", ".join(map(str, rows[:SHOWN_ROWS].tolist())) + (
            ", ..." if len(rows) > SHOWN_ROWS else ""
        )
        reports.append(f"{len(rows)} of {len(Y)} examples (rows {shown}) break {constraints[i]!r}")
    report = "; ".join(reports)
    if on_violation == "refuse":
        raise ValueError(
            f"constraints must hold for all examples, but {report}."
            ' Correct the labels or the constraint, or pass on_violation="drop" to go on without'
            " it."
        )
    warnings.warn(f"{report}. Going on without what they break.", UserWarning, stacklevel=6)
    return [one for i, one in enumerate(constraints) if i not in broken]


def under_constraints(guarantee: Guarantee) -> Guarantee:
    """Return what is proven where only labelsets that obey constraints are candidates.

    A true labelset that obeys them is missed if and only if it would be missed without them, so the
    probability that it obeys and is missed is at most what that of missing it was.

    Examples
    --------
    >>> from labelsure.predictions._guarantee import as_promised
    >>> plain = Guarantee("inductive", as_promised, "exchangeable examples", "Vovk et al. 2005")
    >>> print(under_constraints(plain).sentence(0.1))
    A region at significance 0.1 misses the true labelset although it obeys the constraints with probability at most
    0.1, for exchangeable examples (Vovk et al. 2005). A true labelset that breaks a constraint is in no region; among
    those that obey, the bound is this one divided by their share.
    """
    remark = " ".join(filter(None, [guarantee.remark, MISSED]))
    return replace(guarantee, although=OBEYED, remark=remark)
