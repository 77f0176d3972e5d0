"""Data sets in Mulan's format: an ARFF file, and an XML file that names its labels."""

from collections.abc import Iterable, Sequence
from io import BytesIO
from os import PathLike, fspath
from pathlib import Path
from xml.etree.ElementTree import ParseError, iterparse

import numpy as np

from labelsure._checks import did_you_mean, quote
from labelsure._errors import DatasetError, LineError
from labelsure.datasets._arff import ArffReader, Attribute
from labelsure.datasets._dataset import Dataset
from labelsure.datasets._files import read_bytes


def read_mulan(
    arff_path: str | PathLike[str], labels: str | PathLike[str] | Iterable[str]
) -> Dataset:
    r"""Read one file in Mulan's format (Tsoumakas et al., 2011).

    Parameters
    ----------
    arff_path : path
        A dense or sparse ARFF file, in UTF-8 or Latin-1.
    labels : path or iterable of str
        The XML file that names the labels, or the names themselves.

    Returns
    -------
    Dataset
        All rows are in its training part; labels are in the order of the ARFF file's columns, as in
        Mulan itself.

    Raises
    ------
    DatasetError
        If a file cannot be read; the message names the file, the line and what to do.

    Notes
    -----
    Numbers become float64, ``?`` and ``NaN`` missing; nominal features become numbers, see
    ``Dataset.categories``. Labels are nominal with the values 0 and 1, or numeric; none may be
    missing. What a sparse row leaves out is zero, or the first declared value. Strings, dates,
    relations and weights of rows are refused.

    References
    ----------
    G. Tsoumakas, E. Spyromitros-Xioufis, J. Vilcek, I. Vlahavas, "Mulan: A Java library for
    multi-label learning", Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> arff = '''@relation birds
    ... @attribute height numeric
    ... @attribute place {forest, sea}
    ... @attribute 'Stellar\\'s Jay' {0,1}
    ... @data
    ... 0.5, sea, 1
    ... ?, forest, 0'''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "birds.arff")
    ...     _ = path.write_text(arff)
    ...     data = read_mulan(path, ["Stellar's Jay"])
    >>> data.X.tolist(), data.Y.tolist(), data.categories
    ([[0.5, 1.0], [nan, 0.0]], [[1], [0]], {'place': {'forest': 0.0, 'sea': 1.0}})
    """
    path = Path(fspath(arff_path))
    names = read_label_names(labels)
    reader = ArffReader(path)
    attributes = reader.attributes
    label_columns = _find_label_columns(path, attributes, names)
    feature_columns = sorted({*range(len(attributes))}.difference(label_columns))
    if not feature_columns:
        raise DatasetError(
            f"{path}: every attribute is a label, so no features are left. Check the list of"
            " labels."
        )
    lines, table = next(reader.batches(None), ([], None))
    if table is None:
        raise DatasetError(f"{path}: no rows follow @data. The file is truncated; get it again.")
    Y = table[:, label_columns].toarray()
    X = (table if reader.is_sparse else table.toarray())[:, feature_columns]
    for row, label in np.argwhere((Y != 0) & (Y != 1))[:1].tolist():
        got = "nothing (?)" if np.isnan(Y[row, label]) else f"{Y[row, label]:g}"
        name = quote(attributes[label_columns[label]].name)
        raise DatasetError(
            f"{path}, row {row + 1} (line {lines[row]}): label {name} must be 0 or 1, got {got}."
            " Correct it."
        )
    features = [attributes[column] for column in feature_columns]
    return Dataset(
        name=path.stem,
        X=X,
        Y=Y,
        feature_names=tuple(feature.name for feature in features),
        label_names=tuple(attributes[column].name for column in label_columns),
        n_train=len(lines),
        categories={
            feature.name: feature.codes
            for feature in features
            if feature.codes and not feature.is_binary
        },
        source=str(path),
    )


def read_label_names(labels: str | PathLike[str] | Iterable[str]) -> list[str]:
    """Return label names, from a list or an XML file with ``<label name="...">`` at any depth."""
    if isinstance(labels, (str, PathLike)):
        return [*_read_xml(Path(fspath(labels)))]
    names = list(labels)
    if not names or not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise DatasetError(
            "labels must be the path of an XML file or a list of different names, got"
            f" {quote(str(names))}."
        )
    return names


def read_hierarchy(labels: str | PathLike[str]) -> dict[str, str]:
    """Return the parent of each label that has one, from nested ``<label>`` elements of the XML.

    ``labelsure.engine.Hierarchy`` takes them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pictures.xml")
    ...     _ = path.write_text('<labels><label name="animal"><label name="dog"/></label></labels>')
    ...     read_hierarchy(path)
    {'dog': 'animal'}
    """
    return {
        name: parent
        for name, parent in _read_xml(Path(fspath(labels))).items()
        if parent is not None
    }


def _read_xml(path: Path) -> dict[str, str | None]:
    """Return the labels, each with the label around it."""
    parents: dict[str, str | None] = {}
    around: list[str | None] = [None]
    content = read_bytes(path)
    try:
        for event, element in iterparse(BytesIO(content), ("start", "end")):
            if element.tag.rpartition("}")[2].lower() != "label":
                continue
            if event == "end":
                around.pop()
                continue
            name = element.get("name")
            if name is None or name in parents:
                raise LineError(f"every <label> must have a unique name, got {name!r}. Correct it.")
            parents[name] = around[-1]
            around.append(name)
    except LineError as error:
        raise DatasetError(f"{path}: {error}") from None
    except (
        ParseError,
        ValueError,
        LookupError,
    ) as error:  # the last two: an encoding that does not exist
        raise DatasetError(
            f"{path}: not well-formed XML ({error}). The file is truncated or damaged; get it"
            " again."
        ) from error
    if not parents:
        raise DatasetError(
            f'{path}: no <label name="..."> in this file. Is it the XML file of a Mulan data set?'
        )
    return parents


def _find_label_columns(
    path: Path, attributes: Sequence[Attribute], names: Sequence[str]
) -> list[int]:
    """Return the checked columns of the labels in ascending order."""
    declared = {attribute.name: attribute for attribute in attributes}
    for name in names:
        if name not in declared:
            raise DatasetError(
                f"{path}: no attribute is called {quote(name)}, which labels"
                f" names.{did_you_mean(name, declared)} Correct the name, or use the ARFF and XML"
                " files of the same data set."
            )
        attribute = declared[name]
        if attribute.codes is not None and not attribute.is_binary:
            raise DatasetError(
                f"{path}: attribute {quote(name)}, which labels names, must have the values 0 and"
                f" 1, but declares {quote(', '.join(attribute.codes))}. Recode it or leave it out."
            )
    wanted = {*names}
    return [column for column, attribute in enumerate(attributes) if attribute.name in wanted]
