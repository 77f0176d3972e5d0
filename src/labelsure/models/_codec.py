"""Between objects and JSON: plain values and arrays as they are, objects of ours by their forms, others by skops.

A model becomes a list of entries, each of which names earlier ones only: parts first, the model last. What two parts
share is one entry.
"""

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from sklearn.utils.metadata_routing import MetadataRequest

from labelsure._core.optional import import_optional
from labelsure.models._archive import ModelFileError
from labelsure.models._arrays import ArrayReader, ArrayWriter
from labelsure.models._forms import Form

SPARSE: dict[str, Any] = {
    name: getattr(sparse, name) for name in ("csr_array", "csr_matrix", "csc_array", "csc_matrix", "dia_matrix")
}
PARTS = {"csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "dia": ("data", "offsets")}
SEQUENCES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
N_KEY = 624
"""Numbers in the state of a Mersenne twister; which of them comes next is a number up to this."""

COLUMNS = ("bool", "int8", "int16", "int32", "int64", "uint8", "float32", "float64", "object", "str", "string")
"""The types of a table's columns."""

APART = (np.random.RandomState, np.random.Generator, MetadataRequest)

Json = Any


class ForeignWriter(Protocol):
    """Keeps objects of other packages."""

    def write(self, thing: Any) -> Json:
        """Return an entry."""


class ForeignReader(Protocol):
    """Reads objects of other packages."""

    def read(self, entry: Json) -> Any:
        """Return the object of an entry."""


class _FrameType(type):
    def __instancecheck__(cls, thing: Any) -> bool:
        return type(thing).__name__ == "DataFrame" and type(thing).__module__.partition(".")[0] == "pandas"


class Frame(metaclass=_FrameType):
    """Stands for pandas' DataFrame, which is not imported for those who have none."""


class Encoder:
    """Turns objects into entries.

    Parameters
    ----------
    forms : dict of type to Form
        Our own classes.
    foreign : callable
        From this encoder to what keeps all other objects.
    """

    def __init__(self, forms: dict[type, Form], foreign: Callable[["Encoder"], ForeignWriter]) -> None:
        self.forms = forms
        self.arrays = ArrayWriter()
        self.entries: list[Json] = []
        self._known: dict[int, tuple[int, Any]] = {}  # with the object, so that its number stays its own
        self._foreign = foreign(self)

    def add(self, thing: Any) -> int:
        """Return the number of an object's entry, made when it is first met."""
        if id(thing) not in self._known:
            form = self.forms.get(type(thing))
            if form is not None:
                fields = form.take_apart(thing)
                entry = {"type": form.name, "fields": {name: self.value(part) for name, part in fields.items()}}
            elif is_apart(thing):
                entry = {"value": self.value(thing)}
            else:
                entry = self._foreign.write(thing)
            self._known[id(thing)] = self.append(entry), thing
        return self._known[id(thing)][0]

    def append(self, entry: Json) -> int:
        """Return the number of an entry, which is added."""
        self.entries.append(entry)
        return len(self.entries) - 1

    def value(self, thing: Any) -> Json:
        """Return a value as JSON."""
        if thing is None or type(thing) in (bool, int, str) or (type(thing) is float and math.isfinite(thing)):
            return thing
        for kinds, write in WRITERS:
            if isinstance(thing, kinds):
                return write(self, thing)
        return {"object": self.add(thing)}


def _write_number(encoder: Encoder, thing: Any) -> Json:
    return {"float": str(thing)} if type(thing) is float else {"scalar": encoder.arrays.add(np.asarray(thing))}


def _write_array(encoder: Encoder, thing: Any) -> Json:
    if type(thing) is not np.ndarray:
        raise ModelFileError(f"a {type(thing).__name__} cannot be kept: make it an ordinary array")
    if thing.dtype != object:
        return {"array": encoder.arrays.add(thing)}
    return {"objects": [encoder.value(part) for part in thing.ravel()], "shape": list(thing.shape)}


def _write_sequence(encoder: Encoder, thing: Any) -> Json:
    if type(thing) not in SEQUENCES.values():  # named tuples and the like, which are objects
        return {"object": encoder.add(thing)}
    parts = sorted(thing, key=repr) if isinstance(thing, set | frozenset) else thing
    return {type(thing).__name__: [encoder.value(part) for part in parts]}


def _write_dict(encoder: Encoder, thing: Any) -> Json:
    if type(thing) is not dict:
        return {"object": encoder.add(thing)}
    return {"dict": [[encoder.value(key), encoder.value(part)] for key, part in thing.items()]}


def _write_sparse(encoder: Encoder, thing: Any) -> Json:
    if type(thing).__name__ not in SPARSE:
        raise ModelFileError(f"a {type(thing).__name__} cannot be kept: use csr_matrix or csr_array")
    parts = [encoder.value(getattr(thing, part)) for part in PARTS[thing.format]]
    return {"sparse": type(thing).__name__, "shape": list(map(int, thing.shape)), "parts": parts}


def _write_random_state(encoder: Encoder, thing: Any) -> Json:
    kind, key, *rest = thing.get_state(legacy=True)
    return {"random_state": [kind, encoder.value(key), *rest]}


def _write_generator(encoder: Encoder, thing: Any) -> Json:
    return {"generator": encoder.value(thing.bit_generator.state)}


def _write_requests(_encoder: Encoder, thing: Any) -> Json:
    methods = {name: part.requests for name, part in vars(thing).items() if name != "owner"}
    return {"requests": [[name, *one] for name, requests in methods.items() for one in requests.items()]}


def _write_frame(encoder: Encoder, thing: Any) -> Json:
    """Return a table column by column; its index is not kept, for nothing in a model depends on it."""
    for name, kind in thing.dtypes.items():
        if type(name) is not str or str(kind) not in COLUMNS:
            raise ModelFileError(f"a table with a column {name!r} of {kind} cannot be kept: make it numbers or texts")
    return {"frame": [[name, str(thing[name].dtype), encoder.value(thing[name].to_numpy())] for name in thing.columns]}


WRITERS: list[tuple[Any, Callable[[Encoder, Any], Json]]] = [
    ((float, np.number, np.bool_, np.str_), _write_number),
    (np.ndarray, _write_array),
    (tuple(SEQUENCES.values()), _write_sequence),
    (dict, _write_dict),
    ((sparse.sparray, sparse.spmatrix), _write_sparse),
    (np.random.RandomState, _write_random_state),
    (np.random.Generator, _write_generator),
    (MetadataRequest, _write_requests),
    (Frame, _write_frame),
]
"""How values of a kind are written; objects of all other kinds have entries of their own."""


class Decoder:
    """Turns entries into objects again; every error is a ModelFileError.

    Parameters
    ----------
    forms : dict of str to Form
        Our own classes by name.
    arrays : ArrayReader
        The arrays of the file.
    foreign : callable
        From this decoder to what reads all other objects.
    """

    def __init__(
        self, forms: dict[str, Form], arrays: ArrayReader, foreign: Callable[["Decoder"], ForeignReader]
    ) -> None:
        self.forms = forms
        self.arrays = arrays
        self.made: list[Any] = []
        self._foreign = foreign(self)

    def read(self, entries: Json) -> Any:
        """Return the last of the objects, the model."""
        if not isinstance(entries, list) or not entries:
            raise ModelFileError("it has no entries")
        for entry in entries:
            self.made.append(self._entry(entry))
        return self.made[-1]

    def get(self, number: Any) -> Any:
        """Return an object that was made before."""
        if type(number) is not int or not 0 <= number < len(self.made):
            raise ModelFileError("an entry is named before it is there")
        return self.made[number]

    def _entry(self, entry: Json) -> Any:
        if not isinstance(entry, dict):
            raise ModelFileError("an entry is none")
        if set(entry) == {"type", "fields"}:
            form = self.forms.get(entry["type"]) if isinstance(entry["type"], str) else None
            if form is None or not isinstance(entry["fields"], dict):
                raise ModelFileError(f"it holds a {str(entry['type'])[:40]!r}, which this labelsure does not know")
            made = form.put_together({name: self.value(part) for name, part in entry["fields"].items()})
            adopt(made)
            return made
        if set(entry) == {"value"}:
            made = self.value(entry["value"])
            if not is_apart(made):
                raise ModelFileError("an entry is none")
            return made
        return self._foreign.read(entry)

    def value(self, data: Json) -> Any:
        """Return a value from JSON."""
        if not isinstance(data, dict):
            if isinstance(data, list):
                raise ModelFileError("a list does not say what it is")
            return data
        kind = next(iter(data), "")
        if kind == "objects" and set(data) == {"objects", "shape"}:
            return self._objects(data)
        if kind == "sparse" and set(data) == {"sparse", "shape", "parts"}:
            return self._sparse(data)
        read = getattr(self, f"_read_{kind}", None) if kind in KINDS and len(data) == 1 else None
        if read is None:
            raise ModelFileError(f"it holds a value of the kind {str(kind)[:40]!r}, which there is not")
        return read(data[kind])

    def _read_float(self, data: Json) -> float:
        return NOT_FINITE[data]

    def _read_array(self, data: Json) -> Any:
        return self.arrays.get(data)

    def _read_scalar(self, data: Json) -> Any:
        scalar = self.arrays.get(data)
        if scalar.ndim:
            raise ModelFileError("a number has several values")
        return scalar[()]

    def _read_object(self, data: Json) -> Any:
        return self.get(data)

    def _read_list(self, data: Json) -> list[Any]:
        return [self.value(part) for part in data]

    def _read_tuple(self, data: Json) -> tuple[Any, ...]:
        return tuple(self._read_list(data))

    def _read_set(self, data: Json) -> set[Any]:
        return {self._key(part) for part in data}

    def _read_frozenset(self, data: Json) -> frozenset[Any]:
        return frozenset(self._key(part) for part in data)

    def _read_dict(self, data: Json) -> dict[Any, Any]:
        return {self._key(key): self.value(part) for key, part in data}

    def _key(self, data: Json) -> Any:
        """Return what is looked up by its value; no objects, for pairs of pairs of ... would be looked at for ever."""
        parts = data.get("tuple", []) if isinstance(data, dict) else []
        if isinstance(data, dict) and "object" in data:
            raise ModelFileError("an object is looked up by its value")
        return tuple(map(self._key, parts)) if parts else self.value(data)

    def _objects(self, data: Json) -> Any:
        parts = self._read_list(data["objects"])
        array = np.empty(len(parts), dtype=object)
        array[:] = parts
        return array.reshape(data["shape"])

    def _sparse(self, data: Json) -> Any:
        """Return a sparse matrix, none of whose indices points outside of it."""
        cls = SPARSE[data["sparse"]]
        parts, shape = tuple(self._read_list(data["parts"])), tuple(data["shape"])
        if any(type(length) is not int or length < 0 for length in shape) or len(shape) != 2:
            raise ModelFileError("a sparse matrix has an impossible shape")
        if any(type(part) is not np.ndarray for part in parts) or any(
            part.dtype.kind not in "iu" for part in parts[1:]
        ):
            raise ModelFileError("a sparse matrix has no indices")
        made = cls(parts, shape=shape)
        if made.format != "dia":
            made.check_format(full_check=True)
        return made

    def _read_random_state(self, data: Json) -> np.random.RandomState:
        kind, key, position, has_gauss, cached = data
        key = self.value(key)
        fine = type(key) is np.ndarray and key.shape == (N_KEY,) and key.dtype == np.uint32 and kind == "MT19937"
        if not fine or type(position) is not int or not 0 <= position <= N_KEY or has_gauss not in (0, 1):
            raise ModelFileError("a random state is none")
        random = np.random.RandomState(0)
        random.set_state((kind, key, position, has_gauss, float(cached)))
        return random

    def _read_requests(self, data: Json) -> MetadataRequest:
        """Return what somebody asks of scikit-learn's metadata routing; whose it is, :func:`adopt` says."""
        requests = MetadataRequest(owner=None)
        for method, param, alias in data:
            if method not in vars(requests) or method == "owner" or type(param) is not str:
                raise ModelFileError("somebody asks for something that there is not")
            getattr(requests, method).add_request(param=param, alias=alias)
        return requests

    def _read_frame(self, data: Json) -> Any:
        pandas = import_optional("pandas", extra="pandas", purpose="A model file with a table")
        if any(type(name) is not str or kind not in COLUMNS for name, kind, _ in data):
            raise ModelFileError("a table has columns that are none")
        return pandas.DataFrame({name: pandas.Series(self.value(column), dtype=kind) for name, kind, column in data})

    def _read_generator(self, data: Json) -> np.random.Generator:
        state = self.value(data)
        generator = np.random.Generator(np.random.PCG64(0))
        generator.bit_generator.state = state  # numpy checks that it is one of PCG64, all whole numbers
        return generator


KINDS = {name.removeprefix("_read_") for name in vars(Decoder) if name.startswith("_read_")}


def adopt(thing: Any) -> None:
    """Make an object the owner of its requests for metadata."""
    requests = getattr(thing, "__dict__", {}).get("_metadata_request")
    if isinstance(requests, MetadataRequest):
        for part in vars(requests).values():
            if hasattr(part, "owner"):
                part.owner = thing
        requests.owner = thing


def is_apart(thing: Any) -> bool:
    """Tell whether a part of another package's object is kept by itself, because memory must not be trusted."""
    return bool(sparse.issparse(thing) or isinstance(thing, APART))
