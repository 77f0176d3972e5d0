"""Model files: saved beside their place and renamed, read back before that, and never a line of code run from them."""

import json
import os
import platform
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelsure._core.files import whole_place
from labelsure._core.running import progress_bar
from labelsure._core.validation import is_list
from labelsure._version import __version__
from labelsure.models._archive import (
    FORMAT,
    Members,
    ModelFileError,
    parse_json,
    read_archive,
    read_manifest_of,
    write_archive,
)
from labelsure.models._arrays import ArrayReader
from labelsure.models._codec import Decoder, Encoder
from labelsure.models._learners import LearnerReader, LearnerWriter, other_versions, packages_of, refuse, version_here
from labelsure.models._predictor_forms import FORMS, ROOTS

SUFFIX = ".labelsure"
MODEL = "model.json"
COMPARED = ("numpy", "scipy", "skops", "labelsure")
"""Packages of which another version is worth a word; those that learners come from have to be the same."""

PLAIN = ("builtins.", "numpy.", "collections.", "labelsure.")
BY_NAME = {form.name: form for form in FORMS.values()}

PathLike = str | os.PathLike[str]
Trusted = Iterable[str | type]


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
        What was given as ``table`` to :func:`save_model`, such as how the columns of a table become features.

    Examples
    --------
    >>> ModelFile(model=None, manifest={"format": 1}, table=None).manifest["format"]
    1
    """

    model: Any
    manifest: dict[str, Any]
    table: dict[str, Any] | None


def save_model(model: Any, path: PathLike, *, table: Mapping[str, Any] | None = None, trusted: Trusted = ()) -> None:
    """Save a fitted model as a file that :func:`load_model` reads without running any code from it.

    The file is written beside its place, read back, and only then renamed: where anything fails, a file that was there
    before stays as it is.

    Parameters
    ----------
    model : object
        A fitted predictor, controller or selector of this package, or one of its classifiers.
    path : str or path
        The file, as a rule with the suffix ``.labelsure``.
    table : mapping or None, default=None
        Anything that JSON can hold, kept with the model: how the columns of a table become features, for instance.
    trusted : iterable of str or type, default=()
        Types, or functions by name, that the model may hold beside those of labelsure and those of scikit-learn,
        LightGBM and XGBoost that are known: ``"module.Name"``, or the class itself. :func:`load_model` has to be told
        them too.

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
    >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:100], Y[:100])
    >>> path = Path(tempfile.mkdtemp()) / "model.labelsure"
    >>> save_model(model, path)
    >>> again = load_model(path)
    >>> bool((again.predict_labelsets(X[100:]).p_values() == model.predict_labelsets(X[100:]).p_values()).all())
    True
    """
    place = Path(path)
    names = _names_of(trusted)
    try:
        with progress_bar(description="saving", total=3) as bar:
            manifest, members = _describe(model, table, names)
            bar.update()
            with whole_place(place) as unfinished:
                write_archive(unfinished, manifest, members)
                bar.update()
                _read(unfinished, names)
    except ModelFileError as error:
        raise ModelFileError(f"{place} was not written: {error}.") from error
    except OSError as error:
        raise ModelFileError(f"{place} was not written: {error.strerror or error}.") from error


def load_model(path: PathLike, *, trusted: Trusted = ()) -> Any:
    """Return the model of a file, having checked all of it.

    No code is run from the file, whoever made it, unless you trust a type by whose name it does.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : iterable of str or type, default=()
        As in :func:`save_model`. Name only what you know: objects of these types are made from what the file says.

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
    labelsure.models._archive.ModelFileError: ...file.labelsure cannot be read: No such file or directory.
    """
    return open_model(path, trusted=trusted).model


def open_model(path: PathLike, *, trusted: Trusted = ()) -> ModelFile:
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
    >>> from labelsure.models import open_model, save_model
    >>> predictor = calibrate_outputs([[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]])
    >>> path = Path(tempfile.mkdtemp()) / "model.labelsure"
    >>> save_model(predictor, path, table={"columns": ["age", "weight"]})
    >>> open_model(path).table
    {'columns': ['age', 'weight']}
    """
    place = Path(path)
    with _one_line(place):
        return _read(place, _names_of(trusted))


def read_manifest(path: PathLike) -> dict[str, Any]:
    """Return what a file says about itself, without reading the model.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        The ``format``, the ``versions`` that wrote it, the class of the ``model``, its ``labels`` and ``features`` as
        far as they are known, the ``table``, the types of other packages among its ``learners``, those that it has to
        be ``trusted`` with, and sizes and checksums of its ``members``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from labelsure import calibrate_outputs
    >>> from labelsure.models import read_manifest, save_model
    >>> outputs, Y = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]], [[1, 0], [1, 0], [0, 1]]
    >>> path = Path(tempfile.mkdtemp()) / "model.labelsure"
    >>> save_model(calibrate_outputs(outputs, Y, label_names=["sea", "city"]), path)
    >>> manifest = read_manifest(path)
    >>> manifest["model"], manifest["labels"]
    ('OutputsPredictor', ['sea', 'city'])
    """
    place = Path(path)
    with _one_line(place):
        return read_manifest_of(place)


class _one_line:  # noqa: N801 - used as a function
    """Turns whatever hostile bytes lead to into one line that names the file."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ModelFileError):
            raise ModelFileError(_flat(f"{self._place} cannot be read: {error}.")) from error
        if isinstance(error, ImportError) and "labelsure[" in str(error):
            return  # says what to install
        if isinstance(error, OSError):
            raise ModelFileError(f"{self._place} cannot be read: {error.strerror or error}.") from error
        if isinstance(error, Exception):
            raise ModelFileError(
                _flat(f"{self._place} cannot be read: it is damaged ({type(error).__name__}: {error}).")
            ) from error


def _flat(message: str) -> str:
    return " ".join(message.split())[:600]


def _names_of(trusted: Trusted) -> frozenset[str]:
    if isinstance(trusted, str | type):
        trusted = [trusted]
    given: list[Any] = list(trusted) if is_list(trusted) else [None]
    if not all(isinstance(one, str | type) for one in given):
        raise ValueError(f"trusted must hold names of classes such as 'package.module.Class', got {trusted!r}.")
    return frozenset(one if isinstance(one, str) else f"{one.__module__}.{one.__qualname__}" for one in given)


def _describe(model: Any, table: Mapping[str, Any] | None, trusted: frozenset[str]) -> tuple[dict[str, Any], Members]:
    """Return the manifest and the members of a model's file."""
    if not isinstance(model, ROOTS) or type(model) not in FORMS:
        raise ModelFileError(
            "a model file holds a fitted predictor, controller, selector or classifier of labelsure, got a"
            f" {type(model).__name__}"
        )
    if FORMS[type(model)].learned and not set(FORMS[type(model)].learned) <= set(vars(model)):
        raise ModelFileError(f"the {type(model).__name__} is not fitted: call fit first")
    try:
        kept = None if table is None else json.loads(json.dumps(dict(table), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"table must be what JSON can hold: {error}") from error
    learners: list[LearnerWriter] = []

    def foreign(encoder: Encoder) -> LearnerWriter:
        learners.append(LearnerWriter(encoder, trusted))
        return learners[0]

    encoder = Encoder(FORMS, foreign)
    encoder.add(model)
    refuse(learners[0].refused)
    content = {"entries": encoder.entries, "arrays": encoder.arrays.table()}
    members = {MODEL: json.dumps(content, separators=(",", ":"), allow_nan=False).encode()}
    types = learners[0].types
    manifest = {
        "format": FORMAT,
        "labelsure": __version__,
        "versions": _versions(packages_of(types) | ({"skops"} if learners[0].members else set())),
        **_facts(model),
        "table": kept,
        "learners": sorted(name for name in types if not name.startswith(PLAIN)),
        "trusted": sorted(types & trusted),
    }
    return manifest, {**members, **learners[0].members, **encoder.arrays.members()}


def _versions(packages: set[str]) -> dict[str, str]:
    return {
        "python": platform.python_version(),
        **{name: version_here(name) for name in sorted({*COMPARED[:2]} | packages)},
    }


def _facts(model: Any) -> dict[str, Any]:
    """Return what a reader of the manifest may want to know of a model."""
    inner = getattr(model, "model", model)
    calibrator = getattr(inner, "calibrator", None)
    labels = getattr(inner, "label_names_", getattr(inner, "label_names", getattr(calibrator, "label_names", None)))
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


def _read(place: Path, trusted: frozenset[str]) -> ModelFile:
    manifest, members = read_archive(place)
    versions = dict(manifest["versions"])
    content = parse_json(members[MODEL])
    arrays = ArrayReader(content["arrays"], members)
    decoder = Decoder(BY_NAME, arrays, lambda decoder: LearnerReader(decoder, members, trusted, versions))
    model = decoder.read(content["entries"])
    if not isinstance(model, ROOTS):
        raise ModelFileError(f"it holds no model, but a {type(model).__name__}")
    versions["labelsure"] = manifest["labelsure"]
    if other := other_versions(versions, set(versions) & set(COMPARED)):
        warnings.warn(
            f"{place} was saved with {', '.join(other)}: should its answers differ, install those versions.",
            stacklevel=4,
        )
    return ModelFile(model, manifest, manifest["table"])
