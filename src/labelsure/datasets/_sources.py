"""Where the files of a data set may be: in the user's folders, in the cache, on the Mulan project's server."""

import os
from collections.abc import Iterable
from hashlib import sha256
from itertools import product
from os import PathLike, fspath
from pathlib import Path
from typing import NamedTuple

from labelsure._core.running import progress_bar
from labelsure.datasets._errors import DatasetError
from labelsure.datasets._files import read_bytes
from labelsure.datasets._formats import READERS
from labelsure.datasets._registry import SHA256, files_of, url_of

TIMEOUT_SECONDS = 30


class DatasetFiles(NamedTuple):
    """The files of a data set; ``test`` is None where there is no standard split and ``train`` holds everything."""

    train: Path
    test: Path | None
    labels: Path


def user_folders(data_home: str | PathLike[str] | None) -> list[Path]:
    """Return the folders the user named: ``data_home``, then the environment variable LABELSURE_DATA."""
    folders = []
    if data_home is not None:
        folder = Path(fspath(data_home)).expanduser()
        if not folder.is_dir():
            raise DatasetError(
                f"data_home must be an existing folder, got {fspath(data_home)!r}. Create it or correct it."
            )
        folders.append(folder)
    if from_environment := os.environ.get("LABELSURE_DATA"):
        folders.append(Path(from_environment).expanduser())
    return folders


def find_files(name: str, folders: Iterable[Path]) -> DatasetFiles | None:
    """Return the files of a data set from the first folder that has them, itself or in a folder of the set's name.

    Raises
    ------
    DatasetError
        If a folder holds some of the files but not all: the user meant that folder, and would get other data silently.
    """
    places = [place for parent in folders for place in (parent, parent / name)]
    for folder, ending in product(places, READERS):
        train, test, labels = (folder / file for file in files_of(name, ending))
        whole = folder / f"{name}{ending}"
        if train.is_file() and test.is_file() and labels.is_file():
            return DatasetFiles(train, test, labels)
        if whole.is_file() and labels.is_file():
            return DatasetFiles(whole, None, labels)
        if present := [path.name for path in (train, test, labels, whole) if path.is_file()]:
            raise DatasetError(
                f"{folder} holds {' and '.join(present)}, but not all files of the data set {name!r}: put"
                f" {train.name} and {test.name}, or {whole.name}, and {labels.name} there."
            )
    return None


def cache_folder() -> Path:
    """Return the folder that downloads go to."""
    from platformdirs import user_cache_path

    return user_cache_path("labelsure", appauthor=False)


def find_cached(name: str) -> DatasetFiles | None:
    """Return the files of a known data set from the cache, if all are there and unharmed."""
    folder = cache_folder()
    for file in files_of(name):
        if not (folder / file).is_file() or sha256(read_bytes(folder / file)).hexdigest() != SHA256[file]:
            return None
    return DatasetFiles(*(folder / file for file in files_of(name)))


def download_files(name: str) -> DatasetFiles:
    """Fetch what the cache lacks of a known data set.

    Pooch writes to a temporary file in the cache and renames it only once its checksum is right, so that a failed or
    interrupted download leaves nothing behind.

    Raises
    ------
    DatasetError
        If a file cannot be fetched or written, or is not the one we know.
    """
    for file in files_of(name):
        _download(file, url_of(file, mirror=os.environ.get("LABELSURE_MIRROR", "")))
    return DatasetFiles(*(cache_folder() / file for file in files_of(name)))


def _download(file: str, url: str) -> None:
    import pooch

    by_hand = (
        f" Try again later, or put {file} into a folder of yours and pass data_home= (or set LABELSURE_DATA) to that"
        " folder; LABELSURE_MIRROR names another server."
    )
    with progress_bar(description=file, total=1) as bar:  # the total is set once the server has told it
        bar.unit, bar.unit_scale = "B", True
        downloader = pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT_SECONDS)
        try:
            pooch.retrieve(url, f"sha256:{SHA256[file]}", fname=file, path=cache_folder(), downloader=downloader)
        except OSError as error:  # requests' exceptions are OSErrors too
            raise DatasetError(f"{url} could not be fetched to {cache_folder()}: {error}.{by_hand}") from error
        except ValueError as error:
            raise DatasetError(
                f"{url} is not the file we know: its SHA-256 checksum must be {SHA256[file]} ({error}). Nothing was"
                f" kept.{by_hand}"
            ) from error
