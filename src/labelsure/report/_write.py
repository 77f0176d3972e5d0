"""Write a report: one file that holds everything."""

import os
from pathlib import Path
from typing import Any

from labelsure._checks import LabelMatrixLike
from labelsure._files import whole_file
from labelsure.predictions import LabelsetPredictions
from labelsure.report._facts import Facts
from labelsure.report._page import make_page
from labelsure.report._subject import check_subject


def write_report(
    path: str | os.PathLike[str],
    predictions: LabelsetPredictions,
    Y: LabelMatrixLike | None = None,
    *,
    predicted: LabelMatrixLike | None = None,
    alone: Any = None,
    objects: Any = None,
    groups: Any = None,
    title: str | None = None,
) -> Path:
    """Write one HTML page that tells whether predictions keep their promise, and what they say of each object.

    The page needs no network and no other file. A slider sets the confidence level; sentences,
    counts, tables, figures and the region of every object follow it, each number exact: the page
    holds, for each object and each thing that may be in its region, at which levels it is. The same
    input gives the same file.

    Parameters
    ----------
    path : str or path
        Where to write; a file that is there is replaced as soon as the new one is complete.
    predictions : LabelsetPredictions
        Of n objects that the predictor has not seen: what ``predict_labelsets`` returns.
    Y : array-like, sparse matrix or DataFrame of shape (n, q), or None
        The true labels, zeros and ones. Without them the page shows what can be shown.
    predicted : label matrix of shape (n, q) or None
        What ``predict`` returns, to show beside the most plausible labelsets; the page calls it
        predicted then.
    alone : array-like of shape (n, q) or None
        What the learner says alone, its outputs between 0 and 1, or its labels; compared with the
        truth only.
    objects : sequence of length n, or None
        What the objects are called; None: by their index where they came in a DataFrame, else 0, 1,
        ...
    groups : dict or DataFrame, or None
        Ways to divide the objects, to see whether regions hold the truth as often in each group:
        names of ways, and n groups each, numbers or texts. Only looked at where the truth is known.
    title : str or None
        The page's.

    Returns
    -------
    Path
        Of the file.

    Notes
    -----
    Where all labelsets can be looked at (up to 16 labels for 5 000 objects, up to 24 for 30) there
    are 189 levels, from 1 % to 99.9 %, and all sizes are counted. With more labels or more than 20
    000 objects, and for guarantees whose regions are made anew for each level, there are nine
    levels; sizes that would take too long to count are estimated for few objects and bounded for
    many, and the page says so. All objects are counted; the page's browser lists up to 10 000 of
    them, fewer with many labels. What takes longer than two seconds shows a progress bar on a
    terminal.

    Examples
    --------
    >>> import tempfile
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.report import write_report
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.4, 0.7]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(f"{folder}/report.html", predictions, [[1, 0], [0, 1]], objects=["first", "second"])
    ...     "Does it keep its promise?" in path.read_text(encoding="utf-8")
    True
    """
    destination = _check_path(path)
    subject = check_subject(predictions, Y, objects, groups, title, predicted, alone)
    page = make_page(Facts.gather(subject)).encode("utf-8", errors="xmlcharrefreplace")
    try:
        with whole_file(destination) as file:
            file.write(page)
    except OSError as error:
        error.filename = error.filename or str(destination)  # a full disk does not say whose it is
        raise
    return destination


def _check_path(path: Any) -> Path:
    """Return where to write, or say before any work why that cannot be."""
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"path must name a file, got {path!r}. Pass for instance 'report.html'.")
    destination = Path(path)
    if destination.is_dir():
        raise ValueError(
            f"path must name a file, got the folder {str(destination)!r}. Add a name:"
            f" 'report.html'."
        )
    if not destination.parent.is_dir():
        raise ValueError(f"The folder {str(destination.parent)!r} does not exist. Make it first.")
    return destination
