"""Data sets by name."""

from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from labelsure.datasets._dataset import Dataset, join_split
from labelsure.datasets._errors import DatasetError
from labelsure.datasets._formats import read_file
from labelsure.datasets._registry import KNOWN_NAMES, files_of
from labelsure.datasets._river import yeast_from_river
from labelsure.datasets._sources import (
    DatasetFiles,
    cache_folder,
    download_files,
    find_cached,
    find_files,
    user_folders,
)


def available_datasets() -> tuple[str, ...]:
    """Return the names of the data sets that labelsure can fetch.

    Examples
    --------
    >>> available_datasets()
    ('bibtex', 'birds', 'emotions', 'enron', 'medical', 'scene', 'yeast')
    """
    return KNOWN_NAMES


def load_dataset(name: str, *, data_home: str | PathLike[str] | None = None, download: bool = True) -> Dataset:
    """Return a multi-label data set with its standard split.

    It is looked for in ``data_home``, in the folder that the environment variable LABELSURE_DATA names, in the user's
    cache, for yeast in the package river (the same values to the last bit), and is at last downloaded from the
    repository of the Mulan project into the cache. Downloads are checked against their SHA-256 before they are kept.

    Parameters
    ----------
    name : str
        One of :func:`available_datasets`, or the name of your own data in ``data_home`` or LABELSURE_DATA: the files
        ``<name>-train.arff``, ``<name>-test.arff`` and ``<name>.xml``, or ``<name>.arff`` and ``<name>.xml`` where
        there is no split (all rows are then in the training part). They may be in a folder ``<name>`` in there.
    data_home : path or None
        The folder to look in first. Its files are used as they are, and nothing is written to it.
    download : bool
        Whether to download what is found nowhere. The environment variable LABELSURE_MIRROR names another server: the
        address under which ``<name>/<file>`` are.

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
    <Dataset 'yeast': 2417 objects (1500 train, 917 test), 103 features, 14 labels, 4.24 labels per object>
    >>> data.X_train.shape, data.Y_test.shape, data.label_names[:2]
    ((1500, 103), (917, 14), ('Class1', 'Class2'))
    """
    _check_name(name)
    folders = user_folders(data_home)
    files = find_files(name, folders)
    if files is None and name not in KNOWN_NAMES:
        raise DatasetError(_unknown(name, folders))
    files = files or find_cached(name)
    if files is not None:
        return _read(name, files)
    if name == "yeast" and (dataset := yeast_from_river()) is not None:
        return dataset
    if not download:
        raise DatasetError(_not_found(name, folders))
    return _read(name, download_files(name))


def _read(name: str, files: DatasetFiles) -> Dataset:
    train = read_file(files.train, files.labels)
    return train if files.test is None else join_split(name, train, read_file(files.test, files.labels))


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not name or Path(name).name != name:
        raise DatasetError(
            f"name must be the name of a data set, got {name!r}. Known names: {', '.join(KNOWN_NAMES)}."
            " To read a file by its path use labelsure.datasets.read_mulan."
        )


def _unknown(name: str, folders: list[Path]) -> str:
    near = get_close_matches(name.lower(), KNOWN_NAMES, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    searched = f" Looked in {', '.join(map(str, folders))}." if folders else ""
    train, test, labels = files_of(name)
    return (
        f"{name!r} is not a data set labelsure knows.{hint} Known names: {', '.join(KNOWN_NAMES)}.{searched} For your"
        f" own data put {train}, {test} (or {name}.arff alone) and {labels} into a folder that data_home= or the"
        " environment variable LABELSURE_DATA names."
    )


def _not_found(name: str, folders: list[Path]) -> str:
    places = ", ".join(map(str, [*folders, cache_folder()]))
    river = ' Or install the package that carries it: pip install "labelsure[yeast]".' if name == "yeast" else ""
    return (
        f"the data set {name!r} was not found, or not whole, in {places}, and download=False forbids fetching it."
        f" Pass download=True, or put {', '.join(files_of(name))} into a folder that data_home= or the environment"
        f" variable LABELSURE_DATA names.{river}"
    )
