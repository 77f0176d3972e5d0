"""Queries every answer of a configuration and compares it with brute force."""

import warnings
from typing import NamedTuple

import brute_rules
import numpy as np
from brute_rules import PValues, rank
from exact_builds import build, build_full, codes_of, rule_of
from exact_cases import FULL, draw_case
from score_formulas import all_labelsets


def check_case(case):
    """Compare every answer of every engine, objects in a batch or singly; raise on a difference."""
    everyone = np.arange(len(case.X_new))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        built = (build_full if case.rule in FULL else build)(case)
        for rows in everyone[:, None] if case.alone else [everyone]:
            truth = Truth.of(case, built, rows)
            for engine in case.engines:
                taken = case.number % 2  # predicted alone, or taken from the predictions of all
                pred = (
                    built.predict(everyone, engine)[rows] if taken else built.predict(rows, engine)
                )
                check_answers(case, engine, truth, pred)


def check_number(number):
    """Check one configuration by number, and say which it was."""
    case = draw_case(number)
    print(case.name)  # noqa: T201
    check_case(case)


class Truth(NamedTuple):
    """What brute force says of some objects."""

    table: np.ndarray  # p-values by code, 0 for those that are no candidates
    ranked: list
    decided: brute_rules.Decided
    candidates: np.ndarray

    @classmethod
    def of(cls, case, built, rows):
        shown = PValues(built.shown.numerators[rows], built.shown.denominators[rows])
        ranked = [
            rank(shown.numerators[i], built.totals[rows[i]], built.candidates)
            for i in range(len(rows))
        ]
        folds = [
            fold._replace(new=fold.new[rows], wanted=fold.wanted[rows]) for fold in built.folds
        ]
        decided = brute_rules.decide(rule_of(case), folds, built.draws[rows], shown, case.level)
        return cls(
            np.where(built.candidates, shown.floats(), 0.0), ranked, decided, built.candidates
        )

    @property
    def labelsets(self):
        return all_labelsets(self.table.shape[1].bit_length() - 1)


def check_answers(case, engine, truth, pred):
    """Compare what predictions say."""
    table, labelsets = truth.table, truth.labelsets
    rng = np.random.default_rng(case.number)
    if engine == "pinched":
        check_bounds(pred, truth)
    else:
        assert np.array_equal(pred.candidates(), labelsets[truth.candidates])
        same(pred.p_values(), table[:, truth.candidates])
        check_best(pred, truth, n_best=int(rng.integers(1, 9)))
        if case.number % 8 == 3:
            check_masses(pred, truth)
    asked = rng.integers(len(labelsets), size=len(table))
    same(pred.p_value(labelsets[asked]), table[np.arange(len(table)), asked])
    forced = bool(rng.integers(4) == 0) and engine != "pinched"  # whose best need not be the best
    region = pred.region(float(case.level), force_nonempty=forced)
    members, settled = members_of(region, truth)
    held = region.contains(labelsets[asked])
    assert np.array_equal(held[settled], members[np.arange(len(table)), asked][settled])
    (check_size_bounds if engine == "pinched" else check_sizes)(region, members, settled)
    if engine != "pinched" and settled.any():
        # lists take as long as all the rest
        chosen = int(np.flatnonzero(settled)[case.number % settled.sum()])
        check_members(case, region, chosen, members[chosen], truth)


def members_of(region, truth):
    """Return who is a member, (n, 2^q), and for which objects all of them are settled."""
    members, close = (
        truth.candidates & truth.decided.members,
        truth.candidates & truth.decided.close,
    )
    for i, one in enumerate(truth.ranked):
        if region.force_nonempty and not members[i].any():
            members[i, one.codes[0]] = True
    return members, ~close.any(axis=1)


def same(answers, expected):
    """Refuse p-values that differ in any bit."""
    assert np.array_equal(answers, expected), (answers, expected)


def check_best(pred, truth, *, n_best):
    """The best labelset, the top k, confidence, credibility, p-values of labels."""
    ranked, table = truth.ranked, truth.table
    n_listed = min(n_best, len(ranked[0].codes))
    codes = np.array([one.codes[:n_listed] for one in ranked])
    padded = np.pad(
        np.take_along_axis(table, np.array([one.codes for one in ranked]), axis=1), ((0, 0), (0, 9))
    )
    top = pred.top(n_best)
    assert np.array_equal(codes_of(top.labelsets[:, :n_listed]), codes)
    same(top.p_values, padded[:, :n_best])
    assert pred.certain.all()
    assert np.array_equal(codes_of(pred.labelsets), codes[:, 0])
    same(pred.credibility, padded[:, 0])
    same(pred.confidence, 1 - padded[:, 1])
    same(pred.label_p_values, highest_of_labels(truth))


def check_masses(pred, truth):
    """The share of all p-values by label; sums of floats, so not equal to the last bit."""
    total = truth.table.sum(axis=1, keepdims=True)
    shares = np.divide(
        truth.table @ truth.labelsets,
        total,
        out=np.zeros((len(total), truth.labelsets.shape[1])),
        where=total > 0,
    )
    np.testing.assert_allclose(pred.rank_labels(method="mass"), shares, rtol=0, atol=1e-6)


def highest_of_labels(truth):
    """The highest p-value with each label off and on, (n, q, 2)."""
    table, labelsets = truth.table, truth.labelsets
    highest = [
        [table[:, labelsets[:, j] == on].max(axis=1) for on in (0, 1)]
        for j in range(labelsets.shape[1])
    ]
    return np.moveaxis(np.array(highest), 2, 0)


def check_bounds(pred, truth):
    """What searches say whose budgets are spent: nothing that is not so."""
    best = np.array([one.codes[0] for one in truth.ranked])
    ordered = -np.sort(-np.pad(truth.table, ((0, 0), (0, 1))), axis=1)
    assert np.array_equal(codes_of(pred.labelsets)[pred.certain], best[pred.certain])
    assert (pred.credibility <= ordered[:, 0]).all()
    assert (pred.confidence <= 1 - ordered[:, 1]).all()
    assert (pred.label_p_values >= highest_of_labels(truth)).all()


def check_size_bounds(region, members, settled):
    """Sizes that could not be counted lie between their bounds, and these in order."""
    for i in np.flatnonzero(settled):
        size = region.size_estimates[i]
        assert size.at_least <= members[i].sum() <= size.at_most
        assert size.at_least <= size.low <= size.value <= size.high <= size.at_most


def check_sizes(region, members, settled):
    """Sizes, and the labels in all and in some members."""
    assert region.sizes[settled].tolist() == members.sum(axis=1)[settled].tolist()
    assert all(size.exact for size in region.size_estimates)
    labelsets = all_labelsets(members.shape[1].bit_length() - 1)
    for i in np.flatnonzero(settled):
        own = labelsets[members[i]]
        assert np.array_equal(region.outer[i], own.any(axis=0))
        assert np.array_equal(region.inner[i], own.all(axis=0) & (len(own) > 0))


def check_members(case, region, i, members, truth):
    """The members of one object's region, all or the first three, in their order, and iterated."""
    limit = [None, 3][case.number // 2 % 2]
    listed = region[i].members(limit=limit)
    codes = codes_of(listed.labelsets)
    assert len(codes) == min(int(members.sum()), limit or 2**10)
    assert len(set(codes.tolist())) == len(codes)
    assert members[codes].all()
    same(listed.p_values, truth.table[i, codes])
    ranks = truth.decided.ranks[i]
    if np.issubdtype(ranks.dtype, np.integer):  # by p-value
        assert (
            codes.tolist()
            == [code for code in truth.ranked[i].codes.tolist() if members[code]][: len(codes)]
        )
    else:  # by the sum that decides at this level
        others = np.setdiff1d(np.flatnonzero(members), codes)
        assert (np.diff(ranks[codes]) <= brute_rules.CLOSE).all()
        assert (
            ranks[others].max(initial=-np.inf)
            <= ranks[codes].min(initial=np.inf) + brute_rules.CLOSE
        )
    if case.number % 4 == 1:
        iterated = np.array(list(region[i])).reshape(-1, truth.labelsets.shape[1])
        assert sorted(codes_of(iterated).tolist()) == np.flatnonzero(members).tolist()
