"""What regions promise, and at which levels they cannot promise anything."""

import pickle
from fractions import Fraction

import pytest

from labelsure.predictions import Guarantee, NoGuarantee, as_promised

FEW = Guarantee("x", as_promised, "luck", "somebody", vacuous_below=Fraction(1, 20), n_calibration=19)
LIMIT = "every labelset is in every region below significance 0.05: the level asked for cannot be reached."


@pytest.mark.parametrize(("level", "reached"), [(0.05, True), (1 - 0.95, True), (0.0499, False), (0.9, True)])
def test_guarantee_reaches_levels_from_its_limit_on(level, reached):
    assert FEW.reaches(level) is reached
    assert (LIMIT in FEW.sentence(level)) is not reached
    assert Guarantee("x", as_promised, "luck", "somebody").reaches(level)


def test_guarantee_says_why_a_level_cannot_be_reached():
    proven = (
        "A region at significance 0.01 misses the true labelset with probability at most 0.01, for luck (somebody)."
    )
    assert FEW.sentence(0.01) == f"{proven} With 19 calibration examples {LIMIT}"
    unknown = Guarantee("x", as_promised, "luck", "somebody", "Truly.", vacuous_below=Fraction(1, 20))
    assert unknown.sentence(0.01) == f"{proven} Truly. With so few calibration examples {LIMIT}"
    assert Guarantee("x", as_promised, "luck", "somebody").limit == ""


def test_guarantee_bounds_are_at_most_one_and_survive_pickling():
    twice = Guarantee("x", as_promised, "luck", "somebody")
    assert "at most 0.9," in twice.sentence(0.9)
    assert pickle.loads(pickle.dumps(FEW)) == FEW
    beyond = Guarantee("x", lambda level: 3 * level, "luck", "somebody")
    assert "probability at most 1, for luck" in beyond.sentence(0.5)


def test_no_guarantee_has_no_limit():
    nothing = NoGuarantee("coins")
    assert nothing.sentence(0.1) == "Nothing is proven about coins."
    assert (nothing.vacuous_below, nothing.limit) == (None, "")
