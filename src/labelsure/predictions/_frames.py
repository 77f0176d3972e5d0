"""What is said about labels as a table: a column per label, or a row per object and label."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from labelsure._core.frames import make_frame, make_long_frame, name_columns
from labelsure._core.types import FloatArray
from labelsure._core.validation import check_choice

LAYOUTS = ("wide", "long")


def frame_of_labels(
    cells: np.ndarray[Any, Any],
    layout: str,
    *,
    called: str,
    figures: Callable[[], Mapping[str, Any]],
    p_values: Callable[[], FloatArray],
    label_names: Sequence[str],
    index: Any,
    prefix: str,
    library: str | None,
) -> Any:
    """Return a DataFrame of what is said about each label of each object.

    Parameters
    ----------
    cells : array of shape (n, q)
        What is said.
    layout : {"wide", "long"}
        One row per object, with a column per label; or one row per object and label.
    called : str
        What the column of cells is called in a long table.
    figures : callable
        Returns further columns of a wide table, one entry per object.
    p_values : callable
        Returns those of "off" and "on", shape (n, q, 2), for a long table.
    label_names, index, prefix, library
        What labels and objects are called, what is put before the names of labels, and "pandas", "polars" or None for
        what the objects came in.
    """
    if check_choice(layout, LAYOUTS, name="layout") == "wide":
        more = figures()
        columns = name_columns(label_names, more, prefix)
        return make_frame({**dict(zip(columns, cells.T, strict=True)), **more}, index=index, library=library)
    of_values = p_values()
    tables = {"p_off": of_values[:, :, 0], "p_on": of_values[:, :, 1], called: cells}
    names = [prefix + name for name in label_names]
    return make_long_frame(tables, label_names=names, index=index, library=library)
