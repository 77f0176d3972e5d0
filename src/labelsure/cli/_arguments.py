"""Words of the command line that are more than text, read without numpy; each function is an argparse ``type``."""

import os
from argparse import ArgumentTypeError
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from pathlib import Path

from labelsure._files import full_path

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
    "pool": "the pool for tables: trees, boosting, a kernel machine and neighbours",
    "none": "how often each label is on in training, the object ignored",
}
"""What can follow --learner, and what it is."""

ALIASES = {"forest": "random-forest", "boosting": "gradient-boosting", "knn": "ml-knn"}
"""Shorter words for some of them."""

INDUCTIVE = "inductive"

PREDICT_FOR = ("auto", "exact-match", "hamming", "f1")
"""What can follow --predict-for: in Python a blank stands for the hyphen."""

GUARANTEES = {
    "cross": "the paper's p-value, proven for twice the level and a term for the number of folds",
    "exact": "mean of e-values, randomised",
    INDUCTIVE: "one model, 30 % of the training objects calibrate",
}
"""What can follow --guarantee, and what it is."""


def count(text: str) -> int:
    """Return a whole number of at least 1.

    Examples
    --------
    >>> count("3")
    3
    """
    number = _whole_number(text)
    if number < 1:
        raise ArgumentTypeError(f"expected at least 1, got {text}")
    return number


def jobs(text: str) -> int:
    """Return a number of jobs as joblib reads it: -1 for all cores, -2 for all but one, never more than there are.

    Examples
    --------
    >>> jobs("-1"), jobs("99999") == os.cpu_count()
    (-1, True)
    """
    number = _whole_number(text)
    if number == 0:
        raise ArgumentTypeError("expected the number of cores to use, or -1 for all of them, got 0")
    return min(number, os.cpu_count() or 1)


def seed(text: str) -> int:
    """Return a seed for everything that is drawn.

    Examples
    --------
    >>> seed("7")
    7
    """
    number = _whole_number(text)
    if not 0 <= number < 2**32:
        raise ArgumentTypeError(f"expected a whole number from 0 to {2**32 - 1}, got {text}")
    return number


def names(text: str) -> list[str]:
    """Return the names of columns in a list with commas between them.

    Examples
    --------
    >>> names("sea, city")
    ['sea', 'city']
    """
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise ArgumentTypeError(
            f"expected names of columns with commas between them, such as sea,city, got {text!r}"
        )
    return found


def output_file(text: str, *endings: str) -> Path:
    """Return the path of a file that can be written, so that a long run does not end with nowhere to write to."""
    path = full_path(text)
    if endings and path.suffix.lower() not in endings:
        raise ArgumentTypeError(
            f"expected a file that ends in {' or '.join(endings)}, got {text!r}"
        )
    if path.exists() and not path.is_file():
        raise ArgumentTypeError(
            f"expected a file to write, but {text} is none. Name a file in an existing folder"
        )
    if not path.parent.is_dir():
        raise ArgumentTypeError(
            f"there is no folder {path.parent} to write {path.name} to. Create it first"
        )
    if not os.access(path.parent, os.W_OK):
        raise ArgumentTypeError(
            f"the folder {path.parent} may not be written to. Choose another one"
        )
    if path.exists() and not os.access(path, os.W_OK):
        raise ArgumentTypeError(
            f"the file {path} may not be written to. Choose another one, or change its rights"
        )
    return path


def confidence_level(text: str) -> str:
    """Return a confidence level in percent in its shortest spelling.

    Examples
    --------
    >>> confidence_level("80"), confidence_level("99.50")
    ('80', '99.5')
    """
    level = _percent(text, "confidence")
    if level < 1:
        raise ArgumentTypeError(
            f"expected a confidence in percent, got {text}: write {(100 * level).normalize():f}"
            f" for {text}"
        )
    return f"{level.normalize():f}"


def significance_of(level: str) -> float:
    """Return the significance of a confidence level in percent.

    Examples
    --------
    >>> significance_of("90"), significance_of("99.5")
    (0.1, 0.005)
    """
    return float((100 - Decimal(level)) / 100)


def learner_name(text: str) -> str:
    """Return the name of a learner."""
    return _known(ALIASES.get(text, text), LEARNERS, "learners")


def guarantee_name(text: str) -> str:
    """Return the name of a guarantee."""
    return _known(text, GUARANTEES, "guarantees")


def measure_name(text: str) -> str:
    """Return the name of a measure in its shortest spelling.

    Examples
    --------
    >>> measure_name("log-loss+unseen:3.0")
    'log-loss+unseen:3'
    """
    from labelsure.measures import make_measure  # imports numpy
    from labelsure.measures._registry import spell_measure

    try:
        name = spell_measure(text)
        make_measure(name).check_parameters()
    except ValueError as error:
        raise ArgumentTypeError(f"{error} The measure was {text!r}") from None
    return name


def _known(name: str, names: Iterable[str], kind: str) -> str:
    """Return the name if it is among those there are, else say which there are."""
    names = list(names)
    if name in names:
        return name
    near = get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ArgumentTypeError(f"the {kind} are {', '.join(names)}, got {name!r}{hint}")


def _percent(text: str, what: str) -> Decimal:
    try:
        number = Decimal(text.removesuffix("%").strip())
        valid = 0 < number < 100
    except InvalidOperation:
        valid = False
    if not valid:
        raise ArgumentTypeError(
            f"expected a {what} in percent between 0 and 100, such as 95, got {text!r}"
        )
    return number


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, got {text!r}") from None
