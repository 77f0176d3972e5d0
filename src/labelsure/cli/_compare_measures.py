"""The measures of ``labelsure compare``: what the words on the command line stand for."""

from collections.abc import Callable
from functools import reduce
from operator import add

from labelsure.cli._compare_words import OUT_OF_FOLD, Term, read_measure
from labelsure.conformal import AutoMeasure
from labelsure.measures import (
    CardinalityPenalty,
    ForestMeasure,
    HammingPenalty,
    LabelsetPrior,
    LabelWiseCombination,
    LogLossMeasure,
    MahalanobisMeasure,
    MaxNormMeasure,
    Measure,
    PowerMeasure,
    UnseenPenalty,
)

PENALTIES: dict[str, Callable[..., Measure]] = {
    "hp": HammingPenalty,
    "cp": CardinalityPenalty,
    "unseen": UnseenPenalty,
    "prior": LabelsetPrior,
}


def make_measure(name: str) -> Measure:
    """Return the unfitted measure with this name.

    Examples
    --------
    >>> make_measure("power:2+pairs")
    PowerMeasure(d=2.0, pair_penalty=1.0)
    """
    base, *addends = read_measure(name)
    pairs = next((1.0 if term.number is None else term.number for term in addends if term.name == "pairs"), 0.0)
    penalties = [_penalty(term) for term in addends if term.name != "pairs"]
    return reduce(add, penalties, _base(base, pair_penalty=pairs))


def _base(term: Term, *, pair_penalty: float) -> Measure:
    name, out_of_fold = term.name.removesuffix(OUT_OF_FOLD), term.name.endswith(OUT_OF_FOLD)
    measures = {
        "power": PowerMeasure(4 if term.number is None else term.number, pair_penalty=pair_penalty),
        "log-loss": LogLossMeasure() if term.number is None else LogLossMeasure(floor=term.number),
        "mahalanobis": MahalanobisMeasure("absolute", out_of_fold=out_of_fold),
        "signed": MahalanobisMeasure("signed", out_of_fold=out_of_fold),
        "label-wise": LabelWiseCombination(out_of_fold=out_of_fold),
        "forest": ForestMeasure(),
        "max-norm": MaxNormMeasure(),
        "auto": AutoMeasure(),
    }
    return measures[name]


def _penalty(term: Term) -> Measure:
    make = PENALTIES[term.name]
    return make() if term.number is None else make(term.number)
