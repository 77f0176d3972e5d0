"""Models, in memory or in a file that each process reads once, and what they make of a table."""

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelsure._core.files import full_path
from labelsure.conformal import OutputsPredictor
from labelsure.datasets import TableSchema, as_arrow, names_of_columns, open_table, table_library
from labelsure.model_file import ModelFileError, open_model, read_manifest

MODELS_KEPT = 4
_kept: dict[Any, "Trained"] = {}
_one_at_a_time = threading.Lock()


class Trained(NamedTuple):
    """A model from a file, and what the columns of its tables are.

    Attributes
    ----------
    model : object
        The model.
    schema : TableSchema or None
        None where the file does not say.
    """

    model: Any
    schema: TableSchema | None


class Facts(NamedTuple):
    """What is known of a model without asking it."""

    n_labels: int
    columns: tuple[str, ...] | None  # that it learned from, in order; None: whatever a table has
    by_name: bool  # whether it takes tables as such, and not only arrays


def open_trained(path: str | PathLike[str], *, trusted: Sequence[str] = ()) -> Trained:
    """Return a model from a file with the schema of its tables.

    Parameters
    ----------
    path : str or path
        What :func:`labelsure.model_file.save_model` or ``labelsure fit`` wrote.
    trusted : sequence of str
        As in :func:`labelsure.model_file.load_model`.

    Raises
    ------
    ModelFileError
        Where the file cannot be read, or its schema is that of another model.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from labelsure import calibrate_outputs, save_model
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.labelsure")
    ...     save_model(calibrate_outputs([[0.9, 0.2], [0.3, 0.8]], [[1, 0], [0, 1]]), path)
    ...     open_trained(path).schema is None
    True
    """
    opened = open_model(path, trusted=trusted)
    if opened.table is None:
        return Trained(opened.model, None)
    model, schema = opened.model, TableSchema.from_json(opened.table)
    names, n_features = getattr(model, "label_names_", None), getattr(model, "n_features_in_", None)
    labels = getattr(model, "n_labels_", len(schema.label_names)), names or schema.label_names
    if labels != (len(schema.label_names), schema.label_names) or n_features not in (None, len(schema.columns)):
        raise ModelFileError(
            f"{path} was saved with the description of another table: its labels or columns are not those of the model."
            " Save it again with the schema that it was fitted by."
        )
    return Trained(model, schema)


def limit_cores(model: Any, n_jobs: int | None) -> Any:
    """Return a shallow copy of a predictor that uses so many cores; the model itself stays as it is.

    Parameters
    ----------
    model : fitted predictor
        Whose answers do not depend on this.
    n_jobs : int or None
        As in joblib.

    Examples
    --------
    >>> from labelsure import calibrate_outputs
    >>> limit_cores(calibrate_outputs([[0.9], [0.3]], [[1], [0]], n_jobs=4), 1).calibrator.n_jobs
    1
    """
    limited = copy(model)
    for name in ("calibrator_", "calibrator"):
        if hasattr(model, name):
            setattr(limited, name, replace(getattr(model, name), n_jobs=n_jobs))
    if hasattr(model, "n_jobs"):
        limited.n_jobs = n_jobs
    return limited


@dataclass(frozen=True, eq=False)
class InMemory:
    """A fitted predictor, pickled with whatever holds this."""

    model: Any

    @property
    def facts(self) -> Facts:
        """What is known of it."""
        model = self.model
        if not hasattr(model, "predict_labelsets"):
            raise TypeError(
                "model must be a fitted predictor of labelsets, with predict_labelsets, or the path of its file, got a"
                f" {type(model).__name__}."
            )
        if getattr(model, "fold_numbers", None) is not None:
            raise TypeError(
                "model was calibrated with outputs in folds, and takes new outputs of each fold's model: several"
                " tables at once. Give predict_labelsets all of them, or calibrate without folds."
            )
        n_labels = getattr(model, "n_labels_", getattr(model, "n_labels", None))
        if n_labels is None:
            raise TypeError(f"model must be fitted, got a {type(model).__name__} that is not: call fit first.")
        of_outputs = isinstance(model, OutputsPredictor)
        names = model.calibrator.label_names if of_outputs else getattr(model, "feature_names_in_", None)
        return Facts(int(n_labels), None if names is None else tuple(map(str, names)), names is not None)

    def load(self) -> Trained:
        """Return the model."""
        return Trained(self.model, None)


@dataclass(frozen=True)
class InFile:
    """A model file: what is pickled is its path, and each process reads it once."""

    path: Path
    trusted: tuple[str, ...]
    n_jobs: int | None
    digest: str

    @classmethod
    def at(cls, path: str | PathLike[str], trusted: Sequence[str], n_jobs: int | None) -> "InFile":
        """Return the file at a path as it is now."""
        if "\0" in str(path):
            raise ValueError(
                f"model must be a predictor or the path of its file, got {path!r}, which no file is called."
            )
        place = full_path(path)
        return cls(place, tuple(trusted), n_jobs, _digest_of(read_manifest(place)))

    @property
    def facts(self) -> Facts:
        """What its manifest says."""
        manifest = read_manifest(self.path)
        of_outputs = manifest["model"] == OutputsPredictor.__name__
        names, n_labels = manifest["labels"] if of_outputs else manifest["features"]["names"], manifest["n_labels"]
        if n_labels is None:
            raise TypeError(f"{self.path} holds a {manifest['model']}, which does not predict labelsets.")
        return Facts(int(n_labels), None if names is None else tuple(names), names is not None)

    def load(self) -> Trained:
        """Return the model with its schema, from the file when this process first needs it."""
        with _one_at_a_time:
            if self not in _kept:
                trained = open_trained(self.path, trusted=self.trusted)
                if _digest_of(read_manifest(self.path)) != self.digest:
                    raise ModelFileError(f"{self.path} is another file than it was: make a new TablePredictor of it.")
                _ = InMemory(trained.model).facts  # or say what it is instead
                while len(_kept) >= MODELS_KEPT:
                    del _kept[next(iter(_kept))]
                _kept[self] = trained._replace(model=limit_cores(trained.model, self.n_jobs))
            return _kept[self]


def _digest_of(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def features_of(table: Any, facts: Facts, schema: TableSchema | None, columns: Sequence[str]) -> Any:
    """Return what a model takes for the rows of a table: by its schema, by names, or all that there is.

    Parameters
    ----------
    table : DataFrame of pandas or polars, table or record batch of pyarrow, array or sparse matrix
        Arrays are what the model takes already.
    facts, schema
        Of the model.
    columns : sequence of str
        The columns that an array is made of, where neither names nor a schema say so.
    """
    library = table_library(table)
    if library is None:
        return table
    if schema is not None:
        return open_table(table, schema, batch_size=len(table)).read().X
    names, there = list(facts.columns or columns), names_of_columns(table)
    absent = [name for name in names if name not in there]
    if absent:
        raise ValueError(
            f"the table lacks {len(absent)} of the {len(names)} columns that the model takes, {absent[0]!r} among them."
        )
    chosen = [there.index(name) for name in names]
    if library == "pyarrow":
        table, library = as_arrow(table, names).to_pandas(), "pandas"
        chosen = list(range(len(names)))
    found = table.iloc[:, chosen] if library == "pandas" else table[:, chosen]
    return found if facts.by_name else np.asarray(found.to_numpy())
