"""Options of the command line: how values are parsed, without numpy, and the shared options."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from labelsure._files import full_path

# what can follow --learner, and what it is
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
ALIASES = {"forest": "random-forest", "boosting": "gradient-boosting", "knn": "ml-knn"}

MEASURE = "posterior"
INDUCTIVE = "inductive"
GUARANTEES = {
    "cross": "the paper's p-value, proven for twice the level and a term for the number of folds",
    "exact": "mean of e-values, randomised",
    INDUCTIVE: "one model, 30 % of the training objects calibrate",
}
PREDICT_FOR = ("auto", "exact-match", "hamming", "f1")  # in Python a blank stands for the hyphen

TABLE = "a CSV, Parquet, ARFF or libsvm file"


def option(
    parser: Any,
    flag: str,
    metavar: str,
    help_text: str,
    read: Callable[[str], Any] = str,
    **more: Any,
) -> None:
    """Add an option with a value, which ``read`` turns into what the command takes."""
    parser.add_argument(flag, metavar=metavar, help=help_text, type=read, **more)


def add_model_and_data(parser: ArgumentParser) -> None:
    """Add the two arguments that most commands have."""
    option(parser, "model", "MODEL", "a file that `labelsure fit` wrote", Path)
    option(parser, "data", "DATA", TABLE, Path)


def add_output(parser: ArgumentParser, about: str, *endings: str, required: bool = True) -> None:
    """Add the file to write."""
    read = file_with(*endings)
    parser.add_argument("-o", "--output", metavar="FILE", help=about, type=read, required=required)


def add_jobs(parser: ArgumentParser) -> None:
    """Add the number of cores."""
    option(parser, "--jobs", "N", "cores to use (default: all)", jobs, default=-1)


def add_predict_for(parser: ArgumentParser, default: str | None = None) -> None:
    """Add the metric that labels are to be good at."""
    usual = default or "as the model was saved"
    about = f"the metric that labels are chosen for (default: {usual})"
    parser.add_argument("--predict-for", choices=PREDICT_FOR, default=default, help=about)


def add_confidence(parser: ArgumentParser) -> None:
    """Add the confidence level and the number of labelsets to list."""
    about = "in percent (default: 95)"
    option(parser, "--confidence", "C", about, confidence_option, default="95")
    option(parser, "--top", "K", "labelsets listed (default: 5)", count, default=5)


def add_scheduler(parser: ArgumentParser) -> None:
    """Add the address of a Dask scheduler."""
    about = (
        "work on the Dask cluster of this scheduler, such as tcp://host:8786;"
        " --jobs is for what stays here"
    )
    option(parser, "--scheduler", "ADDRESS", about)


def add_learning(parser: ArgumentParser) -> None:
    """Add what every command that fits needs: the table's columns, the learner, seed and cores."""
    option(parser, "data", "DATA", TABLE, Path)
    chosen = parser.add_mutually_exclusive_group()
    about = "the columns of 0 and 1 that are labels, or 'label_*'"
    option(chosen, "--labels", "A,B,C", about, names)
    option(chosen, "--labels-from", "FILE", "a file that names them, one on each line", Path)
    about = "the one column of --labels holds names of labels with this between them"
    option(parser, "--separator", "TEXT", about)
    about = "columns that are categories although they look like numbers"
    option(parser, "--categorical", "A,B", about, names, default=[])
    option(parser, "--drop", "A,B", "columns to leave out", names, default=[])
    option(parser, "--text", "A,B", "columns to read as text (TF-IDF)", names, default=[])
    option(parser, "--learner", "NAME", "what learns (default: pool)", learner_name, default="pool")
    option(parser, "--seed", "N", "for everything drawn (default: 0)", seed, default=0)
    add_jobs(parser)


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
    """Return a number of jobs, at most one per core: -1 for all cores, -2 for all but one.

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
    columns = [name.strip() for name in text.split(",")]
    if not all(columns):
        raise ArgumentTypeError(
            f"expected names of columns with commas between them, such as sea,city, got {text!r}"
        )
    return columns


def file_with(*endings: str) -> Callable[[str], Path]:
    """Return what reads the path of an output with one of these endings."""
    return partial(output_file, endings=endings)


def output_file(text: str, endings: tuple[str, ...] = ()) -> Path:
    """Return the path of a writable file, so that a long run does not fail when it saves."""
    path = full_path(text)
    folder, problem = path.parent, None
    if endings and path.suffix.lower() not in endings:
        problem = f"expected a file that ends in {' or '.join(endings)}, got {text!r}"
    elif path.exists() and not path.is_file():
        problem = f"expected a file to write, but {text} is none. Name a file in an existing folder"
    elif not folder.is_dir():
        problem = f"there is no folder {folder} to write {path.name} to. Create it first"
    elif not os.access(folder, os.W_OK):
        problem = f"the folder {folder} may not be written to. Choose another one"
    elif path.exists() and not os.access(path, os.W_OK):
        problem = f"the file {path} may not be written to. Choose another one, or change its rights"
    if problem is not None:
        raise ArgumentTypeError(problem)
    return path


def confidence_option(text: str) -> str:
    """Return a confidence level in percent in its shortest spelling.

    Examples
    --------
    >>> confidence_option("80"), confidence_option("99.50")
    ('80', '99.5')
    """
    try:
        level = Decimal(text.removesuffix("%").strip())
        valid = 0 < level < 100
    except InvalidOperation:
        valid = False
    if not valid:
        raise ArgumentTypeError(
            f"expected a confidence in percent between 0 and 100, such as 95, got {text!r}"
        )
    if level < 1:
        meant = f"{(100 * level).normalize():f}"
        raise ArgumentTypeError(
            f"expected a confidence in percent, got {text}: write {meant} for {text}"
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
    if text == MEASURE:  # argparse reads the default too, and making a measure imports numpy
        return text
    from labelsure.measures import make_measure  # imports numpy
    from labelsure.measures._registry import spell_measure

    try:
        name = spell_measure(text)
        make_measure(name).check_parameters()
    except ValueError as error:
        raise ArgumentTypeError(f"{error} The measure was {text!r}") from None
    return name


def _known(name: str, known: Iterable[str], what: str) -> str:
    known = list(known)
    if name in known:
        return name
    near = get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ArgumentTypeError(f"the {what} are {', '.join(known)}, got {name!r}{hint}")


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a whole number, got {text!r}") from None
