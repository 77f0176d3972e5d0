"""Measures by name: the words that the command line, AutoMeasure and the documentation share, read without numpy."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import reduce
from math import inf, nan
from operator import add
from pkgutil import resolve_name
from typing import Any, NamedTuple

MANY_LABELS = 20
"""With more labels, many labelsets are new, joint models of the labels take long, and a few giant regions would decide
over a mean size."""

PAIR_LABELS = 100
"""With more labels penalties for pairs are not tried: on bibtex, with 159, the best labelset of some objects takes
minutes to find, and whoever predicts with what was chosen would wait for it."""


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
    number_means : str
        What that is.
    role : {"measure", "penalty", "option", "recipe"}
        A name begins with a measure or a recipe, which stands alone; penalties are added to it. An
        option sets a parameter of the word that the name begins with, where that makes the same
        class.
    base : str or None
        The name of the measure that the class is given as its ``base``, where it takes one.
    up_to : int or None
        ``AutoMeasure`` tries it with up to this many labels unless told otherwise; None: with any
        number.

    Examples
    --------
    >>> from labelsure.measures import MEASURES
    >>> MEASURES["log-loss"].description, MEASURES["log-loss"].number_means
    ('minus the log-likelihood', 'the least probability')
    """

    makes: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    number: str | None = None
    number_means: str = ""
    role: str = "measure"
    base: str | None = None
    up_to: int | None = None


OUT_OF_FOLD = {"out_of_fold": True}
ABSOLUTE = {"residuals": "absolute"}
LEAVES = {"min_samples_leaf": 5, "mix": 0.5}
WEIGHT: dict[str, Any] = {"number": "weight", "number_means": "the weight", "role": "penalty"}

MEASURES: dict[str, MeasureWord] = {
    "power": MeasureWord(
        "PowerMeasure",
        "the paper's sum of powers of errors",
        number="d",
        number_means="the power d",
    ),
    "log-loss": MeasureWord(
        "LogLossMeasure",
        "minus the log-likelihood",
        number="floor",
        number_means="the least probability",
    ),
    "posterior": MeasureWord(
        "PosteriorMeasure", "minus the log posterior probability, learned out of fold"
    ),
    "mahalanobis": MeasureWord(
        "MahalanobisMeasure", "Mahalanobis distance of absolute errors", ABSOLUTE
    ),
    "signed": MeasureWord("MahalanobisMeasure", "Mahalanobis distance of signed errors"),
    "label-wise": MeasureWord("LabelWiseCombination", "p-values of the labels, combined"),
    "mahalanobis-oof": MeasureWord(
        "MahalanobisMeasure",
        "mahalanobis, learned from out-of-fold outputs",
        ABSOLUTE | OUT_OF_FOLD,
    ),
    "signed-oof": MeasureWord(
        "MahalanobisMeasure",
        "signed, learned from out-of-fold outputs",
        OUT_OF_FOLD,
        up_to=MANY_LABELS,
    ),
    "label-wise-oof": MeasureWord(
        "LabelWiseCombination", "label-wise, learned from out-of-fold outputs", OUT_OF_FOLD
    ),
    "posterior-forest": MeasureWord(
        "ForestMeasure", "posterior, mixed with the labelsets in the leaves of a forest"
    ),
    "small-posterior-forest": MeasureWord(
        "ForestMeasure",
        "posterior-forest with 25 trees",
        {"n_estimators": 25},
        base="posterior",
        up_to=MANY_LABELS,
    ),
    "forest": MeasureWord(
        "ForestMeasure",
        "log loss, mixed with the labelsets in the leaves of a forest",
        LEAVES,
        base="log-loss",
    ),
    "small-forest": MeasureWord(
        "ForestMeasure",
        "forest with 100 trees, and 0.01 as the least probability",
        LEAVES | {"n_estimators": 100},
        base="log-loss:0.01",
        up_to=MANY_LABELS,
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
        number_means="the weight",
        role="option",
        up_to=PAIR_LABELS,
    ),
    "hp": MeasureWord(
        "HammingPenalty", "Hamming distance to the nearest training labelset", **WEIGHT
    ),
    "cp": MeasureWord("CardinalityPenalty", "rare numbers of labels", **WEIGHT),
    "unseen": MeasureWord("UnseenPenalty", "labelsets not seen in training", **WEIGHT),
    "prior": MeasureWord("LabelsetPrior", "minus the log of the labelset's frequency", **WEIGHT),
    "uniform-prior": MeasureWord(
        "LabelsetPrior",
        "prior with new labelsets all alike, for distances too",
        {"base": "uniform"},
        **WEIGHT,
    ),
}
"""What the name of a measure can be made of, see :func:`make_measure`. Own words may be added."""


class Term(NamedTuple):
    """A word in the name of a measure, with its number where one was given."""

    name: str
    number: float | None

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}:{self.number:g}"


def make_measure(name: str) -> Any:
    """Return the unfitted measure with this name: words with ``+`` between them, numbers after colons.

    Parameters
    ----------
    name : str
        Such as "power:2+pairs" or "log-loss:0.01+unseen:3"; ``MEASURES`` lists the words.

    Returns
    -------
    Measure or AutoMeasure

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
    """Return the measures with these names; parts that they have in common are the same objects."""
    made: dict[str, Any] = {}
    return [_make(name, made) for name in names]


def _make(name: str, made: dict[str, Any]) -> Any:
    """Return the measure with this name, of parts in ``made`` where they are there, else put into it."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for term in read_measure(name):
        word = MEASURES[term.name]
        parameters = dict(word.parameters)
        if word.base is not None:
            parameters["base"] = _make(word.base, made)
        if word.number is not None and term.number is not None:
            parameters[word.number] = term.number
        if word.role == "option":
            calls[0][1].update(parameters)
        else:
            calls.append((word.makes, parameters))
    for path, parameters in calls:
        if f"{path} {parameters}" not in made:
            make = resolve_name(path if ":" in path else f"labelsure.measures:{path}")
            made[f"{path} {parameters}"] = make(**parameters)
    return reduce(add, [made[f"{path} {parameters}"] for path, parameters in calls])


def spell_measure(name: str) -> str:
    """Return the name of a measure in its shortest spelling, or say what is wrong with it.

    Examples
    --------
    >>> from labelsure.measures._registry import spell_measure
    >>> spell_measure("log-loss + unseen:3.0")
    'log-loss+unseen:3'
    """
    return "+".join(map(str, read_measure(name)))


def read_measure(name: str) -> list[Term]:
    """Return the words of a name: what it begins with, and what is added.

    Examples
    --------
    >>> read_measure("power:2+pairs")
    [Term(name='power', number=2.0), Term(name='pairs', number=None)]
    """
    if not isinstance(name, str):
        raise ValueError(
            f"The name of a measure must be a text such as 'power:2+pairs', got {name!r}."
        )
    terms = [_read_term(text, name, first=n == 0) for n, text in enumerate(name.split("+"))]
    base, *added = (term.name for term in terms)
    if MEASURES[base].role == "recipe" and added:
        raise ValueError(f"{base} stands alone, it chooses penalties too, got {name!r}.")
    if len(set(added)) < len(added):
        raise ValueError(f"Each part of a measure must be there once, got {name!r}.")
    for word in added:
        makes = MEASURES[word].makes
        if MEASURES[word].role == "option" and makes != MEASURES[base].makes:
            owner = next(other for other, entry in MEASURES.items() if entry.makes == makes)
            raise ValueError(f"{word} is a part of {owner}, {owner}+{word}, got {name!r}.")
    return terms


def _read_term(text: str, whole: str, *, first: bool) -> Term:
    """Return a part of a name, the first or one that is added, or say what is wrong with it."""
    name, colon, number = text.strip().partition(":")
    kind, roles = "measures", ("measure", "recipe")
    if not first:
        kind, roles = "parts that can be added to a measure", ("option", "penalty")
    names = [word for word, entry in MEASURES.items() if entry.role in roles]
    if name not in names:
        place = "" if whole == name else f" in {whole!r}"
        near = get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"The {kind} are {', '.join(names)}, got {name!r}{place}{hint}")
    if not colon:
        return Term(name, None)
    if MEASURES[name].number is None:
        raise ValueError(f"{name} takes no number, got {whole!r}.")
    try:
        value = float(number)
    except ValueError:
        value = nan
    if not 0 <= value < inf:
        raise ValueError(f"A number of at least 0 must follow {name}:, got {number!r}.")
    return Term(name, value)
