"""Measures by name: the words that the command line, AutoMeasure and the documentation share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import reduce
from math import inf, nan
from operator import add
from pkgutil import resolve_name
from typing import Any

MANY_LABELS = 20
"""With more labels, many labelsets are new, joint models of the labels take long, and a few giant
regions would decide over a mean size."""


@dataclass(frozen=True)
class MeasureWord:
    """What a word stands for in the name of a measure.

    Attributes
    ----------
    makes : str
        The class: one of this package, or ``"package.module:Class"``; imported when it is first
        used.
    description : str
        One line.
    parameters : mapping of str to anything
        What the class is called with.
    number : str or None
        The parameter that a number after a colon sets; None: no number may follow.
    role : {"measure", "penalty", "option", "recipe"}
        A name begins with a measure or a recipe, which stands alone; penalties are added to it. An
        option sets a parameter of the word that the name begins with, where that makes the same
        class.
    base : str or None
        The name of the measure that the class is given as its ``base``, where it takes one.

    Examples
    --------
    >>> from labelsure.measures import MEASURES
    >>> MEASURES["log-loss"].description, MEASURES["log-loss"].number
    ('minus the log-likelihood', 'floor')
    """

    makes: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    number: str | None = None
    role: str = "measure"
    base: str | None = None


def _penalty(makes: str, description: str, **parameters: Any) -> MeasureWord:
    return MeasureWord(makes, description, parameters, number="weight", role="penalty")


def _forest(description: str, base: str | None = None, **parameters: Any) -> MeasureWord:
    return MeasureWord("ForestMeasure", description, parameters, base=base)


def _distance(description: str, **parameters: Any) -> MeasureWord:
    return MeasureWord("MahalanobisMeasure", description, parameters)


MEASURES: dict[str, MeasureWord] = {
    "power": MeasureWord("PowerMeasure", "the paper's sum of powers of errors", number="d"),
    "log-loss": MeasureWord("LogLossMeasure", "minus the log-likelihood", number="floor"),
    "posterior": MeasureWord(
        "PosteriorMeasure", "minus the log posterior probability, learned out of fold"
    ),
    "mahalanobis": _distance("Mahalanobis distance of absolute errors", residuals="absolute"),
    "signed": _distance("Mahalanobis distance of signed errors"),
    "label-wise": MeasureWord("LabelWiseCombination", "p-values of the labels, combined"),
    "mahalanobis-oof": _distance(
        "mahalanobis, learned from out-of-fold outputs", residuals="absolute", out_of_fold=True
    ),
    "signed-oof": _distance("signed, learned from out-of-fold outputs", out_of_fold=True),
    "label-wise-oof": MeasureWord(
        "LabelWiseCombination",
        "label-wise, learned from out-of-fold outputs",
        {"out_of_fold": True},
    ),
    "posterior-forest": _forest("posterior, mixed with the labelsets in the leaves of a forest"),
    "small-posterior-forest": _forest(
        "posterior-forest with 25 trees", "posterior", n_estimators=25
    ),
    "forest": _forest(
        "log loss, mixed with the labelsets in the leaves of a forest",
        "log-loss",
        min_samples_leaf=5,
        mix=0.5,
    ),
    "small-forest": _forest(
        "forest with 100 trees, and 0.01 as the least probability",
        "log-loss:0.01",
        min_samples_leaf=5,
        mix=0.5,
        n_estimators=100,
    ),
    "frequency": MeasureWord(
        "LabelsetPrior", "how common the labelset is in training, the object ignored"
    ),
    "max-norm": MeasureWord("MaxNormMeasure", "the largest error"),
    "auto": MeasureWord(
        "AutoMeasure", "chosen from several on the training part, stands alone", role="recipe"
    ),
    "pairs": MeasureWord(
        "PowerMeasure",
        "the paper's penalty for unseen pairs, with power only",
        {"pair_penalty": 1.0},
        number="pair_penalty",
        role="option",
    ),
    "hp": _penalty("HammingPenalty", "Hamming distance to the nearest training labelset"),
    "cp": _penalty("CardinalityPenalty", "rare numbers of labels"),
    "unseen": _penalty("UnseenPenalty", "labelsets not seen in training"),
    "prior": _penalty("LabelsetPrior", "minus the log of the labelset's frequency"),
    "uniform-prior": _penalty(
        "LabelsetPrior", "prior with new labelsets all alike, for distances too", base="uniform"
    ),
}
"""What the name of a measure can consist of, see :func:`make_measure`. You may add words."""


def make_measure(name: str) -> Any:
    """Return the unfitted measure with this name: words joined by ``+``, numbers after colons.

    Parameters
    ----------
    name : str
        Such as "power:2+pairs" or "log-loss:0.01+unseen:3"; ``MEASURES`` lists the words.

    Returns
    -------
    Measure

    Examples
    --------
    >>> from labelsure.measures import make_measure
    >>> make_measure("log-loss:0.01+prior:0.5")
    LogLossMeasure(floor=0.01) + LabelsetPrior(weight=0.5)
    >>> make_measure("power:2+pairs")
    PowerMeasure(d=2.0, pair_penalty=1.0)
    """
    return make_measures([name])[0]


def make_measures(names: Iterable[str]) -> list[Any]:
    """Return the measures with these names; terms that they share are the same objects."""
    made: dict[str, Any] = {}
    return [_make(name, made) for name in names]


def _make(name: str, made: dict[str, Any]) -> Any:
    """Return the measure with this name, its terms taken from ``made`` or added to it."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for term, number in read_measure(name).items():
        word = MEASURES[term]
        parameters = dict(word.parameters)
        if word.base is not None:
            parameters["base"] = _make(word.base, made)
        if word.number is not None and number is not None:
            parameters[word.number] = number
        if word.role == "option":
            calls[0][1].update(parameters)
        else:
            calls.append((word.makes, parameters))
    terms = []
    for path, parameters in calls:
        key = f"{path} {parameters}"
        if key not in made:
            make = resolve_name(path if ":" in path else f"labelsure.measures:{path}")
            made[key] = make(**parameters)
        terms.append(made[key])
    return reduce(add, terms)


def spell_measure(name: str) -> str:
    """Return the name of a measure in its shortest spelling, or say what is wrong with it.

    Examples
    --------
    >>> from labelsure.measures._registry import spell_measure
    >>> spell_measure("log-loss + unseen:3.0")
    'log-loss+unseen:3'
    """
    terms = read_measure(name).items()
    return "+".join(term if number is None else f"{term}:{number:g}" for term, number in terms)


def read_measure(name: str) -> dict[str, float | None]:
    """Return the words of a name in their order, each with its number or None.

    Examples
    --------
    >>> read_measure("power:2+pairs")
    {'power': 2.0, 'pairs': None}
    """
    if not isinstance(name, str):
        raise ValueError(
            f"The name of a measure must be a text such as 'power:2+pairs', got {name!r}."
        )
    terms = [_read_term(text, name, first=n == 0) for n, text in enumerate(name.split("+"))]
    base, *added = (term for term, _ in terms)
    if MEASURES[base].role == "recipe" and added:
        raise ValueError(f"{base} stands alone, it chooses penalties too, got {name!r}.")
    if len(set(added)) < len(added):
        raise ValueError(f"Each part of a measure must be there once, got {name!r}.")
    for word in added:
        makes = MEASURES[word].makes
        if MEASURES[word].role == "option" and makes != MEASURES[base].makes:
            owner = next(other for other, entry in MEASURES.items() if entry.makes == makes)
            raise ValueError(f"{word} is a part of {owner}, {owner}+{word}, got {name!r}.")
    return dict(terms)


def _read_term(text: str, whole: str, *, first: bool) -> tuple[str, float | None]:
    """Return a term of a name, the first one or one that is added, or say what is wrong with it."""
    name, colon, number = text.strip().partition(":")
    roles = ("measure", "recipe") if first else ("option", "penalty")
    names = [word for word, entry in MEASURES.items() if entry.role in roles]
    if name not in names:
        what = "measures" if first else "parts that can be added to a measure"
        where = "" if whole == name else f" in {whole!r}"
        near = get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"The {what} are {', '.join(names)}, got {name!r}{where}{hint}")
    if not colon:
        return name, None
    if MEASURES[name].number is None:
        raise ValueError(f"{name} takes no number, got {whole!r}.")
    try:
        value = float(number)
    except ValueError:
        value = nan
    if not 0 <= value < inf:
        raise ValueError(f"A number of at least 0 must follow {name}:, got {number!r}.")
    return name, value
