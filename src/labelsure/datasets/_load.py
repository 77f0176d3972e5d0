"""Data sets by name: in the user's folders, the cache, river, or on the Mulan project's server."""

import gzip
import importlib.util
import os
import zlib
from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from labelsure._checks import did_you_mean
from labelsure._errors import DatasetError
from labelsure._parallel import progress_bar
from labelsure.datasets._dataset import Dataset, join_split
from labelsure.datasets._files import read_bytes
from labelsure.datasets._mulan import read_mulan

TIMEOUT_SECONDS = 30

MULAN_URL = "https://raw.githubusercontent.com/tsoumakas/mulan/{revision}/data/multi-label"
"""The folder that holds one folder per data set."""

DEFAULT_REVISION = "master"

REVISIONS = {"scene": "5862bed221a9ec2baf9a090f5e98637e9dfb088b"}
"""The commits known to hold a data set; others come from the default branch. All are checked."""

SHA256 = dict(
    line.split()
    for line in files("labelsure.datasets").joinpath("registry.txt").read_text("ascii").splitlines()
)
"""The checksums of the files as the Mulan project publishes them."""

KNOWN_NAMES = tuple(sorted(file.removesuffix(".xml") for file in SHA256 if file.endswith(".xml")))

N_TEST = 917
N_FEATURES = 103
TABLE_SHA256 = "d689391546fd6bba64c98918001616f2e3199d3f2459f18c9b194ada3c1efdc4"
"""Digest of yeast's table, little-endian float64 by rows: Mulan's test file, then training file."""


def available_datasets() -> tuple[str, ...]:
    """Return the names of the data sets that labelsure can fetch.

    Examples
    --------
    >>> available_datasets()
    ('bibtex', 'birds', 'emotions', 'enron', 'medical', 'scene', 'yeast')
    """
    return KNOWN_NAMES


def load_dataset(
    name: str, *, data_home: str | PathLike[str] | None = None, download: bool = True
) -> Dataset:
    """Return a multi-label data set with its standard split.

    It is looked for in ``data_home``, in the folder that the environment variable LABELSURE_DATA
    names, in the user's cache, for yeast in the package river (the same values to the last bit),
    and is at last downloaded from the repository of the Mulan project into the cache. Downloads are
    checked against their SHA-256 before they are kept.

    Parameters
    ----------
    name : str
        One of :func:`available_datasets`, or the name of your own data in ``data_home`` or
        LABELSURE_DATA: the files ``<name>-train.arff``, ``<name>-test.arff`` and ``<name>.xml``, or
        ``<name>.arff`` and ``<name>.xml`` where there is no split (all rows are then in the
        training part). They may be in a folder ``<name>`` in there.
    data_home : path or None
        The folder to look in first. Its files are used as they are, and nothing is written to it.
    download : bool
        Whether to download what is found nowhere. The environment variable LABELSURE_MIRROR names
        another server: the address under which ``<name>/<file>`` are.

    Returns
    -------
    Dataset
        Features, labels, names and split; the labels in the order of the ARFF file's columns.

    Raises
    ------
    DatasetError
        If the data set is unknown, not found, cannot be fetched or cannot be read.

    See Also
    --------
    read_mulan : What the reader makes of nominal features, missing values and sparse rows.

    Examples
    --------
    >>> data = load_dataset("yeast")
    >>> data
    <Dataset 'yeast': 2417 objects (1500 train, 917 test), 103 features, 14 labels, 4.24 ...>
    >>> data.X_train.shape, data.Y_test.shape, data.label_names[:2]
    ((1500, 103), (917, 14), ('Class1', 'Class2'))
    """
    if not isinstance(name, str) or not name or Path(name).name != name:
        raise DatasetError(
            f"name must be the name of a data set, got {name!r}. Known names:"
            f" {', '.join(KNOWN_NAMES)}. To read a file by its path use"
            " labelsure.datasets.read_mulan."
        )
    folders = _user_folders(data_home)
    found = _find_files(name, folders)
    if found is None and name not in KNOWN_NAMES:
        raise DatasetError(_unknown(name, folders))
    found = found or _find_cached(name)
    if found is None and name == "yeast" and (dataset := yeast_from_river()) is not None:
        return dataset
    if found is None and not download:
        raise DatasetError(_not_found(name, folders))
    *parts, labels = found or _download_files(name)
    datasets = [read_mulan(part, labels) for part in parts]
    return datasets[0] if len(datasets) == 1 else join_split(name, *datasets)


def cache_folder() -> Path:
    """Return the folder that downloads go to."""
    from platformdirs import user_cache_path

    return user_cache_path("labelsure", appauthor=False)


def _user_folders(data_home: str | PathLike[str] | None) -> list[Path]:
    """Return the folders named by the user: ``data_home``, then LABELSURE_DATA."""
    if not isinstance(data_home, str | PathLike | None):
        raise DatasetError(f"data_home must be the path of a folder, got {data_home!r}.")
    named = [data_home, os.environ.get("LABELSURE_DATA") or None]
    folders = [Path(fspath(folder)).expanduser() for folder in named if folder is not None]
    if data_home is not None and not folders[0].is_dir():
        raise DatasetError(
            f"data_home must be an existing folder, got {fspath(data_home)!r}. Create it or correct"
            " it."
        )
    return folders


def _find_files(name: str, folders: Iterable[Path]) -> list[Path] | None:
    """Return the files of a data set, the labels last, from the first folder that has them.

    They may be in a folder of the set's name in there. A folder that holds some of them but not all
    is an error: the user meant that folder, and would get other data silently.
    """
    places = [place for parent in folders for place in (parent, parent / name)]
    for folder in places:
        train, test, labels = (folder / file for file in files_of(name))
        whole = folder / f"{name}.arff"
        for wanted in ([train, test, labels], [whole, labels]):
            if all(file.is_file() for file in wanted):
                return wanted
        if present := [path.name for path in (train, test, labels, whole) if path.is_file()]:
            raise DatasetError(
                f"{folder} holds {' and '.join(present)}, but not all files of the data set"
                f" {name!r}: put {train.name} and {test.name}, or {whole.name}, and {labels.name}"
                " there."
            )
    return None


def _find_cached(name: str) -> list[Path] | None:
    """Return the files of a known data set from the cache, if all are there and unharmed."""
    paths = [cache_folder() / file for file in files_of(name)]
    whole = all(
        path.is_file() and sha256(read_bytes(path)).hexdigest() == SHA256[path.name]
        for path in paths
    )
    return paths if whole else None


def _download_files(name: str) -> list[Path]:
    """Fetch what the cache lacks of a known data set.

    Pooch writes to a temporary file in the cache and renames it only once its checksum is right, so
    that a failed or interrupted download leaves nothing behind.
    """
    import pooch

    paths = [cache_folder() / file for file in files_of(name)]
    if not cache_folder().is_absolute():  # "~" stayed as it was
        raise DatasetError(
            "there is no home folder to keep a download in. Set HOME or XDG_CACHE_HOME, or put"
            f" {', '.join(files_of(name))} into a folder that data_home= or the environment"
            " variable LABELSURE_DATA names."
        )
    for path in paths:
        file, url = path.name, url_of(path.name, mirror=os.environ.get("LABELSURE_MIRROR", ""))
        by_hand = (
            f" Try again later, or put {file} into a folder of yours and pass data_home= (or set"
            " LABELSURE_DATA) to that folder; LABELSURE_MIRROR names another server."
        )
        # the total is set once the server has told it
        with progress_bar(description=file, total=1) as bar:
            bar.unit, bar.unit_scale = "B", True
            downloader = pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT_SECONDS)
            try:
                pooch.retrieve(
                    url, f"sha256:{SHA256[file]}", file, path.parent, downloader=downloader
                )
            except OSError as error:  # requests' exceptions are OSErrors too
                raise DatasetError(
                    f"{url} could not be fetched to {path.parent}: {error}.{by_hand}"
                ) from error
            except ValueError as error:
                raise DatasetError(
                    f"{url} is not the file we know: its SHA-256 checksum must be {SHA256[file]}"
                    f" ({error}). Nothing was kept.{by_hand}"
                ) from error
    return paths


def _unknown(name: str, folders: list[Path]) -> str:
    searched = f" Looked in {', '.join(map(str, folders))}." if folders else ""
    train, test, labels = files_of(name)
    hint = did_you_mean(name.lower(), KNOWN_NAMES)
    return (
        f"{name!r} is not a data set labelsure knows.{hint} Known names:"
        f" {', '.join(KNOWN_NAMES)}.{searched} For your own data put {train}, {test} (or"
        f" {name}.arff alone) and {labels} into a folder that data_home= or the environment"
        " variable LABELSURE_DATA names."
    )


def _not_found(name: str, folders: list[Path]) -> str:
    places = ", ".join(map(str, [*folders, cache_folder()]))
    river = (
        ' Or install the package that carries it: pip install "labelsure[yeast]".'
        if name == "yeast"
        else ""
    )
    return (
        f"the data set {name!r} was not found, or not whole, in {places}, and download=False"
        f" forbids fetching it. Pass download=True, or put {', '.join(files_of(name))} into a"
        f" folder that data_home= or the environment variable LABELSURE_DATA names.{river}"
    )


def url_of(file: str, *, mirror: str = "") -> str:
    """Return the address of a file, under ``mirror`` (one folder per data set) if that is given.

    Examples
    --------
    >>> url_of("yeast.xml", mirror="http://127.0.0.1:8000/")
    'http://127.0.0.1:8000/yeast/yeast.xml'
    """
    name = next(name for name in KNOWN_NAMES if file in files_of(name))
    base = mirror or MULAN_URL.format(revision=REVISIONS.get(name, DEFAULT_REVISION))
    return f"{base.rstrip('/')}/{name}/{file}"


def files_of(name: str) -> tuple[str, str, str]:
    """Return the names of the three files of a data set: training, test, labels.

    Examples
    --------
    >>> files_of("scene")
    ('scene-train.arff', 'scene-test.arff', 'scene.xml')
    """
    return f"{name}-train.arff", f"{name}-test.arff", f"{name}.xml"


def yeast_from_river() -> Dataset | None:
    """Return yeast from the package river, None if that is missing or has other values.

    River itself, which takes seconds to import, is not imported. Its file holds Mulan's test file
    in rows 0 to 916 and Mulan's training file in rows 917 to 2416.
    """
    try:
        spec = importlib.util.find_spec("river")
        folders = (spec and spec.submodule_search_locations) or []
        paths = [Path(folder, "datasets", "yeast.csv.gz") for folder in folders]
        path = next(path for path in paths if path.is_file())
        header, *rows = gzip.decompress(path.read_bytes()).decode().split()
        table = np.array([[float(value) for value in row.split(",")] for row in rows], dtype="<f8")
    except (StopIteration, OSError, EOFError, ValueError, zlib.error):
        return None  # no river, another one's file, or a damaged one
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
