"""What a field of a record may be: small checks, with sizes that have to agree within a record."""

import math
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from labelsure.models._archive import ModelFileError


class Sizes(dict[str, int]):
    """The sizes that are known by name within a record, such as q, the number of labels."""

    def agree(self, size: int | str, length: int) -> None:
        """Raise ModelFileError where a length is not what it was before; "k+1" is one more than k."""
        if isinstance(size, int):
            expected = size
        else:
            name, _, more = size.partition("+")
            expected = self.setdefault(name, length - int(more or 0)) + int(more or 0)
        if length != expected or length < 0:
            raise ModelFileError(f"has {length} entries where {expected} are expected")


Check = Callable[[Any, Sizes], None]
"""Raises ModelFileError where a value is not what it must be."""


def anything(_value: Any, _sizes: Sizes) -> None:
    """Accept everything: parameters, which are looked at where they are used."""


def _expect(fine: bool, what: str, value: Any) -> None:
    if not fine:
        # of other things not even a text is made: parts within parts, each there twice, would take for ever
        said = f" {str(value)[:40]!r}" if type(value) in (bool, int, float, str) else ""
        raise ModelFileError(f"must be {what}, got {type(value).__name__}{said}")


def flag(value: Any, _sizes: Sizes) -> None:
    """Accept True and False."""
    _expect(isinstance(value, bool | np.bool_), "true or false", value)


def text(value: Any, _sizes: Sizes) -> None:
    """Accept a text."""
    _expect(type(value) is str, "a text", value)


def whole(low: int = 0, high: int = 2**62, *, size: str | None = None) -> Check:
    """Accept a whole number, which may be the size of something."""

    def check(value: Any, sizes: Sizes) -> None:
        fine = isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) <= high
        _expect(fine, f"a whole number from {low} to {high}", value)
        if size is not None:
            sizes.agree(size, int(value))

    return check


def number(low: float = -math.inf, high: float = math.inf, *, finite: bool = True) -> Check:
    """Accept a real number."""

    def check(value: Any, _sizes: Sizes) -> None:
        fine = isinstance(value, Real) and not isinstance(value, bool) and low <= float(value) <= high
        _expect(fine and (math.isfinite(float(value)) or not finite), f"a number from {low:g} to {high:g}", value)

    return check


def one_of(*choices: Any) -> Check:
    """Accept one of a few values."""

    def check(value: Any, _sizes: Sizes) -> None:
        _expect(any(type(value) is type(one) and value == one for one in choices), f"one of {choices}", value)

    return check


def maybe(inner: Check) -> Check:
    """Accept None too."""

    def check(value: Any, sizes: Sizes) -> None:
        if value is not None:
            inner(value, sizes)

    return check


def instance(*types: type) -> Check:
    """Accept objects of some classes."""

    def check(value: Any, _sizes: Sizes) -> None:
        _expect(isinstance(value, types), " or ".join(one.__name__ for one in types), value)

    return check


def several(
    inner: Check,
    size: int | str | None = None,
    *,
    kind: type[list[Any]] | type[tuple[Any, ...]] = list,
    least: int = 0,
) -> Check:
    """Accept a list, or a tuple, of things."""

    def check(value: Any, sizes: Sizes) -> None:
        _expect(type(value) is kind and len(value) >= least, f"a {kind.__name__} of {least} or more", value)
        if size is not None:
            sizes.agree(size, len(value))
        for one in value:
            inner(one, sizes)

    return check


def names(size: str) -> Check:
    """Accept different texts."""
    each = several(text, size, kind=tuple)

    def check(value: Any, sizes: Sizes) -> None:
        each(value, sizes)
        _expect(len(set(value)) == len(value), "different names", value)

    return check


def array(
    kinds: str, *shape: int | str, low: float = -math.inf, high: float = math.inf, missing: bool = False
) -> Check:
    """Accept an array of a kind ("b", "i", "f": truth values, whole numbers, floats) and shape, within bounds."""
    types = {"b": np.bool_, "i": np.int64, "l": np.int8, "f": np.float64}

    def check(value: Any, sizes: Sizes) -> None:
        fine = type(value) is np.ndarray and any(value.dtype == types[kind] for kind in kinds)
        _expect(fine and value.ndim == len(shape), f"an array of {len(shape)} dimensions", value)
        for expected, length in zip(shape, value.shape, strict=True):
            sizes.agree(expected, length)
        if value.size and value.dtype != np.bool_:
            known = value[~np.isnan(value)] if missing else value
            inside = bool((known >= low).all() and (known <= high).all() and (missing or np.isfinite(known).all()))
            _expect(inside, f"numbers from {low:g} to {high:g}", value)

    return check


def labelsets(*shape: int | str, different: bool = False) -> Check:
    """Accept zeros and ones, a row for each labelset."""
    table = array("l", *shape, low=0, high=1)

    def check(value: Any, sizes: Sizes) -> None:
        table(value, sizes)
        _expect(not different or len(np.unique(value, axis=0)) == len(value), "different labelsets", value)

    return check


def matrix(rows: str, columns: str) -> Check:
    """Accept a matrix of finite floats, dense or sparse."""
    dense, stored = array("f", rows, columns), array("f", "stored")

    def check(value: Any, sizes: Sizes) -> None:
        if not sparse.issparse(value):
            return dense(value, sizes)
        sizes.agree(rows, value.shape[0])
        sizes.agree(columns, value.shape[1])
        _expect(value.format == "csr", "a sparse matrix by rows", value)
        return stored(value.data, Sizes())

    return check


def feature_names(value: Any, sizes: Sizes) -> None:
    """Accept what scikit-learn calls feature_names_in_."""
    fine = type(value) is np.ndarray and value.dtype == object and value.ndim == 1
    _expect(fine and all(type(one) is str for one in value), "names of features", value)
    sizes.agree("p", len(value))


def classes(value: Any, sizes: Sizes) -> None:
    """Accept 0 and 1 for every label."""
    several(array("i", 2, low=0, high=1), "q")(value, sizes)


def run_checks(fields: dict[str, Any], checks: Sequence[dict[str, Check]], name: str) -> None:
    """Check the fields of a record together, or say which of them is wrong."""
    sizes = Sizes()
    for field, check in [pair for part in checks for pair in part.items() if pair[0] in fields]:
        try:
            check(fields[field], sizes)
        except ModelFileError as error:
            raise ModelFileError(f"{field} of {name} {error}") from None
