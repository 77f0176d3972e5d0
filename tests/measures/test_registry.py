"""Measures by name."""

import pytest
from sklearn.base import clone

import labelsure.measures
from labelsure.measures import (
    MEASURES,
    AutoMeasure,
    CardinalityPenalty,
    FunctionMeasure,
    HammingPenalty,
    LabelsetPrior,
    LabelWiseCombination,
    LogLossMeasure,
    MahalanobisMeasure,
    Measure,
    MeasureSum,
    MeasureWord,
    PowerMeasure,
    UnseenPenalty,
    default_candidates,
    make_measure,
)

FIRST = [name for name, word in MEASURES.items() if word.role in ("measure", "recipe")]
NAMES = [*FIRST, *(f"power+{name}:0.5" for name in MEASURES if name not in FIRST)]


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("power", PowerMeasure(d=4)),
        ("power:2+pairs", PowerMeasure(d=2.0, pair_penalty=1.0)),
        ("power+pairs:0.5", PowerMeasure(pair_penalty=0.5)),
        ("log-loss:0.01+prior", LogLossMeasure(floor=0.01) + LabelsetPrior()),
        ("auto", AutoMeasure()),
        ("mahalanobis", MahalanobisMeasure("absolute")),
        ("mahalanobis-oof", MahalanobisMeasure("absolute", out_of_fold=True)),
        ("signed-oof", MahalanobisMeasure("signed", out_of_fold=True)),
        ("label-wise-oof", LabelWiseCombination(out_of_fold=True)),
        ("signed+hp", MahalanobisMeasure("signed") + HammingPenalty(2.0)),
        (
            "signed+uniform-prior:0.5",
            MahalanobisMeasure("signed") + LabelsetPrior(0.5, base="uniform"),
        ),
        ("log-loss+unseen:3+cp", LogLossMeasure() + UnseenPenalty(3.0) + CardinalityPenalty()),
        ("power+prior:2+pairs", PowerMeasure(pair_penalty=1.0) + LabelsetPrior(2.0)),
    ],
)
def test_make_measure_makes_what_the_name_says(name, measure):
    assert repr(make_measure(name)) == repr(measure)


@pytest.mark.parametrize("name", NAMES)
def test_make_measure_makes_another_one_of_every_word(name):
    made = make_measure(name)
    made.check_parameters(5)
    assert repr(clone(made)) not in [repr(make_measure(other)) for other in NAMES if other != name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("powers", "The measures are power, .*, got 'powers'; did you mean 'power'"),
        (
            "power+pair",
            r"parts that can be added to a measure are pairs, .*, got 'pair' in 'power\+pair'",
        ),
        ("hp+power", "got 'hp' in"),
        ("power:x", "A number of at least 0 must follow power:, got 'x'"),
        ("signed:2", "signed takes no number"),
        ("auto:2", "auto takes no number"),
        ("auto+hp", "auto stands alone"),
        ("log-loss+pairs", r"pairs is a part of power, power\+pairs, got"),
        ("power+hp:1+hp:2", "Each part of a measure must be there once"),
        ("power+unseen:-1", "at least 0"),
        ("power:inf", "got 'inf'"),
        ("signed+prior", "can only be added to penalties"),
        ("", "The measures are"),
    ],
)
def test_make_measure_says_what_is_wrong_with_a_name(name, message):
    with pytest.raises(ValueError, match=message):
        make_measure(name)


def test_registry_has_a_word_for_every_measure():
    public = [getattr(labelsure.measures, name) for name in labelsure.measures.__all__]
    measures = {one for one in public if isinstance(one, type) and issubclass(one, Measure)}
    without = {Measure, MeasureSum, FunctionMeasure}  # what cannot be said in a word
    assert {type(make_measure(name)) for name in MEASURES if name in FIRST} | {
        type(make_measure(f"power+{name}").second)
        for name, word in MEASURES.items()
        if word.role == "penalty"
    } == measures - without | {AutoMeasure}


def test_registry_takes_words_of_others(monkeypatch):
    monkeypatch.setitem(
        MEASURES, "square", MeasureWord("labelsure:PowerMeasure", "squares", {"d": 2})
    )
    assert repr(make_measure("square+hp:1")) == "PowerMeasure(d=2) + HammingPenalty(weight=1.0)"


def test_candidates_follow_the_number_of_labels():
    few, many = (list(map(repr, default_candidates(n_labels))) for n_labels in (20, 21))
    assert "Forest" in few[0]
    assert many == few[1:]
