"""Random constraints, and what they mean, written apart from the package's own code."""

from dataclasses import dataclass

import numpy as np

from brute_force import Ranked, allowed_codes, labelsets_of
from labelsure.engine import (
    Allowed,
    AtLeast,
    AtMost,
    Exactly,
    Exclude,
    Hierarchy,
    Implies,
    compile_constraints,
)
from labelsure.engine._rules import LabelsetRules
from search_cases import Case


def random_constraints(rng, n_labels):
    """Return one to four constraints of any kind on labels by number; they may contradict each
    other.
    """
    return [random_constraint(rng, n_labels) for _ in range(rng.integers(1, 5))]


def random_constraint(rng, n_labels):
    kinds = ["k", "k", "list"] + (
        ["implies", "implies", "exclude", "tree", "tree"] if n_labels > 1 else []
    )
    kind = rng.choice(kinds)
    labels = rng.permutation(n_labels).tolist()
    if kind == "implies":
        return Implies(labels[0], labels[1 : 1 + rng.integers(1, n_labels)])
    if kind == "exclude":
        return Exclude(labels[: rng.integers(2, n_labels + 1)])
    if kind == "tree":
        children = rng.permutation(np.arange(1, n_labels))[: rng.integers(1, n_labels)]
        return Hierarchy({labels[j]: labels[rng.integers(j)] for j in children.tolist()})
    if kind == "list" and rng.integers(2):
        codes = rng.choice(2**n_labels, size=rng.integers(1, 2**n_labels + 1), replace=False)
        return Allowed(labelsets_of(codes, n_labels))
    group = labels[: rng.integers(1, n_labels + 1)]
    counted = [AtMost, AtLeast, Exactly][rng.integers(3)]
    return counted(int(rng.integers(len(group) + 1)), group)


@dataclass
class ConstrainedCase(Case):
    """A case whose candidates obey constraints."""

    rules: LabelsetRules | None = None
    codes: list[int] | None = None

    def engine(self, **options):
        """Return the engine, which knows the constraints."""
        return super().engine(constraints=self.rules, **options)

    def ranked(self):
        """Return what is left of all candidates of each object."""
        return [
            Ranked(*(part[np.isin(one.codes, self.codes)] for part in one))
            for one in super().ranked()
        ]


def constrain(case, rng):
    """Return a case with random constraints that leave at least one candidate."""
    n_labels = case.folds[0].energy.n_labels
    while True:
        constraints = random_constraints(rng, n_labels)
        codes = allowed_codes(constraints, n_labels)
        if any(code > 0 or case.allow_empty for code in codes):
            strangest = (
                case.allow_empty and 0 in codes and len(codes) > 1 and bool(rng.integers(3) == 0)
            )
            parts = (case.folds, case.allow_empty, case.draws, case.rule, strangest)
            return ConstrainedCase(*parts, compile_constraints(constraints, n_labels), codes)
