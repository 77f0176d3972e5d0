"""The same numbers in every form that a user may pass, and checks that calls leave them alone."""

import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from labelsure._errors import import_optional


class Form(NamedTuple):
    """A way to bring a table of numbers.

    Attributes
    ----------
    make : callable
        From a float64 array to the form.
    cast : type or None
        What the form rounds numbers to, where it does: what it stands for is the array after that.
    verdict : {"same", "refused", "either"}
        Whether an answer must be that for the plain array, there must be none, or one of both.
    """

    make: Any
    cast: Any = None
    verdict: str = "same"


def plain(values, form):
    """The plain float64 array of what a form holds."""
    return values if form.cast is None else values.astype(form.cast).astype(np.float64)


def read_only(values):
    values = values.copy()
    values.setflags(write=False)
    return values


def memmap(values):
    if values.size == 0:
        return values
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file.name, values)
        return np.load(file.name, mmap_mode="r")


def unaligned(values):
    """Numbers that do not begin where the processor likes them to."""
    buffer = np.zeros(values.nbytes + 9, dtype=np.uint8)
    array = buffer[1 : 1 + values.nbytes].view(np.float64).reshape(values.shape)
    array[...] = values
    return array


def strided(values):
    wide = np.full((2 * len(values), *(2 * size for size in values.shape[1:])), np.nan)
    view = wide[tuple(slice(None, None, 2) for _ in values.shape)]
    view[...] = values
    return view


def backwards(values):
    turned = tuple(slice(None, None, -1) for _ in values.shape)
    return np.ascontiguousarray(values[turned])[turned]


def masked(values):
    mask = np.zeros(values.shape, dtype=bool)
    mask.flat[-1:] = True
    return np.ma.array(values, mask=mask)


def in_parts(values):
    """A sparse matrix with each cell stored in two parts, and zeros stored."""
    rows, columns = np.indices(values.shape).reshape(2, -1)
    half = values.ravel() / 2
    places = (np.tile(rows, 2), np.tile(columns, 2))
    return sparse.coo_array((np.tile(half, 2), places), shape=values.shape)


def unsorted_csr(values):
    """Rows whose columns are stored from last to first, zeros too, with 64-bit indices."""
    n, q = values.shape
    indices = np.tile(np.arange(q)[::-1].astype(np.int64), n)
    indptr = np.arange(0, n * q + 1, q, dtype=np.int64) if q else np.zeros(n + 1, dtype=np.int64)
    made = sparse.csr_array((n, q))
    made.data, made.indices, made.indptr = (
        np.ascontiguousarray(values[:, ::-1]).ravel(),
        indices,
        indptr,
    )
    return made


class ArrayOnly:
    """Knows nothing but how to become an array."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)


def subclass(values):
    class Tagged(np.ndarray):
        """An array of a class of its own."""

    return values.view(Tagged)


ARRAYS = {
    "plain": Form(lambda v: v.copy()),
    "bool": Form(lambda v: v.astype(bool), bool),
    "int8": Form(lambda v: v.astype(np.int8), np.int8),
    "uint8": Form(lambda v: v.astype(np.uint8), np.uint8),
    "uint64": Form(lambda v: v.astype(np.uint64), np.uint64),
    "float16": Form(lambda v: v.astype(np.float16), np.float16),
    "float32": Form(lambda v: v.astype(np.float32), np.float32),
    "longdouble": Form(lambda v: v.astype(np.longdouble)),
    "big-endian": Form(lambda v: v.astype(">f8")),
    "object": Form(lambda v: v.astype(object)),
    "object of ints": Form(lambda v: v.astype(int).astype(object), int),
    "object of bools": Form(lambda v: v.astype(bool).astype(object), bool),
    "object of numpy": Form(lambda v: _cells(v, np.float64)),
    "object of several": Form(lambda v: _cells(v, _several)),
    "Fortran": Form(np.asfortranarray),
    "backwards": Form(backwards),
    "strided": Form(strided),
    "read-only": Form(read_only),
    "memmap": Form(memmap),
    "unaligned": Form(unaligned),
    "unmasked": Form(lambda v: np.ma.array(v, mask=np.zeros(v.shape, dtype=bool))),
    "subclass": Form(subclass),
    "array only": Form(ArrayOnly, verdict="either"),
    "lists": Form(lambda v: v.tolist()),
    "tuples": Form(lambda v: tuple(map(tuple, v.tolist())) if v.ndim > 1 else tuple(v.tolist())),
    "list of arrays": Form(list),
    "masked": Form(masked, verdict="refused"),
    "list of masked": Form(lambda v: list(masked(v)), verdict="refused"),
    "complex": Form(lambda v: v.astype(complex), verdict="refused"),
    "object of complex": Form(lambda v: v.astype(complex).astype(object), verdict="refused"),
    "datetime": Form(lambda v: v.astype("datetime64[ns]"), verdict="refused"),
    "datetime in days": Form(lambda v: v.astype("datetime64[D]"), verdict="refused"),
    "timedelta": Form(lambda v: v.astype("timedelta64[ns]"), verdict="refused"),
    "timedelta in days": Form(lambda v: v.astype("timedelta64[D]"), verdict="refused"),
    "text": Form(lambda v: v.astype(str), verdict="refused"),
    "new text": Form(lambda v: v.astype(np.dtypes.StringDType()), verdict="refused"),
    "bytes": Form(lambda v: v.astype("S8"), verdict="refused"),
    "object of text": Form(lambda v: v.astype(str).astype(object), verdict="refused"),
    "structured": Form(lambda v: v.astype([("a", "f8")]), verdict="refused"),
    "void": Form(lambda v: v.astype("f8").view("V8"), verdict="refused"),
    "set": Form(lambda v: set(v.ravel().tolist()), verdict="refused"),
    "dict": Form(lambda v: dict(enumerate(v.tolist())), verdict="refused"),
    "generator": Form(lambda v: (row for row in v.tolist()), verdict="refused"),
    "path": Form(lambda _: Path("table.csv"), verdict="refused"),
}
"""Forms of arrays of any number of dimensions."""

MATRICES = {
    "matrix": Form(np.matrix),
    **{
        f"{name} {kind}": Form(getattr(sparse, f"{name}_{kind}"))
        for name in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
        for kind in ("array", "matrix")
    },
    "sparse in parts": Form(in_parts),
    "sparse unsorted": Form(unsorted_csr),
    "sparse of float32": Form(lambda v: sparse.csr_array(v.astype(np.float32)), np.float32),
    "sparse of bools": Form(lambda v: sparse.csr_array(v.astype(bool)), bool),
    "sparse of complex": Form(lambda v: sparse.csr_array(v.astype(complex)), verdict="refused"),
}
"""Forms of matrices."""


def _cells(values, kind):
    cells = np.empty(values.shape, dtype=object)
    for place in np.ndindex(values.shape):
        cells[place] = kind(values[place])
    return cells


def _several(value):
    """A number as an int, a bool or a float, whichever can hold it first."""
    return (
        int(value)
        if value > 1 and value == int(value)
        else bool(value)
        if value in (0, 1)
        else float(value)
    )


def _pandas():
    return import_optional("pandas", extra="pandas", purpose="fuzzing")


def _frame(values, dtype="float64", **options):
    pandas = _pandas()
    return pandas.DataFrame(values, columns=_names(values), **options).astype(dtype)


LABELS = ["sea", "city", "night"]
"""What labels are called where somebody calls them anything."""


def _names(values):
    return LABELS if values.shape[1] == len(LABELS) else [f"c{j}" for j in range(values.shape[1])]


def _odd_index(values):
    """Rows called alike, backwards, by dates and by tuples."""
    return _frame(values).set_index(np.zeros(len(values), dtype=int))


def _polars(values, dtype=None):
    polars = import_optional("polars", extra="polars", purpose="fuzzing")
    frame = polars.DataFrame(np.ascontiguousarray(values), schema=_names(values))
    return frame if dtype is None else frame.cast(getattr(polars, dtype))


def _arrow(values):
    pyarrow = import_optional("pyarrow", extra="cli", purpose="fuzzing")
    return pyarrow.table({name: values[:, j] for j, name in enumerate(_names(values))})


def _torch(values, dtype="float64", *, grad=False):
    import torch

    return torch.tensor(
        np.ascontiguousarray(values), dtype=getattr(torch, dtype), requires_grad=grad
    )


FRAMES = {
    "frame": Form(_frame),
    "frame of bools": Form(lambda v: _frame(v, "bool"), bool),
    "frame of float32": Form(lambda v: _frame(v, "float32"), np.float32),
    "frame of Float64": Form(lambda v: _frame(v, "Float64")),
    "frame of Int64": Form(lambda v: _frame(v.astype(int), "Int64"), int),
    "frame of boolean": Form(lambda v: _frame(v.astype(bool), "boolean"), bool),
    "frame of arrow": Form(lambda v: _frame(v, "double[pyarrow]")),
    "frame of categories": Form(lambda v: _frame(v, "category")),
    "frame of objects": Form(lambda v: _frame(v, "object")),
    "frame of several": Form(lambda v: _frame(v).astype({_names(v)[0]: "Float64"})),
    "frame, sparse": Form(lambda v: _frame(v).astype(_pandas().SparseDtype("float64", 0))),
    "frame, odd index": Form(_odd_index),
    "frame, numbered": Form(lambda v: _pandas().DataFrame(v)),
    "frame, one name": Form(
        lambda v: _pandas().DataFrame(v, columns=["c"] * v.shape[1]), verdict="either"
    ),
    "frame, two levels": Form(
        lambda v: _pandas().DataFrame(
            v, columns=_pandas().MultiIndex.from_product([["a"], _names(v)])
        ),
        verdict="either",
    ),
    "frame of text": Form(lambda v: _frame(v, "str"), verdict="refused"),
    "frame of dates": Form(lambda v: _frame(v.astype(int), "datetime64[ns]"), verdict="refused"),
    "polars": Form(_polars),
    "polars of float32": Form(lambda v: _polars(v, "Float32"), np.float32),
    "polars of bools": Form(lambda v: _polars(v.astype(bool)), bool),
    "polars of ints": Form(lambda v: _polars(v.astype(int)), int),
    "polars of text": Form(lambda v: _polars(v, "String"), verdict="refused"),
    "arrow": Form(_arrow, verdict="either"),
    "torch": Form(_torch),
    "torch of float32": Form(lambda v: _torch(v, "float32"), np.float32),
    "torch with gradients": Form(lambda v: _torch(v, grad=True), verdict="either"),
    "torch of bfloat16": Form(lambda v: _torch(v, "bfloat16"), verdict="either"),
}
"""Forms of tables with columns, and tensors."""

NEEDED = {"frame": "pandas", "polars": "polars", "arrow": "pyarrow", "torch": "torch"}
"""The package that a form is of, by the first word of its name."""


def fingerprint(value):  # noqa: PLR0911 - one return per kind of table
    """Something that changes when what a user passed is changed in place."""
    if isinstance(value, sparse.spmatrix | sparse.sparray):
        parts = {name: np.copy(getattr(value, name))
                 for name in ("data", "indices", "indptr", "offsets", "coords")
                 if hasattr(value, name) and value.format not in ("lil", "dok")}  # fmt: skip
        content = [part.tobytes() for part in parts.values()]
        return value.format, value.dtype.str, content or value.toarray().tobytes()
    if isinstance(value, np.ma.MaskedArray):
        return value.data.tobytes(), np.ma.getmaskarray(value).tobytes(), value.flags.writeable
    if isinstance(value, np.ndarray):
        content = repr(value.tolist()) if value.dtype.hasobject else value.tobytes()
        return value.dtype.str, value.shape, value.strides, value.flags.writeable, content
    if hasattr(value, "columns") and hasattr(value, "iloc"):
        return (
            value.to_numpy(dtype=object).tolist().__repr__(),
            list(value.columns),
            list(value.index),
        )
    if hasattr(value, "detach"):
        return value.detach().clone().float().numpy().tobytes()
    if hasattr(value, "to_numpy") or hasattr(value, "to_pandas"):
        return repr(value)
    if isinstance(value, list | tuple):
        return type(value), [fingerprint(part) for part in value]
    if isinstance(value, dict):
        return [(key, fingerprint(part)) for key, part in value.items()]
    return None
