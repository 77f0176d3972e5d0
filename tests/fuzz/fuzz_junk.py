"""Odd values for any argument, and odd tables."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
from scipy import sparse

VALUES = {
    "None": None, "True": True, "False": False, "numpy True": np.True_, "-1": -1, "0": 0, "1": 1,
    "2": 2, "7": 7, "0.5": 0.5, "1.5": 1.5, "-0.0": -0.0, "1e-300": 1e-300, "smallest": 5e-324,
    "nearly 1": 1 - 2.0**-53, "1e300": 1e300, "-1e300": -1e300, "nan": float("nan"),
    "inf": float("inf"), "-inf": float("-inf"), "float16": np.float16(0.1),
    "float32": np.float32(0.1), "longdouble": np.longdouble(0.1), "int8": np.int8(3),
    "uint64": np.uint64(2**63), "fraction": Fraction(1, 3), "decimal": Decimal("0.1"),
    "complex": 0.1 + 0j, "enormous": 10**400, "-enormous": -(10**400), "2**70": 2**70,
    "text": "0.05", "empty text": "", "long text": "x" * 10_000, "nul": "a\0b",
    "unicode": "\u00e9\u202e\U0001f600", "bytes": b"0.1", "empty list": [], "list": [0.1],
    "tuple": (0.1, 0.2), "list of None": [None], "texts": ["a", "b"], "dict": {},
    "dict of text": {"a": 1}, "set": set(), "range": range(3), "generator": None, "Ellipsis": ...,
    "array of nothing": np.array([]), "array of one": np.array([0.1]),
    "scalar array": np.array(0.1), "array of nan": np.array([np.nan]), "cube": np.zeros((2, 2, 2)),
    "object array": np.array([None, "a"], dtype=object), "datetime": np.datetime64("2020-01-01"),
    "timedelta": np.timedelta64(1, "D"), "NaT": np.datetime64("NaT"),
    "date": datetime.date(2020, 1, 1), "masked": np.ma.masked, "object": object(), "function": len,
    "slice": slice(1, None), "-slice": slice(None, None, -1), "lambda": lambda *_, **__: 1 / 0,
    "sparse": sparse.csr_array(np.eye(2)),
}  # fmt: skip
VALUES["generator"] = (i for i in range(0))


def _with(values, entry, dtype=None):
    changed = values.astype(
        dtype or np.result_type(values, type(entry)) if dtype is not object else object
    )
    changed.flat[len(changed.flat) // 2 :][:1] = entry
    return changed


def _ragged(values):
    rows = values.tolist()
    return [*rows[:-1], [*np.atleast_1d(rows[-1]).tolist(), 0.5]]


ODD_TABLES = {
    "None": lambda _: None,
    "number": lambda _: 0.5,
    "text": lambda _: "table",
    "nothing": lambda _: [],
    "nothing in it": lambda _: [[]],
    "no rows": lambda v: v[:0],
    "no columns": lambda v: v[:, :0] if v.ndim > 1 else v[:0],
    "neither": lambda _: np.empty((0, 0)),
    "one row": lambda v: v[:1],
    "first row": lambda v: v[0],
    "one column": lambda v: v[:, :1] if v.ndim > 1 else v[:, None],
    "first column": lambda v: v[:, 0] if v.ndim > 1 else v[0],
    "one more column": lambda v: np.column_stack([v, v]),
    "one row less": lambda v: v[:-1],
    "turned": lambda v: v.T.copy(),
    "cube": lambda v: v[None],
    "deep": lambda v: v[None, None, None],
    "ragged": _ragged,
    "nan": lambda v: _with(v, np.nan),
    "inf": lambda v: _with(v, np.inf),
    "-inf": lambda v: _with(v, -np.inf),
    "1e300": lambda v: _with(v, 1e300),
    "-1e300": lambda v: _with(v, -1e300),
    "all 1e300": lambda v: 1e300 * v,
    "all 1e308": lambda v: np.where(v > 0.5, 1.7e308, -1.7e308),
    "all subnormal": lambda v: 5e-324 * v,
    "subnormal": lambda v: _with(v, 5e-324),
    "-0.0": lambda v: np.where(v == 0, -0.0, v),
    "-1": lambda v: _with(v, -1.0),
    "2": lambda v: _with(v, 2.0),
    "0.3": lambda v: _with(v, 0.3),
    "None in it": lambda v: _with(v, None, object),
    "text in it": lambda v: _with(v, "1", object),
    "list in it": lambda v: _with(v, Fraction(1, 2), object),
    "decimal in it": lambda v: _with(v, Decimal(1), object),
    "enormous in it": lambda v: _with(v, 10**400, object),
    "array in it": lambda v: _with(v, len, object),
    "all zero": lambda v: 0 * v,
    "all one": lambda v: 0 * v + 1,
    "sparse nan": lambda v: sparse.csr_array(np.atleast_2d(_with(v, np.nan))),
    "sparse no rows": lambda v: sparse.csr_array(np.atleast_2d(v)[:0]),
    "sparse vector": lambda v: sparse.coo_array(np.atleast_2d(v)[0]),
    "int min": lambda v: np.full(v.shape, np.iinfo(np.int64).min),
    "uint max": lambda v: np.full(v.shape, np.iinfo(np.uint64).max),
    "rows turned": lambda v: v[::-1],
}
