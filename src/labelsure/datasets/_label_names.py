"""The names of the labels, from Mulan's XML file or from a list."""

from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from xml.parsers import expat

from labelsure.datasets._errors import DatasetError, LineError, shown
from labelsure.datasets._files import read_bytes


def read_label_names(labels: str | PathLike[str] | Iterable[str]) -> dict[str, str]:
    """Return the label names, each with where it was named.

    Parameters
    ----------
    labels : path or iterable of str
        An XML file with ``<label name="...">`` elements at any depth (a hierarchy is nested), in Mulan's namespace, in
        another or in none; or the names themselves.

    Raises
    ------
    DatasetError
        If the XML is not well-formed, a label has no name, a name comes twice, or there is none.

    Examples
    --------
    >>> read_label_names(["Beach", "Sunset"])
    {'Beach': 'the list of labels', 'Sunset': 'the list of labels'}
    """
    if isinstance(labels, (str, PathLike)):
        return _read_xml(Path(fspath(labels)))
    names = list(labels)
    for name in names:
        if not isinstance(name, str):
            raise DatasetError(f"labels must be the path of an XML file or a list of names, got {name!r} in the list.")
        if names.count(name) > 1:
            raise DatasetError(f"labels must be different names, got {shown(name)} twice.")
    if not names:
        raise DatasetError("labels must name at least one label, got an empty list.")
    return dict.fromkeys(names, "the list of labels")


def _read_xml(path: Path) -> dict[str, str]:
    content = read_bytes(path)
    names: dict[str, str] = {}
    # With a separator expat resolves namespaces: an element is called "namespace label", or "label" if it has none.
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(" ")[2].lower() != "label":
            return
        name = attributes.get("name")
        if name is None:
            raise LineError('a <label> has no name. Write <label name="...">.')
        if name in names:
            raise LineError(f"label {shown(name)} is named a second time. Remove one of the two.")
        names[name] = f"{path}, line {parser.CurrentLineNumber}"

    parser.StartElementHandler = start
    _parse(parser, content, path)
    if not names:
        raise DatasetError(
            f'{path}, line 1: no <label name="..."> element in this file. Is it the XML file of a Mulan data set?'
        )
    return names


def _parse(parser: Any, content: bytes, path: Path) -> None:
    try:
        parser.Parse(content, True)
    except LineError as error:
        raise DatasetError(f"{path}, line {parser.CurrentLineNumber}: {error}") from None
    except (expat.ExpatError, ValueError, LookupError) as error:  # the last two: an encoding that does not exist
        raise DatasetError(
            f"{path}, line {parser.CurrentLineNumber}: not well-formed XML ({error})."
            " The file is truncated or damaged; get it again."
        ) from error
