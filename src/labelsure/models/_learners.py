"""Objects of other packages, by skops: its description is checked before skops sees it, its result before anyone does.

skops names the classes of all that it builds, and we know which ones we take. But it trusts memory: trees, sparse
matrices, states of random numbers and searches for neighbours are used by compiled code that does not look where it
reads. So these are kept by ourselves, built anew, or checked.
"""

import json
import warnings
import zipfile
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from io import BytesIO
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from labelsure._core.optional import import_optional
from labelsure.models._allowed import ALLOWED, BY_NAME
from labelsure.models._archive import Members, ModelFileError, parse_json
from labelsure.models._boosters import is_booster, read_booster, write_booster
from labelsure.models._codec import Decoder, Encoder, Json, is_apart
from labelsure.models._contents import check_content, is_rebuilt

NO_PARTS = (type, FunctionType, MethodType, ModuleType, BuiltinFunctionType, np.ufunc, np.generic, np.dtype)
MARKS = ("__loader__", "__module__", "__class__")
NO_CODE = (
    "it holds a function of your own, {name}, and files hold no code: use what goes by name, such as ByCardinality(),"
    " ByLabel() and constraints; or put the function into a module and pass trusted=['module.function']"
)
NOT_TRUSTED = "it holds a {name}, which files hold only for those who trust it: pass trusted=[{name!r}]"


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
        self.types |= audit(schema, self._trusted)
        _tidy(schema, lambda name: f"{self._keep(files[name], name)}.{name.rpartition('.')[2]}")
        name = f"learners/{len(self.members)}.json"
        self.members[name] = json.dumps(schema, separators=(",", ":")).encode()
        return {"learner": name}

    def _keep(self, data: bytes, name: str) -> int:
        array = np.load(BytesIO(data), allow_pickle=False) if name.endswith(".npy") else np.frombuffer(data, np.uint8)
        return self._encoder.arrays.add(array, copied=True)


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
    """

    def __init__(self, decoder: Decoder, members: Members, trusted: Iterable[str] = ()) -> None:
        self._decoder, self._members, self._trusted = decoder, members, frozenset(trusted)

    def read(self, entry: Json) -> Any:
        """Return the object of an entry."""
        if set(entry) == {"booster", "member", "best_iteration"} and entry["member"] in self._members:
            return read_booster(entry, self._members[entry["member"]])
        if set(entry) != {"learner"} or entry["learner"] not in self._members:
            raise ModelFileError("an entry is none")
        schema = parse_json(self._members[entry["learner"]])
        types = audit(schema, self._trusted)
        return _Attacher(self._decoder).attach(self._build(schema, types))

    def _build(self, schema: Json, types: set[str]) -> Any:
        skops_io = _skops()
        if schema.get("protocol") != dump(None)[0]["protocol"]:
            raise ModelFileError("its learners were written by another skops: install that version, or fit again")
        packed, arrays = BytesIO(), self._decoder.arrays
        with zipfile.ZipFile(packed, "w") as archive:
            for name, uses in _files_of(schema).items():
                number, _, kind = name.partition(".")
                if not number.isdecimal() or kind not in ("npy", "bin"):
                    raise ModelFileError("a learner names a file that there is not")
                data = arrays.to_npy(int(number), copies=uses)
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
        if kind in self._encoder.forms or is_apart(thing) or is_booster(thing):
            return Elsewhere(self._encoder.add(thing))
        if is_rebuilt(thing):
            return None
        if kind in (list, tuple):
            return _if_changed(thing, kind(map(self.detach, thing)))
        if kind in (dict, OrderedDict, defaultdict):
            parts = {key: self.detach(value) for key, value in thing.items()}
            if all(value is thing[key] for key, value in parts.items()):
                return thing
            return kind(parts) if kind is not defaultdict else defaultdict(thing.default_factory, parts)
        if kind is np.ndarray and thing.dtype == object:
            parts = [self.detach(part) for part in thing.ravel()]
            copy = np.empty(len(parts), dtype=object)
            copy[:] = parts
            return _if_changed(thing.ravel(), copy, thing, copy.reshape(thing.shape))
        if isinstance(thing, NO_PARTS) or not hasattr(thing, "__dict__"):
            return thing
        parts = {name: self.detach(value) for name, value in vars(thing).items()}
        if all(value is vars(thing)[name] for name, value in parts.items()):
            return thing
        shell = kind.__new__(kind)
        vars(shell).update(parts)
        return shell


def _if_changed(old: Any, new: Any, unchanged: Any = None, changed: Any = None) -> Any:
    """Return what there was, where nothing changed: then nothing is copied."""
    same = all(one is other for one, other in zip(old, new, strict=True))
    if unchanged is None:
        return old if same else new
    return unchanged if same else changed


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
                vars(thing).update({name: self.attach(value) for name, value in vars(thing).items()})
            check_content(thing)
        return thing


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
    return schema, files


def audit(node: Json, trusted: frozenset[str]) -> set[str]:
    """Return the full names in a description by skops, or raise ModelFileError where one is not allowed."""
    if isinstance(node, list):
        return {name for part in node for name in audit(part, trusted)}
    if not isinstance(node, dict):
        return set()
    found = set()
    if any(mark in node for mark in MARKS):
        loader, module, name = (node.get(mark) for mark in MARKS)
        full = f"{module}.{name}"
        if not all(isinstance(part, str) for part in (loader, module, name)):
            raise ModelFileError("a part of a learner does not say what it is")
        if full not in ALLOWED.get(loader, ()) and not (loader in BY_NAME and full in trusted):
            if loader == "FunctionNode" and not trusted & {full}:
                raise ModelFileError(NO_CODE.format(name=full))
            raise ModelFileError(NOT_TRUSTED.format(name=full))
        found.add(full)
    return found.union(*(audit(part, trusted) for part in node.values()))


def _nodes_of(schema: Json) -> list[dict[str, Any]]:
    """Return all objects of a JSON text, those that hold others first."""
    found = [schema]
    for node in found:
        parts = node.values() if isinstance(node, dict) else node
        found.extend(part for part in parts if isinstance(part, dict | list))
    return [node for node in found if isinstance(node, dict)]


def _files_of(schema: Json) -> Counter[str]:
    """Return the files that a description names, and how often each is read: shared parts are read once."""
    nodes = [node for node in _nodes_of(schema) if isinstance(node.get("file"), str)]
    read = {
        ("shared", node["__id__"]) if "__id__" in node else ("own", i): node["file"] for i, node in enumerate(nodes)
    }
    return Counter(read.values())


def _tidy(schema: Json, rename: Callable[[str], str]) -> None:
    """Number shared parts from 1 on instead of by their place in memory, and give files the names they have here."""
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
