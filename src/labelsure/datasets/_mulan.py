"""A data set in Mulan's format: an ARFF file, and an XML file that says which of its attributes are labels."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from os import PathLike, fspath
from pathlib import Path
from xml.parsers import expat

from scipy import sparse

from labelsure.datasets._arff import Attribute, RowReader, filled_lines, read_header
from labelsure.datasets._dataset import Dataset
from labelsure.datasets._errors import DatasetError, LineError, shown
from labelsure.datasets._files import read_bytes, read_lines


def read_mulan(arff_path: str | PathLike[str], labels: str | PathLike[str] | Iterable[str]) -> Dataset:
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
        All rows are in its training part; labels are in the order of the ARFF file's columns, as in Mulan itself.

    Raises
    ------
    DatasetError
        If a file cannot be read; the message names the file, the line and what to do.

    Notes
    -----
    Numeric, real and integer attributes become float64, ``?`` and ``NaN`` missing. Nominal features become numbers, see
    ``Dataset.categories``. Labels are nominal with the values 0 and 1, or numeric; none may be missing. What a sparse
    row leaves out is zero, or the first declared value. Strings, dates, relations and weights of rows are refused.

    References
    ----------
    G. Tsoumakas, E. Spyromitros-Xioufis, J. Vilcek, I. Vlahavas, "Mulan: A Java library for multi-label learning",
    Journal of Machine Learning Research 12, 2011.

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
    lines = list(enumerate(read_lines(path), start=1))
    attributes, data_line = read_header(path, lines)
    label_columns = _label_columns(path, attributes, names)
    feature_columns = [column for column in range(len(attributes)) if column not in set(label_columns)]
    if not feature_columns:
        raise DatasetError(f"{path}: every attribute is a label, so no features are left. Check the list of labels.")
    rows = list(filled_lines(lines[data_line:]))
    if not rows:
        raise DatasetError(f"{path}, line {len(lines)}: no rows follow @data. The file is truncated; get it again.")
    table = RowReader(attributes, label_columns).matrix(path, rows)
    if not any(text.startswith("{") for _, text in rows):
        table = table.toarray()
    Y = table[:, label_columns]
    features = [attributes[column] for column in feature_columns]
    return Dataset(
        name=path.stem,
        X=table[:, feature_columns],
        Y=Y.toarray() if sparse.issparse(Y) else Y,
        feature_names=tuple(feature.name for feature in features),
        label_names=tuple(attributes[column].name for column in label_columns),
        n_train=Y.shape[0],
        categories={feature.name: feature.codes for feature in features if feature.codes and not feature.is_binary},
        source=str(path),
    )


def read_label_names(labels: str | PathLike[str] | Iterable[str]) -> dict[str, str]:
    """Return the label names, each with where it was named.

    ``labels`` are the names, or the path of an XML file with ``<label name="...">`` elements at any depth, in any
    namespace.
    """
    if isinstance(labels, (str, PathLike)):
        return _read_xml(Path(fspath(labels)))[0]
    names = list(labels)
    for name in names:
        if not isinstance(name, str):
            raise DatasetError(f"labels must be the path of an XML file or a list of names, got {name!r} in the list.")
        if names.count(name) > 1:
            raise DatasetError(f"labels must be different names, got {shown(name)} twice.")
    if not names:
        raise DatasetError("labels must name at least one label, got an empty list.")
    return dict.fromkeys(names, "the list of labels")


def read_hierarchy(labels: str | PathLike[str]) -> dict[str, str]:
    """Return the parent of each label that has one, from nested ``<label>`` elements of Mulan's XML.

    Parameters
    ----------
    labels : path
        An XML file, as in :func:`read_mulan`.

    Returns
    -------
    dict from str to str
        Names of labels; nothing where no label is nested. ``labelsure.labelsets.Hierarchy`` takes it.

    Raises
    ------
    DatasetError
        As in :func:`read_mulan`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = '<labels><label name="animal"><label name="dog"/></label><label name="plant"/></labels>'
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "pictures.xml")
    ...     n_written = path.write_text(text)
    ...     read_hierarchy(path)
    {'dog': 'animal'}
    """
    return _read_xml(Path(fspath(labels)))[1]


def _read_xml(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return where each label is named, and the label around it, where there is one."""
    content = read_bytes(path)
    names: dict[str, str] = {}
    parents: dict[str, str] = {}
    around: list[str] = []
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
        if around:
            parents[name] = around[-1]
        around.append(name)

    def end(tag: str) -> None:
        if tag.rpartition(" ")[2].lower() == "label":
            around.pop()

    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(content, True)
    except LineError as error:
        raise DatasetError(f"{path}, line {parser.CurrentLineNumber}: {error}") from None
    except (expat.ExpatError, ValueError, LookupError) as error:  # the last two: an encoding that does not exist
        raise DatasetError(
            f"{path}, line {parser.CurrentLineNumber}: not well-formed XML ({error})."
            " The file is truncated or damaged; get it again."
        ) from error
    if not names:
        raise DatasetError(
            f'{path}, line 1: no <label name="..."> element in this file. Is it the XML file of a Mulan data set?'
        )
    return names, parents


def _label_columns(path: Path, attributes: Sequence[Attribute], names: dict[str, str]) -> list[int]:
    """Return the columns of the labels in ascending order, having checked that all are there and can be labels."""
    declared = {attribute.name: attribute for attribute in attributes}
    for name, place in names.items():
        if name not in declared:
            near = get_close_matches(name, declared, n=1) if len(name) < 100 else []  # its cost grows with the square
            hint = f" Did you mean {shown(near[0])}?" if near else ""
            raise DatasetError(
                f"{path}: no attribute is called {shown(name)}, which {place} names as a label.{hint}"
                " Correct the name, or use the ARFF and XML files of the same data set."
            )
        attribute = declared[name]
        if attribute.codes is not None and not attribute.is_binary:
            raise DatasetError(
                f"{path}, line {attribute.line}: attribute {shown(name)}, which {place} names as a label, must have"
                f" the values 0 and 1, but declares {shown(', '.join(attribute.codes))}. Recode it or leave it out."
            )
    return [column for column, attribute in enumerate(attributes) if attribute.name in names]
