"""How many yes/no answers settle an object, or make its labels certain?"""

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils.parallel import Parallel, delayed

from benchmarks._answers import Picture, Table
from benchmarks._data import load_if_there
from benchmarks._figures import Figure
from labelsure import CrossConformalClassifier, LabelsetPredictions, table_pool
from labelsure.measures._labelset_bits import decode
from labelsure.metrics import answers_needed
from labelsure.predictions._questions import Members, Questions

TITLE = "Questions"
PARTS = ("emotions", "scene", "yeast", "birds", "medical", "enron", "bibtex")
SEEDS = {
    name: (1,) if name in ("medical", "enron", "bibtex") else (1, 2, 3, 4, 5) for name in PARTS
}
POOLED = ("emotions", "scene", "yeast", "birds")
N_TRAINING, N_OBJECTS, N_FOLDS = 1500, 200, 5
LEVELS, CERTAIN_LEVELS = (0.95, 0.9, 0.8), (0.98, 0.95, 0.9)
LABELSET_COSTS = (1.0, 2.0, 3.0)
CERTAIN_FROM = {1.0: 0.98, 2.0: 0.95}
"""The region that certain labels are asked from: a wider one where labelsets are cheap to judge."""

MOST_ENUMERATED = 20
BLOCK_OBJECTS = 10
METHOD = (
    "Random resplits with the seeds 1 to 5 (one of medical, enron and bibtex): two thirds of a set"
    f" for training, at most {N_TRAINING}, and {N_OBJECTS} objects. Extra trees (100, at least 2"
    f" examples in a leaf, 0.3 of the features) in {N_FOLDS} folds with the default measure. A"
    " truthful reviewer answers `region[i].questions()`; costs are means per object, with standard"
    " errors over resplits, an answer about a label being 1. Settled: one labelset of the region is"
    " left, or none. Certain: a labelset was confirmed, or all labels are known; from a region at"
    " 98 % where judging a labelset costs 1, at 95 % where it costs 2. Beside it: asking all"
    " labels; having the best labelset judged and each of its mistakes corrected, as if one look"
    " showed them all; and asking for the label with the most uncertain marginal until the"
    " posterior probability of a labelset reaches the level, which promises nothing. Figures with a"
    " limit are means less two standard errors."
)
LIMITS = {
    "yeast": {"labels": (10.5, 6.9, 5.6), "both": (5.5, 5.1, 4.5), "certain": (5.9, 11.0)},
    "scene": {"labels": (1.3, 0.9, 0.35), "both": (1.15, 0.9, 0.35), "certain": (2.2, 3.5)},
    "emotions": {"labels": (3.9, 3.4, 2.6), "both": (3.0, 2.8, 2.4), "certain": (3.5, 5.8)},
    "birds": {"certain": (5.2, 7.1)},
}

ALL_LABELS = "asking all labels"
DRAWN = "yeast"

Array = np.ndarray[Any, Any]
Ways = dict[str, dict[str, Array]]


def measure(part: str) -> list[Figure | Table | Picture]:
    """Return a set's costs: limits kept, a table of means, and the share of objects settled."""
    found = play_resplits(part, ExtraTreesClassifier(100, min_samples_leaf=2, max_features=0.3))
    pooled = None
    if part in POOLED:
        pooled = play_resplits(part, table_pool(), only_certain=True)
    rows = [[part, way, *summary(values)] for way, values in found.items()]
    rows += [
        [part, f"{way}, table_pool()", *summary(values)] for way, values in (pooled or {}).items()
    ]
    columns = [
        "set",
        "until, asking",
        "labels",
        "labelsets",
        "cost",
        "standard error",
        "settled and wrong",
    ]
    return [
        *limits_kept(part, found, pooled),
        Table("Answers per object", columns, rows),
        *([draw_shares(part, found)] if part == DRAWN else []),
    ]


def limits_kept(part: str, found: Ways, pooled: Ways | None) -> Iterator[Figure]:
    """Yield the figures that have a limit, and those with table_pool(), which are to be less."""
    limits = LIMITS.get(part, {})
    for key, cost in (("labels", inf), ("both", 1.0)):
        for level, most in zip(LEVELS, limits.get(key, ()), strict=False):
            yield Figure(
                f"{part}: {settled(level, cost)}",
                low_end(found[settled(level, cost)]),
                "answers",
                at_most=most,
            )
    for cost, most in zip(LABELSET_COSTS, limits.get("certain", ()), strict=False):
        way = certain(CERTAIN_FROM[cost], cost)
        yield Figure(f"{part}: {way}", low_end(found[way]), "answers", at_most=most)
        if pooled is not None:
            gain = float(np.mean(pooled[way]["costs"]) - np.mean(found[way]["costs"]))
            yield Figure(
                f"{part}: {way}, table_pool() less extra trees", gain, "answers", at_most=0.0
            )


def settled(level: float, cost: float) -> str:
    """Return the name of asking until an object is settled."""
    return (
        f"settled at {100 * level:.0f} %,"
        f" {'labels only' if cost == inf else f'a labelset costs {cost:g}'}"
    )


def certain(level: float, cost: float) -> str:
    """Return the name of asking until labels are certain."""
    return f"certain, from {100 * level:.0f} %, a labelset costs {cost:g}"


def summary(values: dict[str, Array]) -> list[str]:
    """Return means over objects and resplits: labels, labelsets, cost (with error), wrong."""
    means = [mean(values[name], 2) for name in ("labels", "labelsets", "costs")]
    error = f"{standard_error(values['costs']):.2f}" if len(values["costs"]) > 1 else ""
    return [*means, error, mean(values["wrong"], 3)]


def mean(values: Array, digits: int) -> str:
    """Return the mean of what is known as a text, "" where nothing is."""
    return "" if np.isnan(values).all() else f"{np.nanmean(values):.{digits}f}"


def standard_error(values: Array) -> float:
    """Return that of the mean over resplits, the rows; 0 for one."""
    means = np.nanmean(values, axis=1)
    return float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else 0.0


def low_end(values: dict[str, Array]) -> float:
    """Return the mean cost less two standard errors."""
    return float(np.mean(values["costs"]) - 2 * standard_error(values["costs"]))


def draw_shares(part: str, found: Ways) -> Picture:
    """Return the share of objects that are done after so many answers, by way of asking."""
    ways = {
        "settled at 90 %, labels only": settled(0.9, inf),
        **{
            f"certain, a labelset costs {cost:g}": certain(level, cost)
            for cost, level in CERTAIN_FROM.items()
        },
        **{f"correcting the best, costs {cost:g}": correcting(cost) for cost in CERTAIN_FROM},
        "asking label by label": ALL_LABELS,
    }
    n_labels = int(found[ALL_LABELS]["costs"][0, 0])
    x = list(range(n_labels + 3))
    shares = {
        name: [100 * float(np.mean(found[way]["costs"] <= cost)) for cost in x]
        for name, way in ways.items()
    }
    title = f"{part}, {n_labels} labels: objects done"
    return Picture(
        "questions", title, "answers given about an object", "% of the objects", x, shares, "linear"
    )


def correcting(cost: float) -> str:
    """Return the name of correcting the most plausible labelset."""
    return f"correcting the best labelset, which costs {cost:g} to judge"


def play_resplits(name: str, learner: Any, *, only_certain: bool = False) -> Ways:
    """Return the answers of every way to ask, (resplits, objects)."""
    tasks = []
    for seed in SEEDS[name]:
        predictions, Y = predict(name, seed, learner)
        for start in range(0, len(Y), BLOCK_OBJECTS):
            rows = slice(start, start + BLOCK_OBJECTS)
            levels = sorted({*LEVELS, *CERTAIN_LEVELS})
            tasks += [(seed, predictions[rows], Y[rows], level) for level in levels]
    played = Parallel(n_jobs=-1)(
        delayed(play)(*task, only_certain=only_certain) for _, *task in tasks
    )
    ways: dict[str, dict[int, list[dict[str, Array]]]] = {}
    for (seed, *_), found in zip(tasks, played, strict=True):
        for way, values in found.items():
            ways.setdefault(way, {}).setdefault(seed, []).append(values)
    return {way: _join(list(ways[way].values())) for way in sorted(ways)}


def _join(resplits: list[list[dict[str, Array]]]) -> dict[str, Array]:
    """Return the values of all objects, one row per resplit."""
    names = resplits[0][0]
    return {
        name: np.array([np.concatenate([block[name] for block in blocks]) for blocks in resplits])
        for name in names
    }


def predict(name: str, seed: int, learner: Any) -> tuple[LabelsetPredictions, Array]:
    """Return predictions for the objects of a resplit, and their labels."""
    data = load_if_there(name)
    parts = [
        part.toarray() if sparse.issparse(part) else np.asarray(part)
        for part in (data.X_train, data.X_test)
    ]
    X, Y = np.concatenate(parts), np.concatenate([data.Y_train, data.Y_test]).astype(int)
    n_training = min(N_TRAINING, 2 * len(X) // 3)
    order = np.random.default_rng(seed).permutation(len(X))
    training, objects = order[:n_training], order[n_training : n_training + N_OBJECTS]
    seeded = clone(learner)
    if "random_state" in seeded.get_params():
        seeded.set_params(random_state=seed)
    model = CrossConformalClassifier(seeded, cv=N_FOLDS, random_state=seed, n_jobs=-1).fit(
        X[training], Y[training]
    )
    return model.predict_labelsets(X[objects]), Y[objects]


def play(
    predictions: LabelsetPredictions, Y: Array, level: float, *, only_certain: bool
) -> dict[str, dict[str, Array]]:
    """Return the answers that each object takes from the region at one level, by way of asking."""
    region, found = predictions.region(confidence=level), {}
    if level in CERTAIN_LEVELS:
        for cost in LABELSET_COSTS:
            found[certain(level, cost)] = answers(region, Y, True, cost)
    if only_certain:
        return found
    if level in LEVELS:
        for cost in (inf, 1.0):
            found[settled(level, cost)] = answers(region, Y, False, cost)
        bits = np.where(np.isinf(region.expected_answers), np.nan, region.expected_answers)
        unknown = np.full(len(Y), np.nan)
        entropy = {"labels": unknown, "labelsets": unknown, "costs": bits, "wrong": unknown}
        found[f"entropy of the weights at {100 * level:.0f} %, bits"] = entropy
        if Y.shape[1] <= MOST_ENUMERATED:
            found[f"most uncertain marginal, posterior {100 * level:.0f} %"] = by_marginals(
                predictions, Y, level
            )
    if level == CERTAIN_LEVELS[0]:
        found[ALL_LABELS] = costs_only(np.full(len(Y), float(Y.shape[1])))
        mistakes = (predictions.labelsets != Y).sum(axis=1)
        for cost in LABELSET_COSTS:
            found[correcting(cost)] = {
                "labels": mistakes,
                "labelsets": np.ones(len(Y)),
                "costs": cost + mistakes,
            }
            found[correcting(cost)]["wrong"] = np.zeros(len(Y))
    return found


def answers(region: Any, Y: Array, to_the_end: bool, cost: float) -> dict[str, Array]:
    """Return what a truthful reviewer answers."""
    needed = answers_needed(region, Y, certain=to_the_end, labelset_cost=cost)
    counts = {"labels": needed.labels, "labelsets": needed.labelsets, "costs": needed.costs}
    return counts | {"wrong": needed.wrong.astype(float)}


def costs_only(costs: Array) -> dict[str, Array]:
    """Return costs that are answers about labels; none is wrong."""
    return {
        "labels": costs,
        "labelsets": np.zeros(len(costs)),
        "costs": costs,
        "wrong": np.zeros(len(costs)),
    }


def by_marginals(predictions: LabelsetPredictions, Y: Array, level: float) -> dict[str, Array]:
    """Return the answers, and errors, of asking by marginals up to a posterior probability."""
    labelsets = decode(np.arange(2 ** Y.shape[1]), Y.shape[1])
    counts, wrong = np.zeros(len(Y)), np.zeros(len(Y))
    for i, truth in enumerate(Y):
        posterior = predictions._posterior
        assert posterior is not None
        members = Members.of(labelsets, posterior.log_probabilities(labelsets, i))
        asking = Questions(
            lambda _, members=members: members, predictions.label_names, labelset_cost=inf
        )
        while asking.question is not None and asking._now.members.weights.max() < level:
            asking.answer(asking.question.answer_for(truth))
        counts[i], wrong[i] = asking.n_labels, not np.array_equal(asking.labelset, truth)
    return costs_only(counts) | {"wrong": wrong}
