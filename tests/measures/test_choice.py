"""What a choice says about itself."""

import numpy as np
import pandas as pd
import pytest

from labelsure.measures import ForestMeasure, LogLossMeasure, PowerMeasure, UnseenPenalty
from labelsure.measures._choice import MeasureChoice, MeasureChoices

CANDIDATES = (
    PowerMeasure(),
    ForestMeasure(),
    LogLossMeasure() + UnseenPenalty(2.0),
    LogLossMeasure(),
)
SIZES = np.array([[4000.0, 30.5], [np.nan, np.nan], [120.0, 7.25], [900.0, 12.0]])


def make_choice(sizes=SIZES, *, logarithmic=False):
    return MeasureChoice(
        CANDIDATES,
        sizes,
        significance=(0.05, 0.2),
        n_objects=200,
        n_examples=1350,
        logarithmic=logarithmic,
        skipped={1: "X must hold numbers."},
    )


def test_choice_prints_a_table_with_the_best_first():
    assert str(make_choice()).splitlines() == [
        "LogLossMeasure() + UnseenPenalty(weight=2.0) chosen from 4 candidates: the earliest within"
        " 0.05 bits of the smallest regions.",
        "Mean sizes of the regions of 200 of 1350 training examples, by significance:",
        "rank   0.05   0.2 bits",
        "   1 120.00  7.25 4.88 * LogLossMeasure() + UnseenPenalty(weight=2.0)",
        "   2 900.00 12.00 6.70   LogLossMeasure()",
        "   3   4000 30.50 8.45   PowerMeasure()",
        "not used: ForestMeasure(): X must hold numbers.",
    ]


@pytest.mark.parametrize(
    ("bits", "chosen"), [((1.2, 1.04, 1.0), 1), ((1.2, 1.06, 1.0), 2), ((1.04, 9.0, 1.0), 0)]
)
def test_losses_that_are_close_count_as_equal(bits, chosen):
    options = {"significance": [0.1], "n_objects": 4, "n_examples": 4}
    choice = MeasureChoice(
        [PowerMeasure(d) for d in (1, 2, 3)], np.array(bits)[:, None], logarithmic=True, **options
    )
    assert choice.chosen == chosen
    assert choice.ranking[0] == 2


def test_choice_says_when_sizes_are_logarithms():
    choice = make_choice(np.log2(SIZES), logarithmic=True)
    assert "\nMean log2 sizes of the regions" in str(choice)
    assert "   1  6.91 2.86 4.88 * LogLossMeasure() + " in str(choice)
    assert list(choice.to_frame().columns[1:3]) == ["log2_size_0.05", "log2_size_0.2"]


def test_choice_becomes_a_frame():
    frame = make_choice().to_frame()
    expected = pd.DataFrame(
        {
            "candidate": [repr(CANDIDATES[c]) for c in (2, 3, 0, 1)],
            "size_0.05": [120.0, 900.0, 4000.0, np.nan],
            "size_0.2": [7.25, 12.0, 30.5, np.nan],
            "loss": np.log2([120 * 7.25, 900 * 12, 4000 * 30.5, np.nan]) / 2,
            "chosen": [True, False, False, False],
            "reason": ["", "", "", "X must hold numbers."],
        }
    )
    pd.testing.assert_frame_equal(frame, expected)


def test_choices_count_and_print_all_folds():
    other = SIZES[[2, 1, 0, 3]]
    choices = MeasureChoices([make_choice(), make_choice(other), make_choice()])
    assert choices.counts == {repr(CANDIDATES[2]): 2, repr(CANDIDATES[0]): 1}
    assert (
        repr(choices)
        == "MeasureChoices(2 x LogLossMeasure() + UnseenPenalty(weight=2.0), 1 x PowerMeasure())"
    )
    lines = str(choices).splitlines()
    assert lines[0] == "2 of 3 folds chose LogLossMeasure() + UnseenPenalty(weight=2.0)"
    assert lines[1] == "1 of 3 folds chose PowerMeasure()"
    assert str(choices).count("by significance") == 3
    assert "fold 1: PowerMeasure() chosen from" in str(choices)


def test_choices_are_a_sequence():
    choices = MeasureChoices([make_choice(), make_choice(), make_choice()])
    assert len(choices) == 3
    assert choices[-1] is list(choices)[2]
    assert len(choices[1:]) == 2
    assert isinstance(choices[1:], MeasureChoices)
