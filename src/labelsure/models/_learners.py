"""Objects of other packages, by skops: its description is checked before skops sees it, its result before anyone does.

skops names the classes of all that it builds, and we know which ones we take. But it trusts memory: trees, sparse
matrices, states of random numbers and searches for neighbours are used by compiled code that does not look where it
reads. So these are kept by ourselves, built anew, or checked.
"""

import json
import warnings
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import getattr_static
from io import BytesIO
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from labelsure._core.optional import import_optional
from labelsure.models._allowed import ALLOWED, BY_NAME, COMPILED_LOSSES, name_as_public
from labelsure.models._archive import Members, ModelFileError, parse_json
from labelsure.models._boosters import is_booster, read_booster, write_booster
from labelsure.models._codec import Decoder, Encoder, Json, adopt, is_apart
from labelsure.models._contents import BOOSTING, FOREST, check_content, is_a, is_rebuilt
from labelsure.models._forests import pack_boosting, pack_forest, unpack_boosting, unpack_forest

LEARNERS_FROM = {"sklearn": "scikit-learn", "lightgbm": "lightgbm", "xgboost": "xgboost"}
"""Packages that do not promise that another version reads their learners as they were meant, by their modules."""

NO_PARTS = (type, FunctionType, MethodType, ModuleType, BuiltinFunctionType, np.ufunc, np.generic, np.dtype)
MARKS = ("__loader__", "__module__", "__class__")
NO_CODE = (
    "it holds a function of your own, {name}, and files hold no code: use what goes by name, such as ByCardinality(),"
    " ByLabel() and constraints, or put the function into a module and name it by trusted="
)
NOT_TRUSTED = "it holds {names}, which files hold only for those who trust that: pass trusted={listed}"


class Elsewhere:
    """Stands in a learner for a part that has an entry of its own."""

    def __init__(self, number: int) -> None:
        self.number = number


class LearnerWriter:
    """Keeps objects of other packages.

    Parameters
    ----------
    encoder : Encoder
        Keeps the parts of them that are not left to skops.
    trusted : iterable of str
        What the caller trusts beside our list, by full names.
    """

    def __init__(self, encoder: Encoder, trusted: Iterable[str] = ()) -> None:
        self.members: Members = {}
        self.types: set[str] = set()
        self.refused: set[str] = set()  # all of them, so that nobody has to ask once for each
        self._encoder = encoder
        self._trusted = frozenset(trusted)

    def write(self, thing: Any) -> Json:
        """Return the entry of an object."""
        if is_booster(thing):
            entry, name, data = write_booster(thing, len(self.members))
            self.members[name] = data
            return entry
        _refuse_own_functions(thing)
        schema, files = dump(_Detacher(self._encoder).detach(thing))
        found, refused = audit(schema, self._trusted)
        self.types |= found
        self.refused |= refused
        _tidy(schema, lambda name: f"{self._keep(files[name], name)}.{name.rpartition('.')[2]}")
        name = f"learners/{len(self.members)}.json"
        self.members[name] = json.dumps(schema, separators=(",", ":")).encode()
        return {"learner": name}

    def _keep(self, data: bytes, name: str) -> int:
        array = np.load(BytesIO(data), allow_pickle=False) if name.endswith(".npy") else np.frombuffer(data, np.uint8)
        return self._encoder.arrays.add(array)


class LearnerReader:
    """Reads objects of other packages.

    Parameters
    ----------
    decoder : Decoder
        Has read what has entries of its own.
    members : dict of str to bytes
        The members of the file.
    trusted : iterable of str
        What the caller trusts beside our list, by full names.
    versions : mapping
        The versions of packages that wrote the file.
    """

    def __init__(self, decoder: Decoder, members: Members, trusted: Iterable[str], versions: Mapping[str, Any]) -> None:
        self._decoder, self._members = decoder, members
        self._trusted, self._versions = frozenset(trusted), versions

    def read(self, entry: Json) -> Any:
        """Return the object of an entry."""
        if set(entry) == {"booster", "member", "best_iteration"} and entry["member"] in self._members:
            return read_booster(entry, self._members[entry["member"]])
        if set(entry) == {"forest", "columns"}:
            return unpack_forest(self._decoder.get(entry["forest"]), self._decoder.value(entry["columns"]))
        if set(entry) == {"boosting"}:
            return unpack_boosting(self._decoder.value(entry["boosting"]))
        if set(entry) == {"loss"} and entry["loss"] in COMPILED_LOSSES:
            return getattr(import_module("sklearn._loss._loss"), entry["loss"])()
        if set(entry) != {"learner"} or entry["learner"] not in self._members:
            raise ModelFileError("an entry is none")
        schema = parse_json(self._members[entry["learner"]])
        types, refused = audit(schema, self._trusted)
        refuse(refused)
        _check_versions(self._versions, types)
        return _Attacher(self._decoder).attach(self._build(schema, types))

    def _build(self, schema: Json, types: set[str]) -> Any:
        skops_io = _skops()
        if schema.get("protocol") != dump(None)[0]["protocol"]:
            raise ModelFileError("its learners were written by another skops: install that version, or fit again")
        packed, arrays = BytesIO(), self._decoder.arrays
        with zipfile.ZipFile(packed, "w") as archive:
            for name in {node["file"]: None for node in _nodes_of(schema) if isinstance(node.get("file"), str)}:
                number, _, kind = name.partition(".")
                if not number.isdecimal() or kind not in ("npy", "bin"):
                    raise ModelFileError("a learner names a file that there is not")
                data = arrays.to_npy(int(number))
                archive.writestr(name, data if kind == "npy" else arrays.get(int(number)).tobytes())
            archive.writestr("schema.json", json.dumps(schema))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the versions are compared before, by the manifest
            return skops_io.loads(packed.getvalue(), trusted=sorted(types))


class _Detacher:
    """Takes out of an object what skops is not to see, without changing it."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._done: dict[int, tuple[Any, Any]] = {}

    def detach(self, thing: Any) -> Any:
        """Return the object itself, or a copy with other things in places."""
        if id(thing) not in self._done:
            self._done[id(thing)] = self._detach(thing), thing
        return self._done[id(thing)][0]

    def _detach(self, thing: Any) -> Any:
        kind = type(thing)
        if (stand_in := self._stand_in(thing)) is not None or is_rebuilt(thing):
            return stand_in
        if kind in (list, tuple):
            return _replaced(thing, dict(enumerate(thing)), self.detach, kind)
        if kind in (dict, OrderedDict):
            return _replaced(thing, thing, self.detach, lambda parts: kind(zip(thing, parts, strict=True)))
        if kind is np.ndarray and thing.dtype == object:
            return _replaced(thing, dict(enumerate(thing.flat)), self.detach, lambda parts: _filled(thing.shape, parts))
        return self._detach_attributes(thing)

    def _stand_in(self, thing: Any) -> Elsewhere | None:
        """Return what stands for a part that has an entry of its own, if it has one."""
        kind = type(thing)
        if kind in self._encoder.forms or is_apart(thing) or is_booster(thing):
            return Elsewhere(self._encoder.add(thing))
        if kind.__name__ in COMPILED_LOSSES and kind.__module__.rpartition(".")[2] == "_loss":
            return Elsewhere(self._encoder.append({"loss": kind.__name__}))
        return None

    def _detach_attributes(self, thing: Any) -> Any:
        if isinstance(thing, NO_PARTS) or not hasattr(thing, "__dict__"):
            return thing
        packed = self._pack(thing)

        def shell(parts: list[Any]) -> Any:
            copy = object.__new__(type(thing))
            vars(copy).update(zip(attributes, parts, strict=True))
            return copy

        attributes = {**vars(thing), **packed}
        return _replaced(thing, attributes, self.detach, shell, changed=bool(packed))

    def _pack(self, thing: Any) -> dict[str, Any]:
        """Return what stands for the trees of an ensemble, which are kept together."""
        add, value = self._encoder.append, self._encoder.value
        if is_a(thing, FOREST) and (packed := pack_forest(getattr(thing, "estimators_", None))) is not None:
            template, columns = packed
            entry = {"forest": self._encoder.add(template), "columns": value(columns)}
            return {"estimators_": Elsewhere(add(entry))}
        if is_a(thing, BOOSTING) and getattr(thing, "_predictors", None):
            return {"_predictors": Elsewhere(add({"boosting": value(pack_boosting(thing._predictors))}))}
        return {}


def _replaced(
    thing: Any,
    parts: Mapping[Any, Any],
    replace: Callable[[Any], Any],
    make: Callable[[list[Any]], Any],
    *,
    changed: bool = False,
) -> Any:
    """Return a copy with other parts; the thing itself where no part is another: then nothing is copied."""
    new = [replace(part) for part in parts.values()]
    same = all(one is other for one, other in zip(new, parts.values(), strict=True))
    return thing if same and not changed else make(new)


def _filled(shape: tuple[int, ...], parts: list[Any]) -> Any:
    array = np.empty(len(parts), dtype=object)
    array[:] = parts
    return array.reshape(shape)


class _Attacher:
    """Puts back what was taken out of an object, and checks all of it."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._done: dict[int, tuple[Any, Any]] = {}

    def attach(self, thing: Any) -> Any:
        """Return the object with everything in its place."""
        if id(thing) not in self._done:
            self._done[id(thing)] = self._attach(thing), thing
        return self._done[id(thing)][0]

    def _attach(self, thing: Any) -> Any:
        kind = type(thing)
        if kind is Elsewhere:
            return self._decoder.get(getattr(thing, "number", None))
        if kind is list:
            thing[:] = map(self.attach, thing)
        elif kind is tuple:
            return tuple(map(self.attach, thing))
        elif isinstance(thing, dict):
            for key in thing:
                thing[key] = self.attach(thing[key])
        elif kind is np.ndarray and thing.dtype == object:
            for place in np.ndindex(thing.shape):
                thing[place] = self.attach(thing[place])
        elif not isinstance(thing, NO_PARTS):
            if hasattr(thing, "__dict__"):
                _check_attributes(thing)
                if "n_jobs" in vars(thing):
                    thing.n_jobs = None  # about the machine that it was fitted on
                vars(thing).update({name: self.attach(value) for name, value in vars(thing).items()})
                adopt(thing)
            check_content(thing)
        return thing


def _check_attributes(thing: Any) -> None:
    """Raise ModelFileError where an attribute stands before a method, such as one that checks what is predicted."""
    for name in vars(thing):
        own = getattr_static(type(thing), name, None)
        if hasattr(own, "__get__") and not hasattr(own, "__set__"):
            raise ModelFileError(f"a {type(thing).__name__} has {str(name)[:40]!r} for an attribute, which is a method")


def _skops() -> Any:
    return import_optional("skops.io", extra="models", purpose="A model file with learners of other packages")


def dump(thing: Any) -> tuple[Json, Members]:
    """Return the description that skops makes of an object, and the files that go with it."""
    skops_io = _skops()
    try:
        packed = skops_io.dumps(thing)
    except Exception as error:  # skops has errors of its own, and lets through those of others
        raise ModelFileError(f"a {type(thing).__name__} cannot be kept: {error}") from error
    with zipfile.ZipFile(BytesIO(packed)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(files.pop("schema.json"))
    schema.pop("_skops_version", None)
    name_as_public(_nodes_of(schema))
    return schema, files


def audit(schema: Json, trusted: frozenset[str]) -> tuple[set[str], set[str]]:
    """Return the full names in a description by skops, and those among them that are not allowed."""
    found: set[str] = set()
    refused: set[str] = set()
    for node in _nodes_of(schema):
        if not any(mark in node for mark in MARKS):
            continue
        loader, module, name = (node.get(mark) for mark in MARKS)
        if not (isinstance(loader, str) and isinstance(module, str) and isinstance(name, str)):
            raise ModelFileError("a part of a learner does not say what it is")
        full = f"{module}.{name}"
        found.add(full)
        if full not in ALLOWED.get(loader, ()) and not (loader in BY_NAME and full in trusted):
            refused.add(full)
    return found, refused


def refuse(names: set[str]) -> None:
    """Raise ModelFileError where there is anything that is not allowed."""
    if names:
        listed = sorted(names)
        raise ModelFileError(NOT_TRUSTED.format(names=", ".join(listed), listed=listed))


def packages_of(types: Iterable[str]) -> set[str]:
    """Return the packages that learners of these types come from, as far as their versions matter.

    Examples
    --------
    >>> packages_of(["sklearn.svm._classes.SVC", "builtins.list"])
    {'scikit-learn'}
    """
    return {LEARNERS_FROM[module] for name in types if (module := name.partition(".")[0]) in LEARNERS_FROM}


def version_here(package: str) -> str:
    """Return the version of a package, "none" where there is none; also of xgboost-cpu, which is not called xgboost.

    Examples
    --------
    >>> version_here("no-such-package")
    'none'
    """
    modules = {package: module for module, package in LEARNERS_FROM.items()}
    try:
        return str(import_module(modules.get(package, package)).__version__)
    except ImportError:
        return "none"


def other_versions(written: Mapping[str, Any], packages: Iterable[str]) -> list[str]:
    """Return the packages that wrote a file in another version than is here, the last number aside.

    Examples
    --------
    >>> other_versions({"numpy": "1.16.4"}, ["numpy"])
    ['numpy 1.16.4 (here ...)']
    """
    found = []
    for package in sorted(packages):
        there = str(written.get(package, "of an unknown version"))[:40]
        here = version_here(package)
        if there.split(".")[:2] != here.split(".")[:2]:
            found.append(f"{package} {there} (here {here})")
    return found


def _check_versions(written: Mapping[str, Any], types: set[str]) -> None:
    """Raise ModelFileError where learners come from another version of their package than is here."""
    packages = packages_of(types) | (set(written) & set(LEARNERS_FROM.values()))
    if other := other_versions(written, packages):
        raise ModelFileError(
            f"its learners were fitted with {', '.join(other)}, which may read them otherwise: install those"
            " versions, or fit again"
        )


def _nodes_of(schema: Json) -> list[dict[str, Any]]:
    """Return all objects of a JSON text, those that hold others first."""
    found = [schema]
    for node in found:
        parts = node.values() if isinstance(node, dict) else node
        found.extend(part for part in parts if isinstance(part, dict | list))
    return [node for node in found if isinstance(node, dict)]


def _tidy(schema: Json, rename: Callable[[str], str]) -> None:
    """Give shared parts small numbers instead of places in memory, and files the names that they have here."""
    nodes = [node for node in _nodes_of(schema) if "__loader__" in node]
    uses = Counter(node.get("__id__") for node in nodes)
    numbers: dict[int, int] = {}
    files: dict[str, str] = {}
    for node in nodes:
        own = node.pop("__id__", None)
        if own is not None and uses[own] > 1 and node["__loader__"] != "JsonNode":
            node["__id__"] = numbers.setdefault(own, len(numbers) + 1)
        if isinstance(node.get("file"), str):
            if node["file"] not in files:
                files[node["file"]] = rename(node["file"])
            node["file"] = files[node["file"]]


def _refuse_own_functions(thing: Any) -> None:
    """Say in plain words why a function cannot be kept that has no name to find it by."""
    if isinstance(thing, FunctionType | MethodType) and ("<" in thing.__qualname__ or thing.__module__ == "__main__"):
        raise ModelFileError(NO_CODE.format(name=thing.__qualname__))
