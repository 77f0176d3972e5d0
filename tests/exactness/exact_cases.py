"""Numbered configurations: measures, rules, taxonomies, constraints in turn, the rest random."""

from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from score_formulas import Lopsided, all_labelsets, worst_and_sum

from brute_force import allowed_codes
from labelsure import measures as m
from labelsure.conformal._taxonomy import Taxonomy
from labelsure.engine import Allowed, AtLeast, AtMost, Exactly, Exclude, Hierarchy, Implies

GIVEN = {"prior_exponent": 0.5, "marginals_share": 0.75, "temperature": 2.0, "intercepts": 0.25}


class Kind(NamedTuple):
    """Measures to choose from, and their training input: nothing, labels, outputs, objects."""

    choices: list
    takes: int = 0
    root: bool = False
    grows: bool = True  # penalties can be added


NOTHING, LABELS, OUTPUTS, OBJECTS = range(4)

KINDS = {
    "power": Kind([m.PowerMeasure(d) for d in (1, 2, 4)]),
    "pairs": Kind([m.PowerMeasure(2, pair_penalty=weight) for weight in (0.5, 1.0, 3.0)], LABELS),
    "log-loss": Kind([m.LogLossMeasure(), m.LogLossMeasure(floor=0.01)]),
    "two powers": Kind([m.PowerMeasure(1) + m.PowerMeasure(4)]),
    "max-norm": Kind([m.MaxNormMeasure()]),
    "function": Kind([m.FunctionMeasure(worst_and_sum)]),
    "own": Kind([Lopsided()]),
    "mahalanobis": Kind([m.MahalanobisMeasure("absolute", shrinkage=0.25)], OUTPUTS, root=True),
    "signed": Kind([m.MahalanobisMeasure()], OUTPUTS, root=True),
    "label-wise": Kind([m.LabelWiseCombination()], OUTPUTS),
    "frequency": Kind([m.LabelsetPrior(), m.LabelsetPrior(base="uniform")], LABELS),
    "posterior": Kind([m.PosteriorMeasure(**GIVEN)], LABELS, grows=False),
    "learned posterior": Kind([m.PosteriorMeasure()], OUTPUTS, grows=False),
    "forest": Kind(
        [m.ForestMeasure(m.LogLossMeasure(floor=0.01), n_estimators=2, min_samples_leaf=2)], OBJECTS
    ),
    "posterior-forest": Kind(
        [m.ForestMeasure(m.PosteriorMeasure(**GIVEN), n_estimators=1, mix=0.5)], OBJECTS
    ),
    "auto": Kind(
        [
            m.AutoMeasure(
                [m.LogLossMeasure(floor=0.01), m.PowerMeasure(2) + m.UnseenPenalty(1.0)], n_folds=2
            )
        ],
        OUTPUTS,
        grows=False,
    ),
}

PENALTIES = {
    "hp": [m.HammingPenalty(), m.HammingPenalty(0.75)],
    "cp": [m.CardinalityPenalty(), m.CardinalityPenalty(0.5)],
    "unseen": [m.UnseenPenalty(weight) for weight in (0.0, 0.5, 3.0)],
    "uniform-prior": [m.LabelsetPrior(0.5, base="uniform")],
    "prior": [m.LabelsetPrior(0.5)],
}

ONE_FOLD = ("inductive", "smoothed inductive", "weighted")
FULL = ("full", "smoothed full")
RULES = (*ONE_FOLD, *FULL, "cross", "smoothed cross", "exact")
TAXONOMIES = ("none", "cardinality", "at most 2", "label", "object", "own")
CONSTRAINTS = (
    "none",
    "implies",
    "exclude",
    "hierarchy",
    "allowed",
    "exactly",
    "at least",
    "at most",
    "several",
)
ENGINES = ("table", "search", "pinched")


def possible(measure, rule, taxonomy):
    """Tell whether the package has such a thing."""
    kind = KINDS[measure]
    if rule in FULL and (taxonomy != "none" or measure in ("learned posterior", "auto")):
        return False
    if taxonomy != "none" and rule == "weighted":
        return False
    return not (taxonomy == "label" and kind.root)


@cache
def cells():
    """All (measure, rule, taxonomy, constraint), ordered so that any thousand are a sample."""
    found = [cell for cell in product(KINDS, RULES, TAXONOMIES, CONSTRAINTS) if possible(*cell[:3])]
    return [found[i] for i in np.random.default_rng(14).permutation(len(found))]


class ByFirst(Taxonomy):
    """A taxonomy of a user's own: words, by the object's first feature."""

    def of_examples(self, X, Y):  # noqa: ARG002
        return np.array(["low", "middle", "high"])[np.digitize(np.asarray(X)[:, 0], [0.3, 0.6])]


def is_high(X):
    """A category by object."""
    return np.asarray(X)[:, 0] > 0.5


def weights_of(X):
    """Weights 0, 1, 2 and 3."""
    return np.round(np.asarray(X)[:, 0] * 3)


class Case(NamedTuple):
    """A configuration with its data.

    ``outputs`` are those of each fold's model for all examples, (K, n, q), ``new`` those for new
    objects, (K, n_new, q). Rows of ``fold_of`` below 0 only train.
    """

    number: int
    measure_name: str
    rule: str
    taxonomy: str
    constraint: str
    measure: Any
    penalties: tuple
    way: str  # "outputs", "sparse", "classifier" or "full"
    engines: tuple
    alone: bool  # one object at a time
    empty: str
    constraints: list
    label: int
    incomplete: bool
    dyadic: bool
    X: np.ndarray
    Y: np.ndarray
    outputs: np.ndarray
    fold_of: np.ndarray
    X_new: np.ndarray
    new: np.ndarray
    default: float
    level: Fraction

    @property
    def name(self):
        parts = (
            self.rule,
            self.measure_name,
            *self.penalties,
            self.taxonomy,
            self.constraint,
            self.way,
        )
        return (
            f"case {self.number} ({', '.join(parts)}, {self.Y.shape[1]} labels, empty={self.empty})"
        )


def draw_case(number):
    """Draw a configuration; the same for the same number."""
    rng = np.random.default_rng([14, number])
    round_number, place = divmod(number, len(cells()))
    measure_name, rule, taxonomy, constraint = cells()[place]
    # trees take as long as four others
    if KINDS[measure_name].takes == OBJECTS and round_number % 4:
        measure_name = str(rng.choice(["power", "pairs", "log-loss", "own", "posterior"]))
    kind = KINDS[measure_name]
    way = _draw_way(rng, measure_name, rule)
    few = 2 + (kind.takes < OBJECTS) if way == "full" else 6
    least = 1 if constraint in ("none", "allowed", "exactly", "at least", "at most") else 2
    q = int(rng.integers(least, few, endpoint=True))
    many = way != "full" and rng.random() < 0.025
    if many:  # more than tables are made for by default
        q = int(rng.integers(7, 10, endpoint=True))
    measure, penalties = _draw_measure(rng, kind)
    constraints = draw_constraints(rng, constraint, q)
    fold_of = _draw_folds(rng, rule, way, 2 if kind.takes == OBJECTS else 5)
    n, n_folds = len(fold_of), int(fold_of.max()) + 1
    values, dyadic = _draw_values(rng)
    n_new = 1 if way == "full" or many else int(rng.integers(1, 3))
    X, X_new = rng.choice(values, size=(n, q)), rng.choice(values, size=(n_new, q))
    empty = str(rng.choice(["auto", "allow", "exclude"]))
    if rule == "weighted" and (way == "classifier" or not weights_of(X[fold_of == 0]).any()):
        X[:, 0] = np.maximum(X[:, 0], 0.5)  # somebody has to count
    Y = _draw_labels(rng, X, constraints, empty, fold_of >= 0)
    powers = rng.integers(1, 3, size=(n_folds, 1, 1)).astype(np.float64)
    outputs, new = X**powers, X_new**powers
    if rng.random() < 0.5:  # models that disagree
        outputs, new = (
            rng.choice(values, size=(n_folds, n, q)),
            rng.choice(values, size=(n_folds, n_new, q)),
        )
    return Case(
        number, measure_name, rule, taxonomy, constraint, measure, penalties, way,
        engines=_draw_engines(rng, measure_name, way),
        alone=bool(rng.random() < 0.3),
        empty=empty,
        constraints=constraints,
        label=int(rng.integers(q)),
        incomplete=way == "classifier" and bool(rng.random() < 0.3),
        dyadic=dyadic,
        X=X, Y=Y, outputs=outputs, fold_of=fold_of, X_new=X_new, new=new,
        default=float(rng.choice([0.0, 0.125, min(values[0], 0.375)])),
        level=_draw_level(rng, n),
    )  # fmt: skip


def _draw_way(rng, measure_name, rule):
    """Return how the package is called."""
    kind = KINDS[measure_name]
    if rule in FULL:
        return "full"
    if kind.takes == OBJECTS:
        return "classifier"
    if kind.takes < OUTPUTS and rng.random() < 0.25:
        return "classifier"
    return "sparse" if rng.random() < 0.4 else "outputs"


def _draw_engines(rng, measure_name, way):
    """Return the engine: tables, searches, or sometimes searches with exhausted budgets."""
    if way == "full":
        return ("table",)
    pinched = measure_name != "max-norm" and rng.random() < 0.2
    return ("search", "pinched") if pinched else ("table", "search")


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def _draw_measure(rng, kind):
    """Return the measure with up to two penalties."""
    measure, names = pick(rng, kind.choices), []
    if kind.grows and rng.random() < 0.4:
        usable = [name for name in PENALTIES if not (kind.root and name == "prior")]
        names = rng.choice(usable, size=int(rng.integers(1, 3)), replace=False).tolist()
    for name in names:
        measure = measure + pick(rng, PENALTIES[name])
    return measure, tuple(names)


def _draw_folds(rng, rule, way, most):
    """Return the fold of each example; some only train."""
    if rule in ONE_FOLD or way == "full":
        n_training, n_calibration = int(rng.integers(2, 8)), int(rng.integers(1, 12))
        sizes = [n_calibration]
        if way == "full":
            return np.zeros(int(rng.integers(2, 7)), dtype=np.int64)
        return rng.permutation(np.repeat([-1, 0], [n_training, n_calibration]))
    n_folds = min(int(rng.choice([2, 2, 2, 3, 3, 4, 5])), most)
    sizes = rng.integers(1, 8, size=n_folds)
    sizes[:2] = np.maximum(sizes[:2], 2)  # measures learn from at least two examples
    return rng.permutation(np.repeat(np.arange(n_folds), sizes))


def _draw_values(rng):
    """Return the numbers that outputs are drawn from, and whether they are eighths."""
    kind = rng.choice(
        ["eighths", "few eighths", "zero-one", "one", "few", "many"],
        p=[0.3, 0.2, 0.1, 0.1, 0.2, 0.1],
    )
    eighths = np.arange(9) / 8
    if kind == "zero-one":
        return np.array([0.0, 1.0]), True
    if kind == "one":
        return rng.choice(eighths, size=1), True
    if kind == "few eighths":
        return np.sort(rng.choice(eighths, size=3)), True
    return (
        (eighths, True)
        if kind == "eighths"
        else (np.sort(rng.random(3 if kind == "few" else 40)), False)
    )


def _draw_labels(rng, X, constraints, empty, calibrating):
    """Return labels that obey the constraints: random, near the outputs, equal, or constant."""
    n, q = X.shape
    codes = allowed_codes(constraints, q)
    with_labels = [code for code in codes if code]
    labelsets = all_labelsets(q)[with_labels if rng.random() < 0.5 else codes]
    kind = rng.choice(["any", "near", "few"])
    odds = rng.gumbel(size=(n, len(labelsets)))
    if kind == "few":
        odds[:, rng.permutation(len(labelsets))[2:]] = -np.inf
    elif kind == "near":
        odds -= 2 * np.abs(labelsets[None] - X[:, None]).sum(axis=2)
    Y = labelsets[odds.argmax(axis=1)]
    # refused; where only some have no labels there is a warning
    if empty == "exclude" and not Y[calibrating].any():
        Y[calibrating] = all_labelsets(q)[with_labels[0]]
    return Y


def draw_constraints(rng, kind, q):
    """Return constraints of one kind that leave a labelset with labels."""
    if kind == "none":
        return []
    while True:
        kinds = [kind]
        if kind == "several":
            kinds = rng.choice(
                CONSTRAINTS[1:-1], size=int(rng.integers(2, 4)), replace=False
            ).tolist()
        drawn = [_draw_constraint(rng, one, q) for one in kinds]
        if any(allowed_codes(drawn, q)):  # a code above 0
            return drawn


def _draw_constraint(rng, kind, q):
    labels = rng.permutation(q).tolist()
    group = labels[: int(rng.integers(1, q + 1))]
    match kind:
        case "implies":
            return Implies(labels[0], labels[1 : 1 + int(rng.integers(1, q))])
        case "exclude":
            return Exclude(labels[: int(rng.integers(2, q + 1))])
        case "hierarchy":
            return Hierarchy(
                {
                    labels[j]: labels[int(rng.integers(j))]
                    for j in range(1, q)
                    if j == 1 or rng.integers(2)
                }
            )
        case "allowed":
            codes = rng.choice(2**q, size=int(rng.integers(1, 2**q + 1)), replace=False)
            return Allowed(all_labelsets(q)[codes])
    counted = {"exactly": Exactly, "at least": AtLeast, "at most": AtMost}[kind]
    return counted(int(rng.integers(len(group) + 1)), group)


def _draw_level(rng, n):
    """Return a fraction of small whole numbers: often a p-value of some rule."""
    below = int(rng.choice([n + 1, n + 1, 20, 10, 5, 4, 3, 2, rng.integers(2, 12)]))
    return Fraction(int(rng.integers(1, min(below, 7))), below)
