"""Model files: a manifest, the objects as skops writes them, and all arrays. No code is run.

A file is a zip, written from the first byte to the last and never read back::

    manifest.json      who wrote it, with which versions, and what it holds
    schema.json        the objects, as skops describes them; skops/0.npy, ... belong to them
    arrays.json        type, shape and order of each array of numbers
    arrays/f8.npy      those of one type, one after the other
    (zip comment)      the digest of all other bytes

A text stands in the schema for each array, and a ``Kept`` for other objects that are not stored as
skops would store it.
"""

import hashlib
import json
import platform
import re
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from io import BytesIO
from math import prod
from os import PathLike
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, BinaryIO, Literal

import numpy as np
from numpy.lib import format as npy
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils._metadata_requests import MetadataRequest

from labelsure._checks import is_list
from labelsure._compact_trees import (
    Array,
    Pieces,
    are_equal,
    pack_boosting,
    pack_trees,
    unpack_boosting,
    unpack_trees,
)
from labelsure._errors import import_optional
from labelsure._files import whole_file
from labelsure._parallel import progress_bar
from labelsure._version import __version__

__all__ = ["ModelFile", "ModelFileError", "load_model", "open_model", "read_manifest", "save_model"]

AnyPath = str | PathLike[str]
Trusted = Iterable[str | type] | str | type

FORMAT = 1
"""The number of the format; files with a higher one are for a later labelsure."""

MANIFEST = "manifest.json"
SCHEMA = "schema.json"
TABLE = "arrays.json"
MEMBER = re.compile(
    r"(manifest|schema|arrays)\.json|arrays/[a-z]\d{1,2}\.npy|skops/\d{1,6}\.(npy|npz|bin)"
)
KEYS = frozenset(
    ("format", "labelsure", "versions", "model", "labels", "n_labels", "features", "table",
     "learners", "trusted")
)  # fmt: skip
MOST_MEMBERS = 100_000
MOST_BYTES = 2**36
MOST_MANIFEST_BYTES = 2**24
SEAL, DIGITS = b"labelsure model file, sha256 ", 64
LEVEL, CHUNK = 6, 2**20

STRICT = {"sklearn": "scikit-learn", "lightgbm": "lightgbm", "xgboost": "xgboost"}
"""Modules whose learners another minor version may misread, and the names of their packages."""

MODELS = {
    "labelsure.conformal": (
        "CrossConformalClassifier", "FullConformalClassifier", "InductiveConformalClassifier",
        "LabelWiseConformalClassifier", "LabelWiseOutputsPredictor", "OutputsPredictor",
    ),
    "labelsure.decisions": (
        "CoverController", "LabelCover", "PrecisionController", "RecallController",
        "ReviewSelector",
        "ThresholdPredictor",
    ),
    "labelsure.learners": ("PooledClassifier", "RecalibratedClassifier"),
    "labelsure.paper": ("BPMLLClassifier", "MLNBClassifier", "MLRBFClassifier", "MLkNNClassifier"),
}  # fmt: skip
"""What can be saved, by the rooms that it is found in."""

PARTS = {
    "labelsure.conformal": ("ByCardinality", "ByLabel", "ByObject", "MultiLabelStratifiedKFold"),
    "labelsure.conformal._calibrator": ("CalibratedFold", "Calibrator"),
    "labelsure.conformal._choices": ("Choices",),
    "labelsure.conformal._merging": ("GroupSizes",),
    "labelsure.conformal._label_wise": ("LabelCalibration",),
    "labelsure.decisions": ("Question",),
    "labelsure.learners": ("FittedBase",),
    "labelsure.learners._adapter": ("LabelByLabel",),
    "labelsure.learners._table_members": (
        "DenseFeatures", "FilledFeatures", "KernelFeatures", "NeighbourClassifier",
        "RidgeProbabilities", "ScaledFeatures",
    ),
    "labelsure.engine": (
        "Allowed", "AtLeast", "AtMost", "Exactly", "Exclude", "Hierarchy", "Implies",
    ),
    "labelsure.engine._rules": ("Inequality", "LabelsetRules"),
    "labelsure.measures": (
        "AutoMeasure", "CardinalityPenalty", "ForestMeasure", "FunctionMeasure", "HammingPenalty",
        "LabelWiseCombination", "LabelsetPrior", "LogLossMeasure", "MahalanobisMeasure",
        "MaxNormMeasure",
        "MeasureSum", "PosteriorMeasure", "PowerMeasure", "UnseenPenalty",
    ),
    "labelsure.measures._choice": ("MeasureChoice",),
    "labelsure.measures._log_partition": ("CountedPrior",),
    "labelsure.measures._posterior": ("PosteriorParameters",),
    "labelsure.model_file": ("Kept",),
    "labelsure.paper._mlnb": ("LogOdds",),
}  # fmt: skip
"""Other classes of labelsure allowed in files; never all, because skops calls trusted types."""

OTHERS = {
    "collections": ("OrderedDict", "defaultdict"),
    "functools": ("partial",),
    "lightgbm.basic": ("Booster",),
    "lightgbm.sklearn": ("LGBMClassifier",),
    "numpy": ("dtype",),
    "scipy.sparse._bsr": ("bsr_array", "bsr_matrix"),
    "scipy.sparse._coo": ("coo_array", "coo_matrix"),
    "scipy.sparse._csc": ("csc_array", "csc_matrix"),
    "scipy.sparse._csr": ("csr_array", "csr_matrix"),
    "scipy.sparse._dia": ("dia_array", "dia_matrix"),
    "sklearn.calibration": ("_CalibratedClassifier", "_SigmoidCalibration"),
    "sklearn.compose._column_transformer": ("_RemainderColsList",),
    "sklearn.feature_selection._mutual_info": ("mutual_info_classif",),
    "sklearn.feature_selection._univariate_selection": ("chi2", "f_classif"),
    "sklearn.metrics._classification": (
        "accuracy_score", "f1_score", "hamming_loss", "jaccard_score", "log_loss",
        "precision_score", "recall_score",
    ),
    "sklearn.metrics._ranking": ("average_precision_score", "label_ranking_loss", "roc_auc_score"),
    "sklearn.metrics._scorer": ("_PassthroughScorer", "_Scorer"),
    "sklearn.model_selection._split": (
        "GroupKFold", "GroupShuffleSplit", "KFold", "LeaveOneGroupOut", "LeaveOneOut",
        "PredefinedSplit",
        "ShuffleSplit", "StratifiedKFold", "TimeSeriesSplit",
    ),
    "sklearn.multiclass": ("_ConstantPredictor",),
    "sklearn.neural_network._stochastic_optimizers": ("AdamOptimizer", "SGDOptimizer"),
    "sklearn.utils._bunch": ("Bunch",),
    "sklearn.utils.validation": ("check_array",),
    "xgboost.core": ("Booster",),
    "xgboost.sklearn": ("XGBClassifier", "XGBRFClassifier"),
}  # fmt: skip
"""What files may hold of other packages, besides what skops trusts."""

MODEL_NAMES = frozenset(f"{room}.{name}" for room, names in MODELS.items() for name in names)
ALLOWED = MODEL_NAMES | {
    f"{room}.{name}" for part in (PARTS, OTHERS) for room, names in part.items() for name in names
}
NOT_KEPT = ("memory", "n_jobs")
"""Attributes about the machine that a model was fitted on: a folder, a number of cores."""

NO_CODE = (
    "it holds a function of your own, {name}, and files hold no code: use what goes by name, such"
    " as ByCardinality(), ByLabel() and constraints, or put the function into a module and name it"
    " by trusted="
)
COLUMNS = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64",
    "object", "str", "string",
)  # fmt: skip
"""The types of a table's columns."""

MANY = 8
"""Items of a list from which on what they have in common is stored once."""

SMALL = 2**16
"""Bytes up to which equal arrays are stored once."""

NUMBERS = "biufc"
"""Kinds of dtypes that are stored side by side."""

CONTAINERS = {
    f"builtins.{name}" for name in ("bool", "dict", "float", "int", "list", "str", "tuple")
} | {"numpy.ndarray"}
"""What skops always trusts."""

TREE = "sklearn.tree._tree.Tree"
BOOSTING = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.BaseHistGradientBoosting"
NEIGHBOURS = "sklearn.neighbors._base.NeighborsBase"

SIMPLE = (bool, int, float, str, type(None))
PLAIN = (*SIMPLE, bytes)
ARRAY, TEXT = "\0array ", "\0text "
"""Prefixes of the text that replaces an array, by number, and of a text that starts with a null."""

SIMPLE_ONES = "simple attributes"
"""The attribute that holds all simple attributes as one JSON text: skops is slow for many."""

AS_USUAL: tuple[Any, ...] = (None, BaseEstimator.__setstate__)
"""What an object has for ``__setstate__`` that sets attributes and does nothing else."""


class ModelFileError(ValueError):
    """A model file cannot be written or must not be read; the message is one line and says why.

    Examples
    --------
    >>> from labelsure.model_file import ModelFileError
    >>> issubclass(ModelFileError, ValueError)
    True
    """


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds.

    Attributes
    ----------
    model : object
        The model.
    manifest : dict
        What the file says about itself, see :func:`read_manifest`.
    table : dict or None
        What was given as ``table`` to :func:`save_model`, such as how the columns of a table become
        features.

    Examples
    --------
    >>> ModelFile(model=None, manifest={"format": 1}, table=None).manifest["format"]
    1
    """

    model: Any
    manifest: dict[str, Any]
    table: dict[str, Any] | None


def save_model(
    model: Any, path: AnyPath, *, table: Mapping[str, Any] | None = None, trusted: Trusted = ()
) -> None:
    """Save a fitted model as a file that :func:`load_model` reads without running any code from it.

    The file is written beside its place and renamed in the end: where anything fails, a file that
    was there before stays as it is.

    Parameters
    ----------
    model : object
        A fitted predictor, controller or selector of this package, or one of its classifiers.
    path : str or path
        The file, as a rule with the suffix ``.labelsure``.
    table : mapping or None, default=None
        Anything that JSON can hold, kept with the model: how the columns of a table become
        features, for instance.
    trusted : iterable of str or type, default=()
        Types, or functions by name, that the model may hold beside those of labelsure and those of
        scikit-learn, LightGBM and XGBoost that are known: ``"module.Name"``, or the class itself.
        :func:`load_model` has to be told them too.

    Raises
    ------
    ModelFileError
        Where the model holds something that a file does not; the message says what, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import InductiveConformalClassifier, MLkNNClassifier, load_model, save_model
    >>> X, Y = make_multilabel_classification(n_samples=120, n_classes=3, random_state=0)
    >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0)
    >>> model = model.fit(X[:100], Y[:100])
    >>> path = Path(tempfile.mkdtemp()) / "model.labelsure"
    >>> save_model(model, path)
    >>> again = load_model(path)
    >>> before, after = (m.predict_labelsets(X[100:]).p_values() for m in (model, again))
    >>> bool((before == after).all())
    True
    """
    names = _trusted_names(trusted)
    with (
        _one_line(Path(path), "was not written"),
        progress_bar(description="saving", total=2) as bar,
    ):
        _check_model(model)
        try:
            kept = None if table is None else json.loads(json.dumps(dict(table), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ModelFileError(f"table must be what JSON can hold: {error}") from error
        packer = _Packer()
        schema, files = _skops_schema(packer.pack(model))
        types = _types_in(schema)
        _refuse_types(_untrusted(schema) - names)
        manifest = {
            "format": FORMAT,
            "labelsure": __version__,
            "versions": _versions_of(types),
            **_facts(model),
            "table": kept,
            "learners": sorted(name for name in types if name.partition(".")[0] in STRICT),
            "trusted": sorted(types & names),
        }
        bar.update()
        with whole_file(Path(path)) as file:
            _write_archive(file, manifest, schema, files, packer.arrays)


def load_model(path: AnyPath, *, trusted: Trusted = ()) -> Any:
    """Return the model of a file, which is checked for damage.

    No code is run from the file, whoever made it, unless you trust a type by whose name it does.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : iterable of str or type, default=()
        As in :func:`save_model`. Name only what you know: objects of these types are made from what
        the file says.

    Raises
    ------
    ModelFileError
        Where the file is damaged, of another version or not to be trusted; one line.

    Examples
    --------
    See :func:`save_model`.

    >>> from labelsure import load_model
    >>> load_model("/no/such/file.labelsure")
    Traceback (most recent call last):
    ...
    labelsure.model_file.ModelFileError: ...file.labelsure cannot be read: No such file or ...
    """
    return open_model(path, trusted=trusted).model


def open_model(path: AnyPath, *, trusted: Trusted = ()) -> ModelFile:
    """Return the model of a file with what is kept beside it.

    Parameters
    ----------
    path, trusted
        As in :func:`load_model`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.model_file import open_model, save_model
    >>> outputs = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]]
    >>> predictor = calibrate_outputs(outputs, [[1, 0], [1, 0], [0, 1]])
    >>> path = Path(tempfile.mkdtemp()) / "model.labelsure"
    >>> save_model(predictor, path, table={"columns": ["age", "weight"]})
    >>> open_model(path).table
    {'columns': ['age', 'weight']}
    """
    names = _trusted_names(trusted)
    with (
        _one_line(Path(path), "cannot be read"),
        Path(path).open("rb") as file,
        _open_archive(file) as archive,
    ):
        manifest = _read_manifest(archive)
        _check_digest(file, manifest["sha256"])
        versions = {**manifest["versions"], "labelsure": manifest["labelsure"]}
        if other := _other_versions(versions, STRICT.values()):
            raise ModelFileError(
                f"its learners were fitted with {', '.join(other)}, which may read them otherwise:"
                " install those versions, or fit again"
            )
        schema = json.loads(archive.read(SCHEMA))
        content = _load(file, schema, names)
        model = _Unpacker(_read_arrays(archive)).unpack(content)
        if _name_of(type(model)) not in MODEL_NAMES:
            raise ModelFileError(f"it holds no model, but a {type(model).__name__}")
    if other := _other_versions(versions, set(versions) - {"python", *STRICT.values()}):
        warnings.warn(
            f"{path} was saved with {', '.join(other)}: should its answers differ, install those"
            " versions.",
            stacklevel=2,
        )
    return ModelFile(model, manifest, manifest["table"])


def read_manifest(path: AnyPath) -> dict[str, Any]:
    """Return what a file says about itself, without reading the model.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        The ``format``, the ``versions`` that wrote it, the class of the ``model``, its ``labels``
        and ``features`` as far as they are known, the ``table``, the types of other packages among
        its ``learners``, those that it has to be ``trusted`` with, and the ``sha256`` of its bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.model_file import read_manifest, save_model
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> path = Path(tempfile.mkdtemp()) / "model.labelsure"
    >>> save_model(calibrate_outputs(outputs, Y, label_names=["sea", "city"]), path)
    >>> manifest = read_manifest(path)
    >>> manifest["model"], manifest["labels"]
    ('OutputsPredictor', ['sea', 'city'])
    """
    with (
        _one_line(Path(path), "cannot be read"),
        Path(path).open("rb") as file,
        _open_archive(file) as archive,
    ):
        return _read_manifest(archive)


@contextmanager
def _one_line(path: Path, what: str) -> Iterator[None]:
    """Turn whatever goes wrong with a file into one line that names it."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ImportError) and "labelsure[" in str(error):
            raise  # says what to install
        if isinstance(error, ModelFileError):
            why = str(error)
        elif isinstance(error, OSError):
            why = error.strerror or str(error)
        elif isinstance(error, RecursionError):
            why = "it holds something that refers to itself, or is nested too deep"
        elif what.startswith("cannot"):
            why = f"it is damaged ({type(error).__name__}: {error})"
        else:
            raise
        raise ModelFileError(f"{path} {what}: {' '.join(why.split())[:600]}.") from error


def _trusted_names(trusted: Any) -> frozenset[str]:
    if isinstance(trusted, str | type):
        trusted = [trusted]
    given: list[Any] = list(trusted) if is_list(trusted) else [None]
    if not all(isinstance(one, str | type) for one in given):
        raise ValueError(
            f"trusted must hold names of classes such as 'package.module.Class', got {trusted!r}."
        )
    return frozenset(
        one if isinstance(one, str) else f"{one.__module__}.{one.__qualname__}" for one in given
    )


def _check_model(model: Any) -> None:
    if _name_of(type(model)) not in MODEL_NAMES:
        raise ModelFileError(
            "a model file holds a fitted predictor, controller, selector or classifier of"
            f" labelsure, got a {type(model).__name__}"
        )
    learns = hasattr(model, "fit") or hasattr(model, "calibrate")
    if learns and not any(name.endswith("_") and not name.startswith("_") for name in vars(model)):
        raise ModelFileError(f"the {type(model).__name__} is not fitted: call fit first")


def _facts(model: Any) -> dict[str, Any]:
    """Return what a reader of the manifest may want to know of a model."""
    inner = getattr(model, "model", model)
    calibrator = getattr(inner, "calibrator", None)
    labels = getattr(
        inner,
        "label_names_",
        getattr(inner, "label_names", getattr(calibrator, "label_names", None)),
    )
    names = getattr(inner, "feature_names_in_", None)
    return {
        "model": type(model).__name__,
        "labels": None if labels is None else list(labels),
        "n_labels": getattr(inner, "n_labels_", getattr(inner, "n_labels", None)),
        "features": {
            "number": getattr(inner, "n_features_in_", None),
            "names": None if names is None else list(names),
        },
    }


# --- objects to what skops can write, and back


class Kept:
    """Stands in a schema for something that is stored in another form than skops would.

    Parameters
    ----------
    kind : str
        What it is: the name of a method of the reader.
    *parts
        What it is made from.
    """

    def __init__(self, kind: str, *parts: Any) -> None:
        self.kind = kind
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, (self.kind, *self.parts)


@dataclass(frozen=True)
class _StoredArray:
    """An array that comes in pieces when it is written."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: Literal["C", "F"]
    pieces: Pieces


class _ArrayText(str):
    """The text of an array that is stored already."""


class _Packer:
    """Copies objects, with everything that is not left to skops replaced; changes nothing."""

    def __init__(self) -> None:
        self.arrays: list[_StoredArray] = []
        self._numbers: dict[Any, int] = {}
        # with the object itself, so that no other gets its id
        self._done: dict[int, tuple[Any, Any]] = {}

    def pack(self, thing: Any) -> Any:
        if type(thing) in PLAIN:
            return TEXT + thing if type(thing) is str and thing[:1] == "\0" else thing
        if type(thing) is _ArrayText:
            return str(thing)
        if isinstance(thing, np.ndarray | np.generic):
            return self._pack_array(thing)  # never the same one, for skops would number it
        if id(thing) not in self._done:
            self._done[id(thing)] = self._pack(thing), thing
        return self._done[id(thing)][0]

    def _pack(self, thing: Any) -> Any:
        cls = type(thing)
        if isinstance(thing, tuple):
            packed = _tuple_like(cls, map(self.pack, thing))
        elif cls is list:
            packed = self._pack_list(thing)
        elif cls in (set, frozenset):
            packed = Kept(cls.__name__, *map(self.pack, sorted(thing, key=repr)))
        elif cls is dict and not all(type(key) is str for key in thing):
            packed = Kept("dict", self.pack(list(thing)), self.pack(list(thing.values())))
        elif isinstance(thing, dict):
            packed = copy(thing)
            packed.update({key: self.pack(value) for key, value in thing.items()})
        else:
            packed = self._pack_object(thing)
        return packed

    def _pack_list(self, things: list[Any]) -> Any:
        """Return a packed list; estimators that are alike share what is equal."""
        kinds = set(map(type, things))
        if len(things) >= MANY and set(map(_name_of, kinds)) == {TREE}:
            first, *others = [(tree.n_features, tree.n_outputs, *tree.n_classes) for tree in things]
            if set(others) == {first}:
                return Kept("trees", *self._pack_trees(things))
        if len(things) >= MANY and all(isinstance(one, BaseEstimator) for one in things):
            groups: dict[Any, list[int]] = {}
            for place, one in enumerate(things):
                groups.setdefault((type(one), *vars(one)), []).append(place)
            return Kept("alike", *(self._pack_alike(places, things) for places in groups.values()))
        packed = list(map(self.pack, things))
        are_simple = len(packed) >= MANY and all(type(one) in SIMPLE for one in packed)
        return Kept("json", json.dumps(packed)) if are_simple else packed

    def _pack_alike(self, places: list[int], things: list[Any]) -> tuple[Any, ...]:
        """Return positions of estimators, a template of what they share, and lists of the rest."""
        attributes = [self._attributes_of(things[place]) for place in places]
        columns = {name: [own[name] for own in attributes] for name in attributes[0]}
        differing = {
            name
            for name, values in columns.items()
            if not all(are_equal(one, values[0]) for one in values)
        }
        template = object.__new__(type(things[places[0]]))
        shared = {
            name: self.pack(values[0]) for name, values in columns.items() if name not in differing
        }
        vars(template).update(shared)
        lists = {
            name: self._pack_list(values) for name, values in columns.items() if name in differing
        }
        return self._pack_list(places), template, lists

    def _pack_array(self, array: Any) -> Any:
        if type(array) is np.ndarray and array.dtype == object:
            return _filled(array.shape, map(self.pack, array.flat))
        if array.dtype.kind not in NUMBERS or not array.dtype.isnative:
            return array
        if isinstance(array, np.generic):
            return Kept("scalar", self._store(np.asarray(array)))
        if type(array) not in (np.ndarray, np.memmap):
            return array
        return ARRAY + str(self._store(array))

    def _store(self, array: Array) -> int:
        """Store an array, small ones by content, so that shared objects do not change the file."""
        order: Literal["C", "F"] = (
            "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        )
        small = array.nbytes <= SMALL
        key = (array.dtype.str, array.shape, order, array.tobytes()) if small else id(array)
        if key not in self._numbers:
            self._numbers[key] = len(self.arrays)
            self.arrays.append(_StoredArray(array.dtype, array.shape, order, lambda: iter([array])))
        return self._numbers[key]

    def _keep_pieces(self, pieces: Pieces, dtype: Any, shape: tuple[int, ...]) -> str:
        self.arrays.append(_StoredArray(np.dtype(dtype), shape, "C", pieces))
        return _ArrayText(ARRAY + str(len(self.arrays) - 1))

    def _pack_object(self, thing: Any) -> Any:
        name = _name_of(type(thing))
        packed = thing  # which is left to skops
        if isinstance(thing, FunctionType | MethodType):
            if "<" in thing.__qualname__ or thing.__module__ == "__main__":
                raise ModelFileError(NO_CODE.format(name=thing.__qualname__))
        elif isinstance(thing, MetadataRequest):
            # skops has no end where an object refers to itself, as the owner of its requests does
            methods = {
                method: part.requests for method, part in vars(thing).items() if method != "owner"
            }
            packed = Kept("requests", {method: asked for method, asked in methods.items() if asked})
        elif name == TREE:
            packed = Kept("tree", *self._pack_trees([thing]))
        elif sparse.issparse(thing) and thing.format in ("csr", "csc"):
            parts = map(self.pack, (thing.data, thing.indices, thing.indptr))
            packed = Kept("sparse", type(thing), thing.shape, *parts)
        elif name in ("pandas.DataFrame", "pandas.core.frame.DataFrame"):
            packed = self._pack_frame(thing)
        elif (
            is_dataclass(thing)
            and not isinstance(thing, BaseEstimator | type)
            and name.startswith("labelsure.")
        ):
            names = [field.name for field in fields(thing) if field.init]
            names = [name for name in names if name not in NOT_KEPT]
            values = [self.pack(getattr(thing, name)) for name in names]
            packed = Kept("made", type(thing), json.dumps(names), *values)
        elif _is_plain(thing):
            packed = object.__new__(type(thing))
            attributes = {name: self.pack(one) for name, one in self._attributes_of(thing).items()}
            if getattr(type(thing), "__setstate__", AS_USUAL[0]) in AS_USUAL:
                simple = {name: one for name, one in attributes.items() if type(one) in SIMPLE}
                attributes = {SIMPLE_ONES: json.dumps(simple)} | {
                    name: one for name, one in attributes.items() if name not in simple
                }
            vars(packed).update(attributes)
        return packed

    def _pack_trees(self, trees: list[Any]) -> tuple[Any, ...]:
        first = trees[0]
        parts = self.pack(pack_trees(trees, self._keep_pieces))
        return parts, first.n_features, self.pack(first.n_classes), first.n_outputs

    def _attributes_of(self, thing: Any) -> dict[str, Any]:
        """Return attributes by name, without settings of the machine; trees as columns."""
        # measures leave out what they can recompute
        ours = type(thing).__module__.startswith("labelsure.")
        attributes = dict(sorted(((thing.__getstate__() if ours else vars(thing)) or {}).items()))
        if _is_a(thing, BOOSTING) and attributes.get("_predictors"):
            trees = pack_boosting(attributes["_predictors"], self._keep_pieces)
            attributes["_predictors"] = Kept("boosting", self.pack(trees), thing.n_features_in_)
        if _is_a(thing, NEIGHBOURS):
            attributes["_tree"] = None  # rebuilt from the rows
        if _has_settings(thing):
            attributes.update({name: None for name in NOT_KEPT if name in attributes})
        return attributes

    def _pack_frame(self, frame: Any) -> Kept:
        """Return a table column by column, without its index, which no model depends on."""
        for name, kind in frame.dtypes.items():
            if type(name) is not str or str(kind) not in COLUMNS:
                raise ModelFileError(
                    f"a table with a column {name!r} of {kind} cannot be kept: make it numbers or"
                    " texts"
                )
        columns = [
            [name, str(frame[name].dtype), self.pack(frame[name].to_numpy())]
            for name in frame.columns
        ]
        return Kept("frame", columns)


class _Unpacker:
    """Puts what is stored in another form where a :class:`Kept` stands for it."""

    def __init__(self, arrays: list[Array]) -> None:
        self._arrays = arrays
        self._done: dict[int, tuple[Any, Any]] = {}

    def unpack(self, thing: Any) -> Any:
        if type(thing) is str and thing[:1] == "\0":
            is_text = thing.startswith(TEXT)
            return thing.removeprefix(TEXT) if is_text else self._arrays[int(thing[len(ARRAY) :])]
        if type(thing) in PLAIN:
            return thing
        if id(thing) not in self._done:
            self._done[id(thing)] = self._unpack(thing), thing
        return self._done[id(thing)][0]

    def _unpack(self, thing: Any) -> Any:
        if type(thing) is Kept:
            return self._unpack_kept(thing)
        if isinstance(thing, tuple):
            return _tuple_like(type(thing), map(self.unpack, thing))
        if type(thing) is list:
            thing[:] = map(self.unpack, thing)
        elif isinstance(thing, dict):
            for key in thing:
                thing[key] = self.unpack(thing[key])
        elif type(thing) is np.ndarray and thing.dtype == object:
            return _filled(thing.shape, map(self.unpack, thing.flat))
        elif _is_plain(thing):
            self._unpack_attributes(thing)
        elif _name_of(type(thing)) == "xgboost.core.Booster":
            thing.set_param({"nthread": 0})
        return thing

    def _unpack_attributes(self, thing: Any) -> None:
        attributes = vars(thing)
        attributes.update(json.loads(attributes.pop(SIMPLE_ONES, "{}")))
        attributes.update({name: self.unpack(value) for name, value in attributes.items()})
        _finish_object(thing)

    def _unpack_kept(self, kept: Kept) -> Any:
        makers: dict[str, Callable[..., Any]] = {
            "scalar": lambda number: self._arrays[number][()],
            "set": lambda *parts: set(parts),
            "frozenset": lambda *parts: frozenset(parts),
            "dict": lambda keys, values: dict(zip(keys, values, strict=True)),
            "requests": _make_requests,
            "json": lambda text: self.unpack(json.loads(text)),
            "sparse": _make_sparse,
            "tree": lambda *parts: unpack_trees(*parts)[0],
            "trees": unpack_trees,
            "boosting": unpack_boosting,
            "alike": _make_alike,
            "frame": _make_frame,
            "made": _make_record,
        }
        if kept.kind not in makers:
            raise ModelFileError(
                f"it holds something of a kind {str(kept.kind)[:40]!r}, which this labelsure does"
                " not know"
            )
        return makers[kept.kind](*map(self.unpack, kept.parts))


def _finish_object(thing: Any) -> None:
    """Check a complete object, and make the attributes that are not stored."""
    own = vars(thing)
    if _has_settings(thing):
        own.update({name: None for name in NOT_KEPT if name in own})
    if own.get("input", "content") in ("file", "filename"):
        raise ModelFileError("its texts are names of files, and models read no files")
    if "tree_" in own and thing.tree_.n_features != thing.n_features_in_:
        raise ModelFileError("a tree is one of other features")
    if (
        _is_a(thing, NEIGHBOURS)
        and own.get("_fit_method") in ("kd_tree", "ball_tree")
        and "_fit_X" in own
    ):
        from sklearn.neighbors import BallTree, KDTree

        grow = KDTree if thing._fit_method == "kd_tree" else BallTree
        metric, params = thing.effective_metric_, thing.effective_metric_params_
        thing._tree = grow(thing._fit_X, thing.leaf_size, metric=metric, **params)
    requests = own.get("_metadata_request")
    if isinstance(requests, MetadataRequest):
        for part in (requests, *vars(requests).values()):
            if hasattr(part, "owner"):
                part.owner = thing


def _make_alike(*groups: tuple[list[int], Any, dict[str, list[Any]]]) -> list[Any]:
    """Return estimators in their places; those of a group share what the template has."""
    estimators = {}
    for places, template, lists in groups:
        for number, place in enumerate(places):
            estimator = object.__new__(type(template))
            vars(estimator).update(
                vars(template) | {name: values[number] for name, values in lists.items()}
            )
            _finish_object(estimator)
            estimators[place] = estimator
    return [estimators[place] for place in range(len(estimators))]


def _make_sparse(cls: type, shape: tuple[int, int], *parts: Array) -> Any:
    if cls not in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array):
        raise ModelFileError("it makes a sparse matrix of something else")
    made = cls(parts, shape=shape)
    made.check_format(full_check=True)
    return made


def _make_requests(methods: dict[str, dict[str, Any]]) -> Any:
    requests = MetadataRequest(owner=None)
    for method, asked in methods.items():
        for param, alias in asked.items():
            getattr(requests, method).add_request(param=param, alias=alias)
    return requests


def _make_frame(columns: list[Any]) -> Any:
    pandas = import_optional("pandas", extra="pandas", purpose="A model file with a table")
    if any(kind not in COLUMNS for _, kind, _ in columns):
        raise ModelFileError("a table has columns of an unknown type")
    return pandas.DataFrame(
        {name: pandas.Series(column, dtype=kind) for name, kind, column in columns}
    )


def _make_record(cls: type, names: str, *values: Any) -> Any:
    """Return a dataclass of labelsure by its constructor, which computes the other fields."""
    given = dict(zip(json.loads(names), values, strict=True))
    if not is_dataclass(cls) or set(NOT_KEPT) & set(given):
        raise ModelFileError("it makes a record of something else")
    return cls(**given)


def _tuple_like(cls: type, parts: Iterable[Any]) -> Any:
    return cls(*parts) if hasattr(cls, "_fields") else tuple(parts)


def _filled(shape: tuple[int, ...], parts: Iterable[Any]) -> Array:
    array = np.empty(shape, dtype=object)
    for place, part in zip(np.ndindex(shape), parts, strict=True):
        array[place] = part
    return array


def _is_plain(thing: Any) -> bool:
    """Tell whether an object is nothing but its attributes."""
    cls: Any = type(thing)
    usual: Any = object
    in_python = cls.__flags__ & 1 << 9  # types written in C may have more than attributes
    as_usual = cls.__reduce_ex__ is usual.__reduce_ex__ and cls.__reduce__ is usual.__reduce__
    is_object = hasattr(thing, "__dict__") and not isinstance(thing, type)
    return bool(in_python and as_usual and is_object and not hasattr(cls, "__del__"))


def _is_a(thing: Any, base: str) -> bool:
    """Whether an object's class derives from the class of this full name, which is not imported."""
    return any(f"{cls.__module__}.{cls.__name__}" == base for cls in type(thing).__mro__)


def _has_settings(thing: Any) -> bool:
    """Tell whether an object's ``n_jobs`` and ``memory`` are settings for this machine."""
    return isinstance(thing, BaseEstimator) or type(thing).__module__.startswith("labelsure.")


# --- what skops writes and reads


def _skops_schema(thing: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the schema that skops makes, identical for equal models, and its files."""
    import skops.io

    buffer = BytesIO()
    try:
        skops.io.dump(thing, buffer)
    except RecursionError:
        raise
    except Exception as error:  # skops raises its own errors and passes on others
        raise ModelFileError(f"a part of it cannot be kept: {error}") from error
    with zipfile.ZipFile(buffer) as archive:
        schema = json.loads(archive.read(SCHEMA))
        files = {name: archive.read(name) for name in archive.namelist() if name != SCHEMA}
    del schema["_skops_version"]
    nodes = [node for node in _nodes_of(schema) if "__loader__" in node]
    uses = Counter(node.get("__id__") for node in nodes)
    numbers: dict[int, int] = {}
    renamed: dict[str, str] = {}
    for node in nodes:
        own = node.pop("__id__", None)
        if uses[own] > 1 and node["__loader__"] in ("ObjectNode", "ConstructorFromReduceNode"):
            node["__id__"] = numbers.setdefault(own, len(numbers) + 1)
        if isinstance(node.get("file"), str):
            ending = node["file"].rpartition(".")[2]
            node["file"] = renamed.setdefault(node["file"], f"skops/{len(renamed)}.{ending}")
        node["__module__"] = _public_module(node["__module__"], node["__class__"])
    return schema, {renamed[name]: data for name, data in files.items()}


def _public_module(module: str, name: str) -> str:
    """Return the public module of a class of labelsure; the private one may change."""
    room = ".".join(module.split(".")[:2])
    return room if f"{room}.{name}" in ALLOWED else module


def _name_of(cls: type) -> str:
    return f"{_public_module(cls.__module__, cls.__qualname__)}.{cls.__qualname__}"


def _nodes_of(schema: Any) -> list[dict[str, Any]]:
    """Return all objects of a JSON text, those that hold others first."""
    found = [schema]
    for node in found:
        parts = node.values() if isinstance(node, dict) else node
        found.extend(part for part in parts if isinstance(part, dict | list))
    return [node for node in found if isinstance(node, dict)]


def _types_in(schema: Any) -> set[str]:
    return {
        f"{node['__module__']}.{node['__class__']}"
        for node in _nodes_of(schema)
        if "__class__" in node
    }


def _untrusted(schema: Any) -> set[str]:
    """Return the types in a schema that neither skops nor our list trusts."""
    if _types_in(schema) <= ALLOWED | CONTAINERS:
        return set()
    import skops.io

    without_files = json.loads(json.dumps(schema))
    for node in _nodes_of(without_files):
        node.update({name: "empty" for name in node if name == "file"})
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(SCHEMA, json.dumps(without_files))
        archive.writestr("empty", b"")
    return set(skops.io.get_untrusted_types(data=buffer.getvalue())) - ALLOWED


def _refuse_types(names: set[str]) -> None:
    if names:
        listed = sorted(names)
        raise ModelFileError(
            f"it holds {', '.join(listed)}, which files hold only for those who trust that: pass"
            f" trusted={listed}"
        )


def _load(file: BinaryIO, schema: Any, names: frozenset[str]) -> Any:
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    # all of them would be looked through for every node
    present = _types_in(schema) & (ALLOWED | names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # versions are compared by the manifest
        try:
            return skops.io.load(file, trusted=sorted(present))
        except UntrustedTypesFoundException as error:
            _refuse_types(_untrusted(schema) - names)
            raise ModelFileError("it holds types that cannot be trusted") from error


# --- versions


def _versions_of(types: Iterable[str]) -> dict[str, str]:
    modules = {name.partition(".")[0] for name in types} - {"builtins", "labelsure"}
    versions = {
        STRICT.get(module, module): _version_here(module)
        for module in modules | {"numpy", "scipy", "skops"}
    }
    return {
        "python": platform.python_version(),
        **{name: versions[name] for name in sorted(versions) if versions[name]},
    }


def _version_here(module: str) -> str:
    """Return a module's version; imports it only if known, for a file may name any module."""
    if module in STRICT or module == "skops":
        try:
            import_module(module)
        except ImportError:
            return ""
    return str(getattr(sys.modules.get(module), "__version__", ""))


def _other_versions(written: Mapping[str, Any], packages: Iterable[str]) -> list[str]:
    """Return the packages that wrote a file in another minor version than is installed here."""
    modules = {package: module for module, package in STRICT.items()}
    found = []
    for package in sorted(set(packages) & set(written)):
        there, here = str(written[package])[:40], _version_here(modules.get(package, package))
        if there.split(".")[:2] != here.split(".")[:2]:
            found.append(f"{package} {there} (here {here or 'none'})")
    return found


# --- the zip


class _Hashing:
    """Hashes what is written; it cannot seek, which makes zipfile write a stream."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def write(self, data: Any) -> int:
        self.digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


def _write_archive(
    file: BinaryIO,
    manifest: dict[str, Any],
    schema: Any,
    files: dict[str, bytes],
    arrays: list[_StoredArray],
) -> None:
    hashing: Any = _Hashing(file)
    table = [[stored.dtype.str[1:], list(stored.shape), stored.order] for stored in arrays]
    texts = {
        MANIFEST: json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=1),
        SCHEMA: json.dumps(schema, separators=(",", ":")),
        TABLE: json.dumps(table, separators=(",", ":")),
    }
    if len(texts[MANIFEST].encode()) > MOST_MANIFEST_BYTES or len(files) > MOST_MEMBERS // 2:
        raise ModelFileError("its names and tables, or its parts, are more than a file holds")
    with zipfile.ZipFile(hashing, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for name, data in {
            **{name: text.encode() for name, text in texts.items()},
            **files,
        }.items():
            with archive.open(name, "w") as member:
                member.write(data)
        for kind in sorted({stored.dtype.str for stored in arrays}):
            _write_arrays(
                archive, np.dtype(kind), [stored for stored in arrays if stored.dtype.str == kind]
            )
        archive.comment = SEAL + b"0" * DIGITS
    file.seek(-DIGITS, 2)
    file.write(hashing.digest.hexdigest().encode())


def _write_arrays(
    archive: zipfile.ZipFile, dtype: np.dtype[Any], arrays: list[_StoredArray]
) -> None:
    size = sum(prod(stored.shape) for stored in arrays)
    big = size * dtype.itemsize > 2**30
    with archive.open(f"arrays/{dtype.str[1:]}.npy", "w", force_zip64=big) as member:
        npy.write_array_header_1_0(
            member, {"descr": dtype.str, "fortran_order": False, "shape": (size,)}
        )
        for stored in arrays:
            for piece in stored.pieces():
                data = _bytes_of(piece.ravel(order=stored.order))
                for start in range(0, len(data), CHUNK):
                    member.write(data[start : start + CHUNK])


def _bytes_of(flat: Any) -> memoryview:
    return memoryview(flat.view(np.uint8))


def _open_archive(file: BinaryIO) -> zipfile.ZipFile:
    """Return a file as a zip whose members are such as model files have."""
    head = file.read(4)
    if head[:1] == b"\x80":
        raise ModelFileError(
            "it is a pickle, which could run any code, and no model file of labelsure"
        )
    if head != b"PK\x03\x04":
        raise ModelFileError("it is no model file of labelsure")
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
        raise ModelFileError("it is damaged, or cut short") from error
    infos = archive.infolist()
    names = [info.orig_filename for info in infos]
    if not infos or names[0] != MANIFEST or not archive.comment.startswith(SEAL):
        raise ModelFileError("it is a zip file, but no model file of labelsure")
    if len(infos) > MOST_MEMBERS or sum(info.file_size for info in infos) > MOST_BYTES:
        raise ModelFileError(f"it has more than {MOST_MEMBERS} members or {MOST_BYTES} bytes")
    if infos[0].file_size > MOST_MANIFEST_BYTES:
        raise ModelFileError(f"its manifest has more than {MOST_MANIFEST_BYTES} bytes")
    if strange := [name for name in names if not MEMBER.fullmatch(name)]:
        raise ModelFileError(f"it has a member {strange[0][:60]!r}, which model files do not have")
    if len(set(names)) < len(names):
        raise ModelFileError("a member is there twice")
    return archive


def _check_digest(file: BinaryIO, expected: str) -> None:
    digest, rest = hashlib.sha256(), file.seek(0, 2) - DIGITS
    file.seek(0)
    while rest > 0 and (data := file.read(min(CHUNK, rest))):
        digest.update(data)
        rest -= len(data)
    digest.update(b"0" * DIGITS)
    if digest.hexdigest() != expected or file.read() != expected.encode():
        raise ModelFileError("its bytes are not those that were written (the checksum differs)")


def _read_manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    manifest = json.loads(archive.read(MANIFEST))
    if not isinstance(manifest, dict) or type(manifest.get("format")) is not int:
        raise ModelFileError("its manifest does not say what format it has")
    if manifest["format"] != FORMAT:
        raise ModelFileError(
            f"it has format {manifest['format']}, written by labelsure"
            f" {str(manifest.get('labelsure'))[:40]}, and this labelsure reads format {FORMAT}:"
            " install that version, or save the model again"
        )
    if set(manifest) != KEYS or not isinstance(manifest["versions"], dict):
        raise ModelFileError("its manifest has other keys than those of this format")
    return {**manifest, "sha256": archive.comment[len(SEAL) :].decode("ascii")}


def _read_arrays(archive: zipfile.ZipFile) -> list[Array]:
    """Return all arrays of a file."""
    table = json.loads(archive.read(TABLE))
    arrays: list[Array] = [np.empty(0)] * len(table)
    for kind in sorted({kind for kind, _, _ in table}):
        with archive.open(f"arrays/{kind}.npy") as member:
            npy.read_magic(member)
            (size,), _, dtype = npy.read_array_header_1_0(member)
            numbers = [number for number, (own, _, _) in enumerate(table) if own == kind]
            n_bytes = archive.getinfo(member.name).file_size
            if (
                dtype.hasobject
                or sum(prod(table[number][1]) for number in numbers) != size
                or size > n_bytes
            ):
                raise ModelFileError("it has other arrays than it says")
            for number in numbers:
                _, shape, order = table[number]
                array = np.empty(shape, dtype, order=order)
                data = _bytes_of(array.reshape(-1, order="A"))
                for start in range(0, len(data), CHUNK):
                    stop = min(start + CHUNK, len(data))
                    data[start:stop] = member.read(stop - start)
                arrays[number] = array
    return arrays
