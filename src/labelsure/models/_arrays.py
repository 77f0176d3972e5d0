"""Arrays of a model: all of one type are one member of the file, end to end, each stored once."""

import hashlib
from io import BytesIO
from typing import Any, Literal

import numpy as np
from numpy.lib import format as npy

from labelsure.models._archive import Members, ModelFileError

KINDS = "biufUS"
"""Truth values, numbers and texts: what arrays may hold, alone or in records."""

MOST_DIMENSIONS = 8

Array = np.ndarray[Any, np.dtype[Any]]


class ArrayWriter:
    """Gathers arrays; equal ones are kept once.

    Examples
    --------
    >>> writer = ArrayWriter()
    >>> writer.add(np.eye(2)), writer.add(np.zeros(3)), writer.add(np.eye(2))
    (0, 1, 0)
    >>> table, members = writer.table(), writer.members()
    >>> ArrayReader(table, members).get(1)
    array([0., 0., 0.])
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], int] = {}
        self._entries: list[list[Any]] = []
        self._parts: dict[str, list[Array]] = {}
        self._dtypes: dict[str, np.dtype[Any]] = {}

    def add(self, array: Array) -> int:
        """Return the number of an array."""
        check_dtype(array.dtype)
        if array.ndim > MOST_DIMENSIONS:
            raise ModelFileError(f"an array has {array.ndim} dimensions, and files keep up to {MOST_DIMENSIONS}")
        by_columns = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
        order: Literal["C", "F"] = "F" if by_columns else "C"
        flat = array.ravel(order=order)
        name = repr(npy.dtype_to_descr(array.dtype))
        key = (name, array.shape, order, hashlib.sha256(flat.tobytes()).digest())
        if key not in self._known:
            self._known[key] = len(self._entries)
            self._dtypes.setdefault(name, array.dtype)
            self._parts.setdefault(name, []).append(flat)
            kind = list(self._dtypes).index(name)
            self._entries.append([kind, list(array.shape), order])
        return self._known[key]

    def table(self) -> list[list[Any]]:
        """Return what is known of each array: the number of its type, its shape, and its order in memory."""
        return self._entries

    def members(self) -> Members:
        """Return the members of the file."""
        return {
            f"arrays/{kind}.npy": _to_bytes(np.concatenate(parts)) for kind, parts in enumerate(self._parts.values())
        }


class ArrayReader:
    """Hands out the arrays of a file, having checked that they are all there and nothing else is.

    Parameters
    ----------
    table : list
        As :meth:`ArrayWriter.table` returned it; anything, if the file is hostile.
    members : dict of str to bytes
        The members of the file.
    """

    def __init__(self, table: Any, members: Members) -> None:
        kinds = [_read_npy(members[name], name) for name in members if name.startswith("arrays/")]
        names = [f"arrays/{kind}.npy" for kind in range(len(kinds))]
        if [name for name in members if name.startswith("arrays/")] != names or not isinstance(table, list):
            raise ModelFileError("its arrays are not numbered")
        starts = [0] * len(kinds)
        self._arrays: list[Array] = []
        for kind, shape, order in table:
            if type(kind) is not int or not 0 <= kind < len(kinds) or order not in ("C", "F"):
                raise ModelFileError("an array has a type that there is not")
            size = _size_of(shape)
            stop = starts[kind] + size
            if stop > len(kinds[kind]):
                raise ModelFileError("an array is larger than what is there")
            self._arrays.append(kinds[kind][starts[kind] : stop].reshape(shape, order=order))
            starts[kind] = stop
        if starts != [len(part) for part in kinds]:
            raise ModelFileError("there is more in its arrays than it names")
        self._made: dict[int, Array] = {}

    def get(self, number: Any) -> Array:
        """Return an array, the same object whenever it is asked for."""
        number = self._check(number)
        if number not in self._made:
            self._made[number] = self._arrays[number].copy(order="K")
        return self._made[number]

    def to_npy(self, number: Any) -> bytes:
        """Return an array in numpy's format, for those who make copies of it."""
        return _to_bytes(self._arrays[self._check(number)])

    def _check(self, number: Any) -> int:
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ModelFileError("an array is named that there is not")
        return number


def check_dtype(dtype: np.dtype[Any]) -> None:
    """Raise ModelFileError unless arrays hold truth values, numbers, texts or records of these."""
    fields = [dtype] if dtype.fields is None else [field[0] for field in dtype.fields.values()]
    if dtype.hasobject or dtype.itemsize == 0 or any(part.kind not in KINDS or part.subdtype for part in fields):
        raise ModelFileError(f"arrays of {dtype} cannot be kept, only truth values, numbers and texts")


def _size_of(shape: Any) -> int:
    if not isinstance(shape, list) or len(shape) > MOST_DIMENSIONS:
        raise ModelFileError("an array has no shape")
    size = 1
    for length in shape:
        if type(length) is not int or not 0 <= length < 2**40:
            raise ModelFileError("an array has an impossible shape")
        size *= length
    return size


def _to_bytes(array: Array) -> bytes:
    buffer = BytesIO()
    npy.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _read_npy(data: bytes, name: str) -> Array:
    """Return a member as a flat array of as many items as its bytes hold."""
    buffer = BytesIO(data)
    try:
        version = npy.read_magic(buffer)
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran_order, dtype = read_header(buffer)
    except ValueError as error:
        raise ModelFileError(f"{name} is no array") from error
    check_dtype(dtype)
    if len(shape) != 1 or fortran_order or shape[0] * dtype.itemsize != len(data) - buffer.tell():
        raise ModelFileError(f"{name} has another size than it says")
    array = np.frombuffer(memoryview(data)[buffer.tell() :], dtype=dtype) if shape[0] else np.empty(0, dtype)
    # a byte that is neither 0 nor 1 is no truth value, and whoever counts them may count wrongly
    if dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise ModelFileError(f"{name} holds truth values that are neither true nor false")
    return array
