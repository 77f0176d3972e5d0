"""The words of ``labelsure compare``: confidence levels, learners, measures and guarantees, read without numpy."""

from argparse import ArgumentTypeError
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from math import isfinite
from typing import NamedTuple

LEARNERS = {
    "ml-rbf": "MLRBFClassifier",
    "ml-knn": "MLkNNClassifier",
    "bp-mll": "BPMLLClassifier",
    "ml-nb": "MLNBClassifier",
    "logistic": "logistic regression per label",
    "random-forest": "random forest, 200 trees",
    "extra-trees": "extremely randomised trees, 200 trees",
    "gradient-boosting": "gradient boosting on histograms per label",
    "svm": "support vector machine with a Gaussian kernel per label",
}
"""What can follow --learners, and what it is."""

OUT_OF_FOLD = "-oof"

BASES = {
    "power": "the paper's sum of powers of errors; the number is d",
    "log-loss": "minus the log-likelihood; the number is the least probability",
    "mahalanobis": "Mahalanobis distance of absolute errors",
    "signed": "Mahalanobis distance of signed errors",
    "label-wise": "p-values of the labels, combined",
    "mahalanobis-oof": "mahalanobis, learned from out-of-fold outputs",
    "signed-oof": "signed, learned from out-of-fold outputs",
    "label-wise-oof": "label-wise, learned from out-of-fold outputs",
    "forest": "log loss, mixed with the labelsets in the leaves of a forest",
    "max-norm": "the largest error",
    "auto": "chosen from several on the training part, stands alone",
}
"""What a measure can begin with."""

ADDENDS = {
    "pairs": "the paper's penalty for unseen pairs, with power only",
    "hp": "Hamming distance to the nearest training labelset",
    "cp": "rare numbers of labels",
    "unseen": "labelsets not seen in training",
    "prior": "minus the log of the labelset's frequency",
}
"""What can be added to it; the number is the weight."""

BASES_WITH_NUMBER = ("power", "log-loss")

INDUCTIVE = "inductive"

GUARANTEES = {
    "cross": "the paper's p-value, proven for about twice the error",
    "exact": "e-values merged, randomised",
    "exact-deterministic": "the running mean of e-values",
    "twice-mean": "twice the mean p-value",
    "e-mod": "twice the smallest running mean of p-values",
    "eu-mod": "the same, randomised",
    INDUCTIVE: "one model, 30 % of the training objects calibrate",
}
"""What can follow --guarantees, and what it is."""

WITHOUT_P_VALUES = ("exact", "exact-deterministic")
"""Guarantees of regions at a chosen level, which come without p-values."""


class Term(NamedTuple):
    """A part of a measure, with its number where one was given."""

    name: str
    number: float | None

    def __str__(self) -> str:
        return self.name if self.number is None else f"{self.name}:{self.number:g}"


def confidence_level(text: str) -> str:
    """Return a confidence level in percent in its shortest spelling.

    Examples
    --------
    >>> confidence_level("80"), confidence_level("99.50")
    ('80', '99.5')
    """
    try:
        level = Decimal(text.removesuffix("%").strip())
        valid = 0 < level < 100
    except InvalidOperation:
        valid = False
    if not valid:
        raise ArgumentTypeError(f"expected a confidence in percent between 0 and 100, such as 95, got {text!r}")
    if level < 1:
        raise ArgumentTypeError(f"expected a confidence in percent, got {text}: write {100 * level:f} for {text}")
    return f"{level.normalize():f}"


def significance_of(level: str) -> float:
    """Return the significance of a confidence level in percent.

    Examples
    --------
    >>> significance_of("90"), significance_of("99.5")
    (0.1, 0.005)
    """
    return float((100 - Decimal(level)) / 100)


def percentage(text: str) -> float:
    """Return a share in percent, between 0 and 100.

    Examples
    --------
    >>> percentage("67")
    67.0
    """
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = 0.0
    if not 0 < number < 100:
        raise ArgumentTypeError(f"expected a share in percent between 0 and 100, got {text!r}")
    return number


def learner_name(text: str) -> str:
    """Return the name of a learner."""
    return _known(text, LEARNERS, "learners")


def guarantee_name(text: str) -> str:
    """Return the name of a guarantee."""
    return _known(text, GUARANTEES, "guarantees")


def measure_name(text: str) -> str:
    """Return a measure in its shortest spelling.

    Examples
    --------
    >>> measure_name("log-loss+unseen:3.0")
    'log-loss+unseen:3'
    """
    return "+".join(map(str, read_measure(text)))


def read_measure(text: str) -> list[Term]:
    """Return the terms of a measure: what it begins with, and what is added.

    Examples
    --------
    >>> read_measure("power:2+pairs")
    [Term(name='power', number=2.0), Term(name='pairs', number=None)]
    """
    base, *addends = (_read_term(part) for part in text.split("+"))
    _known(base.name, BASES, "measures", whole=text)
    for addend in addends:
        _known(addend.name, ADDENDS, "parts that can be added to a measure", whole=text)
    if base.number is not None and base.name not in BASES_WITH_NUMBER:
        raise ArgumentTypeError(f"{base.name} takes no number, got {text!r}")
    if base.number == 0:
        raise ArgumentTypeError(f"expected a number above 0 after {base.name}:, got {text!r}")
    if base.name == "log-loss" and base.number is not None and base.number >= 0.5:
        raise ArgumentTypeError(f"expected a least probability below 0.5 after log-loss:, got {text!r}")
    if base.name == "auto" and addends:
        raise ArgumentTypeError(f"auto stands alone, it chooses penalties too, got {text!r}")
    names = [addend.name for addend in addends]
    if len(set(names)) < len(names):
        raise ArgumentTypeError(f"expected each part of a measure once, got {text!r}")
    if "pairs" in names and base.name != "power":
        raise ArgumentTypeError(f"pairs is a part of the paper's measure, power+pairs, got {text!r}")
    return [base, *addends]


def _read_term(text: str) -> Term:
    name, colon, number = text.strip().partition(":")
    if not colon:
        return Term(name, None)
    try:
        value = float(number)
        valid = value >= 0 and isfinite(value)
    except ValueError:
        valid = False
    if not valid:
        raise ArgumentTypeError(f"expected a number of at least 0 after {name}:, got {number!r}")
    return Term(name, value)


def _known(name: str, names: Iterable[str], kind: str, *, whole: str | None = None) -> str:
    """Return the name if it is among those there are, else say which there are."""
    names = list(names)
    if name in names:
        return name
    place = "" if whole in (None, name) else f" in {whole!r}"
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ArgumentTypeError(f"the {kind} are {', '.join(names)}, got {name!r}{place}{hint}")
