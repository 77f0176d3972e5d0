"""What does it save that searches know the constraints?"""

import time
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks._answers import Table
from benchmarks._figures import Figure
from benchmarks._measuring import fastest
from benchmarks._scores import log_loss_energy
from labelsure.engine import Allowed, Hierarchy, compile_constraints
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._rules import LabelsetRules

N_LABELS, N_CHILDREN, N_FOLDS, N_CALIBRATION, N_OBJECTS = 40, 3, 10, 1000, 40
LIST_LABELS = 16
LEVELS = (0.2, 0.1, 0.05)
REPEATS = 3
TITLE = "Constraints"
METHOD = (
    f"Made-up objects with {N_LABELS} labels in a hierarchy, {N_CHILDREN} below each: a label is"
    f" never on without its parent. Outputs are noisy around the truth, {N_CALIBRATION} calibration"
    f" examples are in {N_FOLDS} folds, scores are log losses. The members of the regions of"
    f" {N_OBJECTS} objects that obey the hierarchy are found in two ways: by a search that prunes"
    " whatever the hierarchy rules out, and by listing the region as it is without constraints and"
    " leaving out what breaks them. At this size all labelsets that obey the hierarchy are too many"
    f" for a list; the last figures have {LIST_LABELS} labels, where each of them is scored. Both"
    " ways find the same labelsets, which is checked. Seconds of the processor on one thread, the"
    " least of several runs, problems set up anew each time."
)

Array = np.ndarray[Any, Any]


def measure() -> list[Figure | Table]:
    """Return how many times longer listing takes."""
    rules, engine = hierarchy_task(N_LABELS)
    figures: list[Figure] = []
    rows: list[list[str | float]] = []
    for level in LEVELS:
        work = {
            "pruned": partial(members_of, with_rules(engine, rules), level),
            "filtered": partial(filtered_members, engine, rules, level),
        }
        sizes = [len(one) for one in work["pruned"]()]  # compiles
        check_same(work["pruned"](), work["filtered"]())
        free = [len(one) for one in members_of(engine, level)]
        seconds = fastest(work, repeats=REPEATS, clock=time.process_time)
        name = f"{100 - 100 * level:.0f} %"
        times = [1e3 * seconds[way] / N_OBJECTS for way in ("pruned", "filtered")]
        rows.append([name, float(np.mean(free)), float(np.mean(sizes)), *times])
        ratio = seconds["filtered"] / seconds["pruned"]
        figures.append(
            Figure(
                f"{N_LABELS} labels, {name}: listed and filtered over pruned",
                ratio,
                "x",
                at_least=1,
            )
        )
    columns = (
        "level",
        "size without",
        "size with",
        "ms by object, pruned",
        "ms by object, filtered",
    )
    return [
        *figures,
        *listing_figures(),
        Table(f"{N_LABELS} labels, {rules.n_allowed:,} labelsets", columns, rows),
    ]


def listing_figures() -> list[Figure]:
    """Return the same against scoring all labelsets that are allowed."""
    rules, engine = hierarchy_task(LIST_LABELS)
    every_one = compile_constraints(Allowed(rules.labelsets()), LIST_LABELS)
    figures = []
    for level in LEVELS:
        pruned, listed = with_rules(engine, rules), with_rules(engine, every_one)
        check_same(members_of(pruned, level), members_of(listed, level))
        work = {
            "pruned": partial(members_of, pruned, level),
            "listed": partial(members_of, listed, level),
        }
        seconds = fastest(work, repeats=REPEATS, clock=time.process_time)
        what = (
            f"{LIST_LABELS} labels, {100 - 100 * level:.0f} %:"
            f" all {rules.n_allowed:,} labelsets scored over pruned"
        )
        figures.append(Figure(what, seconds["listed"] / seconds["pruned"], "x", at_least=1))
    return figures


def hierarchy_task(n_labels: int) -> tuple[LabelsetRules, FoldEngine]:
    """Return the hierarchy, and the engine without it."""
    rng = np.random.default_rng(0)
    parents = {j: (j - N_CHILDREN) // N_CHILDREN for j in range(N_CHILDREN, n_labels)}
    Y = np.zeros((N_CALIBRATION + N_OBJECTS, n_labels), dtype=np.int8)
    for j in range(n_labels):
        parent_on = Y[:, parents[j]] == 1 if j in parents else np.ones(len(Y), dtype=bool)
        Y[:, j] = parent_on & (rng.random(len(Y)) < (0.35 if j in parents else 0.5))
    outputs = expit(4.0 * Y - 3.0 + 1.5 * rng.normal(size=Y.shape))
    known, new = slice(N_CALIBRATION), slice(N_CALIBRATION, None)
    folds = []
    for k in range(N_FOLDS):
        scores = log_loss_energy(outputs[known][k::N_FOLDS]).scores(Y[known][k::N_FOLDS])
        folds.append(Fold(np.sort(scores), log_loss_energy(outputs[new])))
    return compile_constraints(Hierarchy(parents), n_labels), FoldEngine(
        folds, allow_empty=True, n_jobs=1
    )


def with_rules(engine: FoldEngine, rules: LabelsetRules) -> FoldEngine:
    """Return the engine under constraints."""
    return FoldEngine(engine.folds, allow_empty=True, n_jobs=1, constraints=rules)


def members_of(engine: FoldEngine, level: float) -> list[Array]:
    """Return the members of every region."""
    fresh = engine.take(np.arange(engine.n_objects))
    smallest = fresh.smallest_member(Fraction(level).limit_denominator(1000))
    found = [fresh.iterate_members(i, int(least)) for i, least in enumerate(smallest)]
    return [np.concatenate([labelsets for labelsets, _ in parts]) for parts in found]


def filtered_members(engine: FoldEngine, rules: LabelsetRules, level: float) -> list[Array]:
    """Return what is left of the members of every region."""
    return [members[rules.allow(members)] for members in members_of(engine, level)]


def check_same(one: list[Array], other: list[Array]) -> None:
    """Raise RuntimeError unless two ways found the same labelsets."""
    for own, others in zip(one, other, strict=True):
        if not np.array_equal(own[np.lexsort(own.T)], others[np.lexsort(others.T)]):
            raise RuntimeError("Two ways to find the members of a region disagree.")
