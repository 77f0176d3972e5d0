"""What a report says in sentences, at each level: is the promise kept, what is left, what may be accepted."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from labelsure.predictions import Guarantee, NoGuarantee
from labelsure.report._counts import Counts, limits_of

ABOUT = {"counted": "", "estimated": "about ", "bounded": "at most "}
"""What is put before a size, by how it is known."""


@dataclass(frozen=True)
class Words:
    """The sentences of one level.

    Attributes
    ----------
    status : {"kept", "below", "broken", "unknown"}
        What there is to say about the promise, for a colour and a sign.
    verdict : str
        The same in a few words.
    promise : str
        What was counted, beside what is asked for and what is proven.
    information : str
        How much the regions say.
    acceptance : str
        How many objects have one labelset left, and what that is worth.
    statement : str
        What is proven about regions at this level.
    coverage, single, median, open, empty : str
        In figures: the share of regions that hold the truth (nothing where it is not known), that
        hold one labelset; the median size; the mean number of labels left open; the number of empty
        regions.
    """

    status: str
    verdict: str
    promise: str
    information: str
    acceptance: str
    statement: str
    coverage: str
    single: str
    median: str
    open: str
    empty: str


def describe(
    counts: Counts, place: int, per_mille: int, guarantee: Guarantee | NoGuarantee, labelled: bool
) -> Words:
    """Return the sentences of one level."""
    significance = (1000 - per_mille) / 1000
    statement = guarantee.sentence(significance)
    statement = statement.replace(
        f"at significance {significance:g}", f"at {percent(per_mille)} confidence", 1
    )
    if labelled:
        status, verdict, promise = _judge(counts, place, per_mille, guarantee)
    else:
        status, verdict = "unknown", "Not known: these objects come without their true labels"
        promise = "Whether regions hold the truth as often as promised can only be seen where the truth is known."
    if not _reaches(guarantee, per_mille):
        status, verdict = "unknown", f"{percent(per_mille)} is out of reach"
        promise = f"{guarantee.limit} Choose a lower level, or calibrate with more examples."
    return Words(
        status,
        verdict,
        promise,
        _inform(counts, place),
        _accept(counts, place, guarantee, labelled, per_mille),
        statement,
        **_figures(counts, place, labelled),
    )


def percent(per_mille: float) -> str:
    """Write tenths of a per cent as per cent.

    Examples
    --------
    >>> percent(950), percent(999)
    ('95 %', '99.9 %')
    """
    return f"{per_mille / 10:g} %"


def amount(number: int, what: str) -> str:
    """Write how many there are of something.

    Examples
    --------
    >>> amount(1, "object"), amount(1200, "label")
    ('1 object', '1,200 labels')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def share(part: float, whole: float) -> str:
    """Write a share in per cent, with one digit after the point.

    Examples
    --------
    >>> share(947, 1000)
    '94.7 %'
    """
    return f"{100 * part / whole:.1f} %"


def interval(part: int, whole: int) -> str:
    """Write the exact interval for the probability behind a share.

    Examples
    --------
    >>> interval(95, 100)
    '88.7 to 98.4 %'
    """
    low, high = limits_of(np.array([part]), np.array([whole]))
    return f"{100 * low[0]:.1f} to {100 * high[0]:.1f} %"


def _reaches(guarantee: Guarantee | NoGuarantee, per_mille: int) -> bool:
    return isinstance(guarantee, NoGuarantee) or guarantee.reaches((1000 - per_mille) / 1000)


def _judge(
    counts: Counts, place: int, per_mille: int, guarantee: Guarantee | NoGuarantee
) -> tuple[str, str, str]:
    """Return how the share of regions that hold the truth compares with what is asked for and with what is proven.

    A predictor's own coverage varies with its calibration examples, by a standard deviation of
    about sqrt(eps (1 - eps) / l): that much below the level does not speak against a promise about
    the average.
    """
    n_covered, n_objects = int(counts.covered[place]), int(counts.sizes[place].sum())
    eps = (1000 - per_mille) / 1000
    high = float(limits_of(np.array([n_covered]), np.array([n_objects]))[1][0])
    counted = (
        f"{percent(per_mille)} regions held the true labelset of {n_covered:,} of"
        f" {amount(n_objects, 'object')}:"
        f" {share(n_covered, n_objects)} (95 % interval: {interval(n_covered, n_objects)})."
    )
    if high >= 1 - eps:
        return "kept", "Yes, as far as these objects can tell", counted
    if isinstance(guarantee, NoGuarantee):
        return (
            "below",
            "Fewer than asked for",
            f"{counted} Nothing is proven about these predictions.",
        )
    n_calibration = guarantee.n_calibration
    spread = 2 * sqrt(eps * (1 - eps) / n_calibration) if n_calibration else 0.0
    bound = max(1 - min(guarantee.error_bound(eps), 1.0), 0.0)
    proven = f"What is proven is {share(bound, 1)} on average over calibration sets"
    if high + spread >= bound:
        return (
            "below",
            "Somewhat fewer than asked for",
            f"{counted} {proven}, which this does not contradict.",
        )
    return (
        "broken",
        "No: regions miss the truth too often",
        f"{counted} {proven}: these objects are probably unlike those that the predictor was"
        f" calibrated with.",
    )


def _figures(counts: Counts, place: int, labelled: bool) -> dict[str, str]:
    n_objects, n_labels = int(counts.sizes[place].sum()), counts.labels.shape[1]
    n_open = counts.labels[place, :, 1].sum() / n_objects
    return {
        "coverage": share(counts.covered[place], n_objects) if labelled else "",
        "single": share(counts.single[place], n_objects),
        "median": ABOUT[counts.size_kind] + _size(counts.median_size[place]),
        "open": f"{n_open:.1f} of {n_labels}",
        "empty": f"{counts.sizes[place, 0]:,}",
    }


def _inform(counts: Counts, place: int) -> str:
    n_objects, n_labels = int(counts.sizes[place].sum()), counts.labels.shape[1]
    sure, possible, ruled_out = (counts.labels[place, :, :3].sum(axis=0) / n_objects).tolist()
    median = counts.median_size[place]
    empty = int(counts.sizes[place, 0])
    or_fewer = "" if counts.size_kind == "bounded" else " or fewer"
    said = (
        f"Half of the regions hold {ABOUT[counts.size_kind]}{_size(median)}{or_fewer} labelsets,"
        f" and"
        f" {share(counts.single[place], n_objects)} hold just one."
        f" Of {amount(n_labels, 'label')}, {sure:.1f} are sure, {ruled_out:.1f} are ruled out and"
        f" {possible:.1f} stay"
        " open for an object on average."
    )
    if not empty:
        return said
    return f"{said} {amount(empty, 'region')} {'is' if empty == 1 else 'are'} empty: no labelset fits at this level."


def _size(number: float) -> str:
    """Write a number of labelsets: in digits while these can be read."""
    return f"{number:,.10g}" if number < 1e6 else f"2^{np.log2(number):.0f}"


def _accept(
    counts: Counts, place: int, guarantee: Guarantee | NoGuarantee, labelled: bool, per_mille: int
) -> str:
    n_objects, single = int(counts.sizes[place].sum()), int(counts.single[place])
    have = "has" if single == 1 else "have"
    said = f"{single:,} of {amount(n_objects, 'object')} {have} one labelset left at {percent(per_mille)}."
    if not single:
        return said
    if labelled:
        right = int(counts.single_right[place])
        said += f" It is the true one for {right:,} of them, {share(right, single)}"
        said += f" (95 % interval: {interval(right, single)})."
    if isinstance(guarantee, NoGuarantee):
        return f"{said} Nothing is proven about them."
    errors = min(guarantee.error_bound((1000 - per_mille) / 1000), 1.0) * n_objects
    return (
        f"{said} What is proven is about all objects together: of {n_objects:,} like these, at"
        f" most {errors:,.1f}"
        f" regions miss the truth{guarantee.although} on average. All of those may be regions"
        f" with one labelset."
    )
