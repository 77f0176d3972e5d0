"""Write a report: one page that holds everything, put together here."""

import base64
import json
import os
import re
import zlib
from importlib.resources import files
from math import isclose
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from labelsure._checks import BoolArray, FloatArray, LabelMatrix, LabelMatrixLike
from labelsure._files import whole_file
from labelsure._version import __version__
from labelsure.metrics._point import point_measures
from labelsure.predictions import Guarantee, LabelsetPredictions, NoGuarantee
from labelsure.report import _tables as tables
from labelsure.report._counts import Counts, limits_of
from labelsure.report._singles import (
    ALPHAS,
    accept,
    brier_score,
    count_answers,
    say_what_wrapping_did,
)
from labelsure.report._subject import Subject, check_subject
from labelsure.report._words import amount, describe, percent

N_BARS = 20  # of the histograms of confidence and credibility
# the significance of regions from which labels become certain: benchmarks/questions.py compares
# it with others
WIDE = 0.02

# what the page's script reads: p-values in units of 1 / SHADES, only to be shown; arrays that
# start at multiples of ALIGNMENT bytes, and what they are called in JavaScript
SHADES = 10_000
ALIGNMENT = 8
KINDS = {"|u1": "Uint8Array", "<u2": "Uint16Array", "<u4": "Uint32Array", "<f8": "Float64Array"}


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
    """Write one HTML page that tells whether predictions keep their promise, and shows each object.

    The page needs no network and no other file. A slider sets the confidence level; sentences,
    counts, tables, figures and the region of every object follow it, each number exact: the page
    holds, for each object and each thing that may be in its region, at which levels it is. The same
    input gives the same file.

    Parameters
    ----------
    path : str or path
        Where to write; an existing file is replaced as soon as the new one is complete.
    predictions : LabelsetPredictions
        Of n objects that the predictor has not seen: what ``predict_labelsets`` returns.
    Y : array-like, sparse matrix or DataFrame of shape (n, q), or None
        The true labels, zeros and ones. Without them the page shows what can be shown.
    predicted : label matrix of shape (n, q) or None
        What ``predict`` returns, to show beside the most plausible labelsets; the page then calls
        it predicted.
    alone : array-like of shape (n, q) or None
        What the learner says alone, its outputs between 0 and 1, or its labels; only compared with
        the truth.
    objects : sequence of length n, or None
        The names of the objects; None for their index if they came in a DataFrame, else 0, 1, ...
    groups : dict or DataFrame, or None
        Ways to divide the objects, to see whether regions hold the truth as often in each group:
        names of ways, and n groups each, numbers or texts. Only used if the truth is known.
    title : str or None
        The page's.

    Returns
    -------
    Path
        Of the file.

    Notes
    -----
    If all labelsets can be listed (up to 16 labels for 5 000 objects, up to 24 for 30) there are
    189 levels, from 1 % to 99.9 %, and all sizes are counted. With more labels or more than 20 000
    objects, and for guarantees whose regions are made anew for each level, there are nine levels;
    sizes that would take too long to count are estimated for few objects and bounded for many, and
    the page says so. All objects are counted; the page's browser lists up to 10 000 of them, fewer
    with many labels. What takes longer than two seconds shows a progress bar on a terminal.

    Examples
    --------
    >>> import tempfile
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.report import write_report
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> predictor = calibrate_outputs(outputs, Y)
    >>> predictions = predictor.predict_labelsets([[0.8, 0.3], [0.4, 0.7]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(
    ...         f"{folder}/report.html", predictions, [[1, 0], [0, 1]], objects=["first", "second"]
    ...     )
    ...     "Does it keep its promise?" in path.read_text(encoding="utf-8")
    True
    """
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
    subject = check_subject(predictions, Y, predicted, alone, objects, groups, title)
    page = make_page(subject).encode("utf-8", errors="xmlcharrefreplace")
    try:
        with whole_file(destination) as file:
            file.write(page)
    except OSError as error:
        error.filename = error.filename or str(destination)  # a full disk does not name the file
        raise
    return destination


def make_page(subject: Subject) -> str:
    """Return the whole page.

    Sentences are escaped here, tables where they are made; the rest are files of ours and base64.
    """
    predictions, truth = subject.predictions, subject.truth
    counts = Counts(subject)
    truth_p_values, right = None, None
    if truth is not None:
        truth_p_values = predictions.p_value(truth)
        right = (predictions.labelsets == truth).all(axis=1)
    acceptance = None if right is None else accept(predictions.confidence, right)
    facts = _gather_facts(subject, counts, right)
    arrays = _gather_arrays(subject, counts)
    if truth_p_values is not None:
        arrays["truthPValues"] = _in_shades(truth_p_values[counts.shown])
    if acceptance is not None:
        arrays["accepted"] = acceptance.codes[counts.shown].astype(np.uint8)
        facts["alphas"] = ALPHAS
    is_proven = any(point["proven"] is not None for point in facts["calibration"])
    parts = {
        **{name: tables.text(words) for name, words in facts["words"][facts["start"]].items()},
        "title": tables.text(subject.title),
        "made": f"labelsure {__version__}",
        "n_objects": amount(len(subject), "object"),
        "n_labels": amount(len(subject.label_names), "label"),
        "level": percent(counts.levels.per_mille[facts["start"]]),
        "start": str(facts["start"]),
        "n_levels": str(len(counts.levels)),
        "last_level": str(len(counts.levels) - 1),
        "proven_line": " The dotted line is what is proven." if is_proven else "",
        "sizes_table": tables.sizes_table(facts),
        "labels_table": tables.labels_table(facts),
        "groups_tables": tables.groups_tables(facts),
        "confidence_table": tables.bars_table(facts, "confidence"),
        "credibility_table": tables.bars_table(facts, "credibility"),
        "hardest_tables": tables.hardest_tables(subject, counts.best, truth_p_values),
        "of_several": "" if truth is None else " of several objects",
        "browser_notes": _browser_notes(subject, len(counts.shown)),
        "css": read_asset("report.css"),
        "script": read_asset("report.js"),
        "licences": read_asset("vega/LICENSES.txt"),
        "vega": _deflate(read_asset("vega/vega-bundle.js").encode()),
        "data": _pack(facts, arrays),
    }
    chosen = {"nested" if counts.levels.nested else "remade", counts.size_kind}
    chosen.add("unselected" if acceptance is None else "selected")
    chosen.add("unlabelled" if truth is None else "labelled")
    if truth is not None:
        comparison = [tables.text(sentence) for sentence in _compare(subject, truth, counts)]
        parts["single_table"] = tables.single_table(_judge_singles(subject, truth))
        parts["comparison"] = "".join(f"<p>{sentence}</p>" for sentence in comparison)
        parts["calibration_table"] = tables.calibration_table(facts)
    if acceptance is not None:
        parts |= tables.accepted_parts(acceptance)
    page = re.sub(
        r"<!--(\w+)-->(.*?)<!--end-->",
        lambda match: match[2] if match[1] in chosen else "",
        read_asset("page.html"),
        flags=re.DOTALL,
    )
    return Template(page).substitute(parts)


def read_asset(name: str) -> str:
    """Return the text of a file in the folder assets.

    Examples
    --------
    >>> read_asset("page.html").splitlines()[0]
    '<!DOCTYPE html>'
    """
    asset = files("labelsure.report").joinpath("assets", *name.split("/"))
    return asset.read_text(encoding="utf-8")


def _gather_facts(subject: Subject, counts: Counts, right: BoolArray | None) -> dict[str, Any]:
    """Return what the page shows, for the script as JSON and for the tables alike."""
    predictions = subject.predictions
    truth = subject.truth
    levels = counts.levels
    guarantee = predictions.guarantee
    figures = ("calibration", "sizes", "histogram", "groups")
    return {
        "nObjects": len(subject),
        "labels": subject.label_names,
        "names": [subject.names[i] for i in counts.shown.tolist()],
        "labelled": truth is not None,
        "perMille": levels.per_mille,
        "nested": levels.nested,
        "sizeKind": counts.size_kind,
        "sizesInBytes": levels.sizes == "table",
        "start": levels.start(guarantee),
        "shades": SHADES,
        "words": [
            describe(counts, place, guarantee, truth is not None) for place in range(len(levels))
        ],
        "bins": counts.bins,
        "shownBins": counts.shown_bins,
        "sizeCounts": counts.sizes.tolist(),
        "labelCounts": counts.labels.tolist(),
        "labelTrue": None if truth is None else truth.sum(axis=0, dtype=np.int64).tolist(),
        "labelPredicted": subject.answers.sum(axis=0, dtype=np.int64).tolist(),
        "groups": [
            {
                "by": group.by,
                "names": group.names,
                "objects": group.n_objects.tolist(),
                "covered": group.n_covered.tolist(),
                **_limits(group.n_covered, group.n_objects, 4),
            }
            for group in counts.groups
        ],
        "calibration": [] if truth is None else _calibration(counts, guarantee),
        "bars": {
            name: _bars(getattr(predictions, name), right) for name in ("confidence", "credibility")
        },
        "specs": {name: json.loads(read_asset(f"{name}.vl.json")) for name in figures},
        "theme": json.loads(read_asset("theme.vl.json")),
        "alphas": [],
    }


def _limits(n_covered: Any, n_objects: Any, digits: int) -> dict[str, Any]:
    low, high = limits_of(n_covered, n_objects)
    return {"low": low.round(digits).tolist(), "high": high.round(digits).tolist()}


def _calibration(counts: Counts, guarantee: Guarantee | NoGuarantee) -> list[dict[str, Any]]:
    """Return the coverage at each level with its interval, beside the level and what is proven."""
    n_objects = counts.sizes.sum(axis=1)
    limits = _limits(counts.covered, n_objects, 5)
    points = []
    for i, significance in enumerate(counts.levels.significances.tolist()):
        proven = None
        if not isinstance(guarantee, NoGuarantee):
            proven = max(1 - guarantee.error_bound(significance), 0.0)
            proven = None if isclose(proven, 1 - significance) else round(proven, 5)
        points.append(
            {
                "asked": round(1 - significance, 4),
                "covered": float(counts.covered[i] / n_objects[i]),
                "low": limits["low"][i],
                "high": limits["high"][i],
                "proven": proven,
            }
        )
    return points


def _bars(values: FloatArray, right: BoolArray | None) -> list[dict[str, Any]]:
    """Return a histogram; right and wrong labelsets are counted separately if they are known."""
    places = np.minimum((values * N_BARS).astype(np.int64), N_BARS - 1)
    kinds = {"objects": slice(None)} if right is None else {"right": right, "wrong": ~right}
    counts = {
        kind: np.bincount(places[members], minlength=N_BARS).tolist()
        for kind, members in kinds.items()
    }
    return [
        {"low": bar / N_BARS, "high": (bar + 1) / N_BARS, "kind": kind, "count": counts[kind][bar]}
        for bar in range(N_BARS)
        for kind in kinds
    ]


def _judge_singles(subject: Subject, truth: LabelMatrix) -> dict[str, list[float]]:
    """Return the share of exact matches, Hamming loss, micro and macro F1 of single answers."""
    alone = subject.alone
    answers = {
        "learner alone": None if alone is None else (alone > 0.5).astype(np.int8),
        "predicted labels": subject.predicted,
        "most plausible labelset": subject.predictions.labelsets,
    }
    known = {name: labels for name, labels in answers.items() if labels is not None}
    return {name: list(point_measures(truth, labels).values()) for name, labels in known.items()}


def _compare(subject: Subject, truth: LabelMatrix, counts: Counts) -> list[str]:
    """Return the effect of wrapping, if outputs are known, and what a person has to answer."""
    predictions = subject.predictions
    outputs = subject.alone
    sentences: list[str] = []
    if outputs is not None and ((outputs > 0) & (outputs < 1)).any():  # and no labels
        briers = [brier_score(truth, p) for p in (predictions.probabilities, outputs)]
        both = (subject.answers, (outputs > 0.5).astype(np.int8))
        macros = [point_measures(truth, labels)["f1_macro"] for labels in both]
        sentences.append(say_what_wrapping_did(*briers, *macros))
    levels = counts.levels
    significance = float(levels.significances[levels.start(predictions.guarantee)])
    answers = count_answers(predictions, truth, significance, min(significance, WIDE))
    return sentences if answers is None else [*sentences, str(answers)]


def _browser_notes(subject: Subject, n_shown: int) -> str:
    n_objects, n_uncertain = len(subject), int((~subject.predictions.certain).sum())
    notes = ""
    if n_shown < n_objects:
        notes += (
            f" To keep the page small, {n_shown:,} of the {n_objects:,} objects are here, evenly"
            f" chosen; for others make a report of their own. Everything above counts all objects."
        )
    if n_uncertain:
        notes += (
            f" For {amount(n_uncertain, 'object')} the search for the most plausible labelset was"
            f" stopped: the best one found is shown."
        )
    return notes


def _gather_arrays(subject: Subject, counts: Counts) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays that travel to the page, objects last, which compresses best."""
    shown = counts.shown
    best = counts.best
    sizes = counts.shown_sizes
    if sizes.dtype == np.int64:  # at each level by how much they grew since the level before
        sizes = _split_bytes(np.diff(sizes, axis=0, prepend=0))
    arrays = {
        "labelCodes": counts.label_codes.transpose(1, 2, 0),
        "topCodes": counts.top_codes.T,
        "topLabelsets": _pack_labelsets(best.labelsets[shown].transpose(1, 0, 2)),
        "predicted": _pack_labelsets(subject.answers[shown][None]),
        "topPValues": _in_shades(best.p_values[shown].T),
        "sizes": sizes,
    }
    if subject.truth is not None:
        arrays["truthCodes"] = counts.truth_codes
        arrays["truth"] = _pack_labelsets(subject.truth[shown][None])
    return arrays


def _in_shades(p_values: FloatArray) -> np.ndarray[Any, Any]:
    """Return p-values in units of 1 / SHADES.

    Examples
    --------
    >>> _in_shades(np.array([0.05, 1.0])).tolist()
    [500, 10000]
    """
    return np.round(p_values * SHADES).astype("<u2")


def _pack_labelsets(labelsets: LabelMatrix) -> np.ndarray[Any, Any]:
    """Return labelsets (k, n, q) packed into bytes (k, bytes per labelset, n), label 0 lowest.

    Examples
    --------
    >>> _pack_labelsets(np.array([[[1, 0, 1]]])).tolist()
    [[[5]]]
    """
    return np.packbits(labelsets.astype(np.uint8), axis=2, bitorder="little").transpose(0, 2, 1)


def _split_bytes(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return integers below 2^32 byte by byte, all lowest bytes first: small ones compress well.

    Examples
    --------
    >>> _split_bytes(np.array([1, 258])).tolist()
    [1, 2, 0, 1, 0, 0, 0, 0]
    """
    return np.ascontiguousarray(numbers.astype("<u4").reshape(-1, 1).view(np.uint8).T).ravel()


def _pack(facts: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> str:
    """Return facts and arrays as one text: the length of the JSON in 8 bytes, the JSON, the arrays.

    The JSON says where each array starts, counted from the first.
    """
    places = {}
    parts = []
    offset = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        places[name] = {"kind": KINDS[array.dtype.str], "offset": offset, "length": array.size}
        parts.append(data + bytes(-len(data) % ALIGNMENT))
        offset += len(parts[-1])
    text = json.dumps({**facts, "arrays": places}, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return _deflate(len(text).to_bytes(ALIGNMENT, "little") + text + b"".join(parts))


def _deflate(data: bytes) -> str:
    """Return bytes compressed, in base64, whose characters HTML never reads as a tag.

    Examples
    --------
    >>> import base64, zlib
    >>> zlib.decompress(base64.b64decode(_deflate(b"</script>")))
    b'</script>'
    """
    return base64.b64encode(zlib.compress(data, level=9)).decode("ascii")
