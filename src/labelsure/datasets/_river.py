"""The yeast data inside the package river, for those who cannot or need not download it."""

import gzip
import importlib.util
import zlib
from hashlib import sha256
from pathlib import Path

import numpy as np

from labelsure.datasets._dataset import Dataset

N_TEST = 917
N_FEATURES = 103
TABLE_SHA256 = "d689391546fd6bba64c98918001616f2e3199d3f2459f18c9b194ada3c1efdc4"
"""Of the whole table as little-endian float64 row by row: Mulan's test file, then its training file."""


def yeast_from_river() -> Dataset | None:
    """Return yeast from an installed river, or None where that is not installed or does not carry the same values.

    River itself, which takes seconds to import, is not imported. Its file holds Mulan's test file
    in rows 0 to 916 and Mulan's training file in rows 917 to 2416.
    """
    path = _river_file()
    if path is None:
        return None
    try:
        header, *rows = gzip.decompress(path.read_bytes()).decode().split()
        table = np.array([[float(value) for value in row.split(",")] for row in rows], dtype="<f8")
    except (OSError, EOFError, ValueError, zlib.error):
        return None  # another river's file, or a damaged one, is no worse than none
    names = header.split(",")
    if sha256(table.tobytes()).hexdigest() != TABLE_SHA256 or table.shape[1:] != (len(names),):
        return None
    table = np.roll(table, -N_TEST, axis=0)
    return Dataset(
        name="yeast",
        X=np.ascontiguousarray(table[:, :N_FEATURES], dtype=np.float64),
        Y=table[:, N_FEATURES:],
        feature_names=tuple(names[:N_FEATURES]),
        label_names=tuple(names[N_FEATURES:]),
        n_train=table.shape[0] - N_TEST,
        source=str(path),
    )


def _river_file() -> Path | None:
    try:
        spec = importlib.util.find_spec("river")
    except ValueError:  # a module of that name without a spec stands in its place
        return None
    for folder in (spec and spec.submodule_search_locations) or []:
        path = Path(folder, "datasets", "yeast.csv.gz")
        if path.is_file():
            return path
    return None
