"""How an answer is recorded: certain, near, or a bound; and when a new answer differs."""

import hashlib
import math
from typing import Any, NamedTuple

import numpy as np

LONGEST, SHOWN = 44, 12


class Cell(NamedTuple):
    """An answer.

    Attributes
    ----------
    status : {"certain", "near", "estimate", "bound"}
        "certain": counted or proven, compared to the bit where ``mask`` holds (None: everywhere).
        "near": the same in floats that are no p-values, compared to 1e-12. "estimate": [lower
        bound, estimate, upper bound] of log2 of each region's size, some not counted; old and new
        bounds must have a number in common. "bound": what a search had when it was stopped, shown
        and not compared.
    values : list
        Whole numbers, floats and texts, flat.
    mask : list of bool or None
        Where the answer is certain.
    """

    status: str
    values: list[Any]
    mask: list[bool] | None = None


def certain(values, mask=None):
    mask = None if mask is None or np.all(mask) else np.ravel(mask).tolist()
    return Cell("certain", flat(values), mask)


def near(values):
    return Cell("near", flat(values))


def flat(values):
    """Return an array as a flat list of Python's numbers and texts."""
    array = np.asarray(values)
    return (array.astype(int) if array.dtype == bool else array).ravel().tolist()


def bits(labelsets):
    """Return a text of zeros and ones for each labelset."""
    array = np.asarray(labelsets).astype(int)
    return ["".join(map(str, row)) for row in array.reshape(-1, array.shape[-1]).tolist()]


def spell(cell):
    """Return a cell as the record holds it."""
    if cell.status == "near":
        return [None if value is None else float(f"{value:.15g}") for value in cell.values]
    if cell.status == "estimate":
        return cell.values
    if cell.mask is None:
        return shorten(cell.values)
    return [shorten(masked(cell.values, cell.mask)), "".join(str(int(on)) for on in cell.mask)]


def masked(values, mask):
    return [value if on else "?" for value, on in zip(values, mask, strict=True)]


def shorten(values):
    """Return short answers in full, of long ones a digest and the beginning."""
    text = " ".join(map(str, values))
    if len(text) <= LONGEST:
        return text
    return f"{hashlib.sha256(text.encode()).hexdigest()[:12]} {text[:SHOWN]}..."


def differs(cell, stored):
    """Tell whether a new answer differs from what is on record."""
    if cell.status == "bound":
        return False
    if cell.status == "near":
        return not _close(spell(cell), stored)
    if cell.status == "estimate":
        return not _agree(cell.values, stored)
    if isinstance(stored, str):
        return cell.mask is not None or spell(cell) != stored
    text, digits = stored
    mask, now = [digit == "1" for digit in digits], cell.mask or [True] * len(cell.values)
    if len(mask) != len(now):
        return True
    lost = any(then and not on for then, on in zip(mask, now, strict=True))
    return lost or shorten(masked(cell.values, mask)) != text


def _close(values, stored):
    if len(values) != len(stored):
        return True
    largest = max(
        (abs(value) for value in stored if value is not None and math.isfinite(value)), default=0.0
    )
    return all(
        old == new or (None not in (old, new) and abs(old - new) <= 1e-12 * largest)
        for old, new in zip(stored, values, strict=True)
    )


def _agree(sizes, stored):
    """Tell whether some size lies within old and new bounds, for each object."""
    return len(sizes) == len(stored) and all(
        max(new[0], old[0]) <= min(new[2], old[2]) + 0.001
        for new, old in zip(sizes, stored, strict=True)
    )
