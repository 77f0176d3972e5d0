"""A hundred thousand cases of everything that can be combined, every answer against brute force.

Every measure with every rule, taxonomy and kind of constraint, in turn; sums of measures, sparse
and dense outputs, classifiers and ready-made outputs, unknown labels, treatments of the empty
labelset, odd data. A case is a configuration and an engine: tables, searches, or searches whose
budgets are spent at once.

``make validity`` runs all of them, CI the first of each kind. One that fails is named with the line
that runs it alone.
"""

from collections import Counter

import pytest
from exact_cases import (
    CONSTRAINTS,
    FULL,
    KINDS,
    OBJECTS,
    ONE_FOLD,
    PENALTIES,
    RULES,
    TAXONOMIES,
    cells,
    draw_case,
    possible,
)
from exact_checks import check_case
from score_formulas import FORMULAS

from labelsure import engine, measures
from labelsure.conformal import GUARANTEES
from labelsure.measures import MEASURES

N_CHUNKS, CHUNK, LEAST = 50, 1040, 2000
N_QUICK, N_GROUPS = 1000, 8

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be reached")

ALONE = (
    'PYTHONPATH=src:tests:tests/exactness python -c "from exact_checks import *; check_number({})"'
)


def compare(numbers):
    """Check configurations; return how many cases they were."""
    wrong, n_cases = [], 0
    for number in numbers:
        case = draw_case(number)
        n_cases += len(case.engines)
        try:
            check_case(case)
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error).strip()[:300]}"
            wrong.append(f"{case.name}: {reason}\n  {ALONE.format(number)}")
    assert not wrong, "\n".join(wrong)
    return n_cases


@pytest.mark.parametrize("group", range(N_GROUPS))
def test_answers_of_random_configurations_equal_brute_force(group):
    compare(range(group, N_QUICK, N_GROUPS))


def test_forced_regions_hold_the_best_labelset_only_where_they_are_empty():
    """A region under a draw may lack the most plausible labelset and hold others."""
    compare([3423])


@pytest.mark.validity
@pytest.mark.parametrize("chunk", range(N_CHUNKS))
def test_answers_of_a_hundred_thousand_cases_equal_brute_force(chunk):
    assert compare(range(chunk * CHUNK, (chunk + 1) * CHUNK)) >= LEAST


def test_cells_are_all_that_can_be_combined():
    """Each (measure, rule, taxonomy, constraint) occurs several times in 100 000 cases."""
    assert N_CHUNKS * LEAST == 10**5
    assert 7 * len(cells()) <= N_CHUNKS * CHUNK  # those with trees every fourth time
    choices = len(KINDS) * len(RULES) * len(TAXONOMIES) * len(CONSTRAINTS)
    assert choices / 2 < len(set(cells())) < choices
    missing = [
        (measure, rule, taxonomy)
        for measure in KINDS
        for rule in RULES
        for taxonomy in TAXONOMIES
        if not possible(measure, rule, taxonomy)
    ]
    assert {rule for _, rule, taxonomy in missing if taxonomy == "none"} == set(FULL)
    assert {rule for _, rule, taxonomy in missing if taxonomy == "cardinality"} == {
        *FULL,
        "weighted",
    }


def test_kinds_are_all_that_the_package_has():
    """Whoever adds a measure, a guarantee or a kind of constraint is reminded of brute force."""
    classes = {name for name in measures.__all__ if isinstance(getattr(measures, name), type)}
    concrete = {
        name for name in classes if name.endswith(("Measure", "Penalty", "Prior", "Combination"))
    }
    assert concrete - {"Measure", "AutoMeasure", "CountedPrior"} == set(FORMULAS) - {"Lopsided"}
    assert {word.makes for word in MEASURES.values()} <= {*FORMULAS, "AutoMeasure"}
    assert set(GUARANTEES) == set(RULES) - {*ONE_FOLD, *FULL, "smoothed cross"}
    constraints = {"Implies", "Exclude", "Hierarchy", "Allowed", "Exactly", "AtLeast", "AtMost"}
    assert {name for name in dir(engine) if isinstance(getattr(engine, name), type)} >= constraints
    assert {name.replace(" ", "") for name in CONSTRAINTS} - {"none", "several"} == {
        one.lower() for one in constraints
    }


def test_draws_hold_what_they_are_meant_to():
    """No vacuous comparisons: calls, penalties, empty labelsets and odd data all occur."""
    seen = Counter()
    for case in map(draw_case, range(len(cells()))):
        assert (case.measure_name, case.rule, case.taxonomy, case.constraint) == cells()[
            case.number
        ]
        seen.update((case.measure_name, penalty) for penalty in case.penalties)
        seen.update(
            [
                (case.way, case.empty),
                (case.way, case.rule),
                (case.measure_name, case.way),
                case.engines,
            ]
        )
        seen.update(
            [("alone", case.alone), ("incomplete", case.incomplete), ("labels", case.Y.shape[1])]
        )
        seen.update(
            [
                ("never on", not case.Y.any(axis=0).all()),
                ("always on", bool(case.Y.all(axis=0).any())),
            ]
        )
        seen.update([("one row", 1 in Counter(case.fold_of.tolist()).values())])
        seen.update([("values", len(set(case.outputs.ravel().tolist())))])
    for name, kind in KINDS.items():
        added = {penalty for penalty in PENALTIES if seen[name, penalty]}
        assert added == (
            set(PENALTIES) - ({"prior"} if kind.root else set()) if kind.grows else set()
        )
        assert bool(seen[name, "sparse"]) == (kind.takes < OBJECTS)
    for way in ("outputs", "classifier"):
        assert all(seen[way, rule] for rule in RULES if rule not in FULL)
    for way in ("outputs", "sparse", "classifier", "full"):
        assert all(seen[way, empty] for empty in ("auto", "allow", "exclude"))
    odd = [(what, True) for what in ("alone", "incomplete", "never on", "always on", "one row")]
    engines = [("search", "pinched"), ("table", "search"), ("table",)]
    for what in (
        *odd,
        *engines,
        ("values", 1),
        ("values", 2),
        *(("labels", q) for q in range(1, 11)),
    ):
        assert seen[what] >= 5, what
