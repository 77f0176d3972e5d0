"""The sentences of a report at each level: is the promise kept, what is left, what to accept."""

from math import sqrt

import numpy as np

from labelsure.predictions import Guarantee, NoGuarantee
from labelsure.report._counts import Counts, limits_of

ABOUT = {"counted": "", "estimated": "about ", "bounded": "at most "}


def describe(
    counts: Counts, place: int, guarantee: Guarantee | NoGuarantee, labelled: bool
) -> dict[str, str]:
    """Return the sentences and figures of one level.

    Returns
    -------
    dict
        ``status`` ("kept", "below", "broken" or "unknown", for a colour and a sign) and
        ``verdict``: whether the promise is kept. ``promise``: what was counted, beside the level
        and what is proven. ``information``: how much the regions say. ``acceptance``: how many
        objects have one labelset left, and what that is worth. ``statement``: what is proven about
        regions at this level. The others are figures: the share of regions that hold the truth
        (empty if it is not known) and that hold one labelset, the median size, the mean number of
        open labels, the number of empty regions.
    """
    per_mille = counts.levels.per_mille[place]
    significance = (1000 - per_mille) / 1000
    statement = guarantee.sentence(significance)
    statement = statement.replace(
        f"at significance {significance:g}", f"at {percent(per_mille)} confidence", 1
    )
    if not (isinstance(guarantee, NoGuarantee) or guarantee.reaches(significance)):
        status, verdict = "unknown", f"{percent(per_mille)} is out of reach"
        promise = f"{guarantee.limit} Choose a lower level, or calibrate with more examples."
    elif labelled:
        status, verdict, promise = _judge(counts, place, per_mille, guarantee)
    else:
        status, verdict = "unknown", "Not known: these objects come without their true labels"
        promise = (
            "Whether regions hold the truth as often as promised can only be seen where the truth"
            " is known."
        )
    n_objects, n_labels = int(counts.sizes[place].sum()), counts.labels.shape[1]
    n_open = counts.labels[place, :, 1].sum() / n_objects
    return {
        "status": status,
        "verdict": verdict,
        "promise": promise,
        "information": _inform(counts, place),
        "acceptance": _accept(counts, place, guarantee, labelled, per_mille),
        "statement": statement,
        "coverage": share(counts.covered[place], n_objects) if labelled else "",
        "single": share(counts.single[place], n_objects),
        "median": ABOUT[counts.size_kind] + _size(counts.median_size[place]),
        "open": f"{n_open:.1f} of {n_labels}",
        "empty": f"{counts.sizes[place, 0]:,}",
    }


def percent(per_mille: float) -> str:
    """Write tenths of a per cent as per cent.

    Examples
    --------
    >>> percent(950), percent(999)
    ('95 %', '99.9 %')
    """
    return f"{per_mille / 10:g} %"


def amount(number: int, what: str) -> str:
    """Write a number of things.

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


def _judge(
    counts: Counts, place: int, per_mille: int, guarantee: Guarantee | NoGuarantee
) -> tuple[str, str, str]:
    """Compare the share of regions that hold the truth with the level and with what is proven.

    A predictor's own coverage varies with its calibration examples, by a standard deviation of
    about sqrt(eps (1 - eps) / l): that much below the level does not speak against a promise about
    the average.
    """
    n_covered, n_objects = int(counts.covered[place]), int(counts.sizes[place].sum())
    eps = (1000 - per_mille) / 1000
    high = float(limits_of(np.array([n_covered]), np.array([n_objects]))[1][0])
    counted = (
        f"{percent(per_mille)} regions held the true labelset of {n_covered:,} of"
        f" {amount(n_objects, 'object')}: {share(n_covered, n_objects)} (95 % interval:"
        f" {interval(n_covered, n_objects)})."
    )
    if high >= 1 - eps:
        return "kept", "Yes, as far as these objects can tell", counted
    if isinstance(guarantee, NoGuarantee):
        nothing = f"{counted} Nothing is proven about these predictions."
        return "below", "Fewer than asked for", nothing
    n_calibration = guarantee.n_calibration
    spread = 2 * sqrt(eps * (1 - eps) / n_calibration) if n_calibration else 0.0
    bound = max(1 - min(guarantee.error_bound(eps), 1.0), 0.0)
    proven = f"{counted} What is proven is {share(bound, 1)} on average over calibration sets"
    if high + spread >= bound:
        unclear = f"{proven}, which this does not contradict."
        return "below", "Somewhat fewer than asked for", unclear
    unlike = "these objects are probably unlike those that the predictor was calibrated with."
    return "broken", "No: regions miss the truth too often", f"{proven}: {unlike}"


def _inform(counts: Counts, place: int) -> str:
    n_objects, n_labels = int(counts.sizes[place].sum()), counts.labels.shape[1]
    sure, possible, ruled_out = (counts.labels[place, :, :3].sum(axis=0) / n_objects).tolist()
    median = ABOUT[counts.size_kind] + _size(counts.median_size[place])
    or_fewer = "" if counts.size_kind == "bounded" else " or fewer"
    said = (
        f"Half of the regions hold {median}{or_fewer} labelsets, and"
        f" {share(counts.single[place], n_objects)} hold just one. Of {amount(n_labels, 'label')},"
        f" {sure:.1f} are sure, {ruled_out:.1f} are ruled out and {possible:.1f} stay open for an"
        f" object on average."
    )
    if not (empty := int(counts.sizes[place, 0])):
        return said
    are = "is" if empty == 1 else "are"
    return f"{said} {amount(empty, 'region')} {are} empty: no labelset fits at this level."


def _size(number: float) -> str:
    """Write a number of labelsets, as a power of two if it has more than six digits."""
    return f"{number:,.10g}" if number < 1e6 else f"2^{np.log2(number):.0f}"


def _accept(
    counts: Counts, place: int, guarantee: Guarantee | NoGuarantee, labelled: bool, per_mille: int
) -> str:
    n_objects, single = int(counts.sizes[place].sum()), int(counts.single[place])
    have = "has" if single == 1 else "have"
    said = (
        f"{single:,} of {amount(n_objects, 'object')} {have} one labelset left at"
        f" {percent(per_mille)}."
    )
    if not single:
        return said
    if labelled:
        right = int(counts.single_right[place])
        said += (
            f" It is the true one for {right:,} of them, {share(right, single)} (95 % interval:"
            f" {interval(right, single)})."
        )
    if isinstance(guarantee, NoGuarantee):
        return f"{said} Nothing is proven about them."
    errors = min(guarantee.error_bound((1000 - per_mille) / 1000), 1.0) * n_objects
    return (
        f"{said} What is proven is about all objects together: of {n_objects:,} like these, at most"
        f" {errors:,.1f} regions miss the truth{guarantee.although} on average. All of those may be"
        f" regions with one labelset."
    )
