"""Whatever the input, questions take no more than their budgets: evaluations and draws are
counted, not seconds.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelsure.engine import _search
from labelsure.engine._estimate import RegionDraws
from labelsure.engine._fold_arrays import Fold
from labelsure.engine._fold_engine import FoldEngine
from labelsure.engine._results import EngineOptions, NotAllListedError
from labelsure.engine._search import LEVELS, MANY, MEMBER_BUDGET, Search
from labelsure.engine._walk_kernels import WORK
from labelsure.measures._energy import Energy

OPTIONS = EngineOptions(
    first_budget=500, best_budget=3000, count_budget=4000, list_budget=4000, chunk=64,
    list_bytes=100_000
)  # fmt: skip
LAST_LISTS = 4
"""How many lists of labels searches may finish beyond their budgets; each asks a few questions of
every label.
"""

MOST_DRAWS = 120_000
"""Of two estimates, to one bit and to what is asked for: from the cover, and from probabilities
fitted twice.
"""

KINDS = ("plain", "outliers", "ties", "constant", "dense", "pairs", "outliers with pairs")


@st.composite
def engines(draw):
    """Return engines of one object: models that agree about an ordinary one, and not at all about
    an outlier.
    """
    kind, n_labels, n_folds = (
        draw(st.sampled_from(KINDS)),
        draw(st.integers(26, 70)),
        draw(st.integers(1, 5)),
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ordinary = rng.normal(2**28 if kind != "dense" else 0, 2**28, size=n_labels)
    folds = []
    for _ in range(n_folds):
        noise = 3 * 2**30 if "outliers" in kind else 2**25
        unary = (ordinary + rng.normal(0, noise, size=n_labels)).astype(np.int64)
        if kind in ("ties", "constant"):
            unary = (
                np.where(rng.random(n_labels) < 0.5, 1, 2)
                if kind == "ties"
                else np.ones(n_labels, dtype=np.int64)
            )
        pairs = (
            rng.integers(-(2**28), 2**28, size=(n_labels, n_labels)) if "pairs" in kind else None
        )
        energy = Energy(np.array([-np.minimum(unary, 0).sum()]), unary[None], pairs)
        scores = rng.integers(0, np.abs(unary).sum(), size=40)
        folds.append(Fold(np.sort(scores), energy))
    return FoldEngine(folds, allow_empty=draw(st.booleans()), options=OPTIONS)


class Counter:
    """Counts the evaluations of all searches, and the draws."""

    def __init__(self, patch):
        self.work = self.draws = self.n_calls = 0
        patch.setattr(_search, "ROUGH_BUDGET", 500)
        patch.setattr(_search, "START_BUDGET", 500)
        whole = Search._search

        def search(*args, **kwargs):
            numbers = args[4].numbers
            before = numbers[:, WORK].sum()
            whole(*args, **kwargs)
            self.work += int(numbers[:, WORK].sum() - before)
            self.n_calls += 1

        patch.setattr(Search, "_search", search)
        members = RegionDraws.members

        def counted(draws, flips, **options):
            self.draws += len(flips)
            return members(draws, flips, **options)

        patch.setattr(RegionDraws, "members", counted)

    def spent_by(self, question):
        """Return the answer, and the evaluations and draws that it took."""
        self.work = self.draws = 0
        answer = question()
        return answer, self.work, self.draws


def members_of(engine, smallest, most):
    """Return the members that iteration yields, about ``most``, and whether these are all."""
    found, n_found = [], 0
    try:
        for labelsets, numerators in engine.iterate_members(0, smallest):
            assert (numerators >= smallest).all()
            found += map(bytes, labelsets)
            n_found += len(labelsets)
            if n_found >= most:
                return found, False
    except NotAllListedError as error:
        assert f"found {n_found}, spent its budget" in str(error)
        return found, False
    return found, True


@given(engines(), st.sampled_from([0.02, 0.1, 0.5]))
@settings(max_examples=30)
def test_listing_a_region_takes_no_more_work_than_budgets_allow(engine, level):
    lists = LAST_LISTS * engine.n_labels * (5 + len(engine.folds))
    smallest = int(engine.smallest_member(Fraction(level))[0])
    most = OPTIONS.list_bytes // (engine.n_labels + 24)
    with pytest.MonkeyPatch.context() as patch:
        counter = Counter(patch)
        (found, finished), work, _ = counter.spent_by(lambda: members_of(engine, smallest, most))
        assert work <= OPTIONS.list_budget + MEMBER_BUDGET * (len(found) + OPTIONS.chunk) + lists
        assert len(set(found)) == len(found)
        if finished:
            listed, work, _ = counter.spent_by(lambda: engine.region_members(0, smallest, None))
            assert sorted(found) == sorted(map(bytes, listed[0]))
        else:
            with pytest.raises(ValueError, match=r"limit="):
                engine.region_members(0, smallest, None)
        assert work <= OPTIONS.list_budget + MEMBER_BUDGET * (most + OPTIONS.chunk) + lists


@given(engines(), st.sampled_from([0.02, 0.1, 0.5]), st.sampled_from([0.1, 1.0]))
@settings(max_examples=60)
def test_no_input_takes_more_work_than_budgets_allow(engine, level, bits):
    lists = LAST_LISTS * engine.n_labels * (5 + len(engine.folds))
    with pytest.MonkeyPatch.context() as patch:
        counter = Counter(patch)
        for n_best in (1, 5, 200):
            best, work, _ = counter.spent_by(lambda n_best=n_best: engine.top(n_best))
            # where many are asked for, searches for a limit come first: two, or counts and one for
            # the best of all
            most = OPTIONS.first_budget + OPTIONS.best_budget
            if n_best > MANY:
                most += most + LEVELS * (8 * n_best + OPTIONS.first_budget + lists)
            assert work <= most + 2 * lists
            assert (best.upper >= best.numerators).all()
            assert not best.certain[0] or (best.upper == best.numerators).all()
        smallest = engine.smallest_member(Fraction(level))
        most_for_a_start = OPTIONS.first_budget + OPTIONS.best_budget
        (size,), work, draws = counter.spent_by(lambda: engine.region_sizes(smallest, bits=bits))
        assert work <= 500 + OPTIONS.count_budget + most_for_a_start + 2 * lists
        assert draws <= MOST_DRAWS
        assert size.at_least <= size.low <= size.value <= size.high <= size.at_most
        numerators, work, _ = counter.spent_by(engine.label_numerators)
        more = 2 * lists * engine.n_labels if engine.arrays.has_pairs else engine.n_labels + 1
        assert work <= OPTIONS.best_budget + more  # each search takes one evaluation at least
        assert (numerators.max(axis=2) >= best.numerators[0, 0]).all()
        _, work, draws = counter.spent_by(lambda: engine.numerators_of(best.labelsets[:, 0]))
        assert work == draws == 0
    assert counter.n_calls > 0
