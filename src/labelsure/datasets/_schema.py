"""What the columns of a table are: learned once from the file that a model is fitted on, and kept with the model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from labelsure.datasets._errors import DatasetError, shown

KINDS = ("numeric", "categorical", "text")
FORMAT = 1


@dataclass(frozen=True)
class Column:
    """One feature of a table.

    Attributes
    ----------
    name : str
        What the file calls it.
    kind : {"numeric", "categorical", "text"}
        How its cells are read.
    categories : tuple of str
        The values of a categorical column, in the order of their codes 0, 1, ...; a missing value is NaN, a value that
        is not among them -1.

    Examples
    --------
    >>> Column("place", "categorical", ("forest", "sea")).categories
    ('forest', 'sea')
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableSchema:
    """The features and labels of a table, by name: what every file that a model meets is read by.

    Made by :func:`infer_schema`. No type is guessed again afterwards: not from another file, and not from a part of it.

    Attributes
    ----------
    columns : tuple of Column
        The features, in the order of the columns of ``X``.
    label_names : tuple of str
        The labels, in the order of the columns of ``Y``; none where there are only features.
    names_in : str or None
        The column that holds the names of each object's labels; None where each label is a column of zeros and ones.
    separator : str
        What stands between names in that column.
    sparse : bool
        Whether ``X`` is a sparse matrix.

    Examples
    --------
    >>> schema = TableSchema((Column("size", "numeric"),), ("beach", "sea"))
    >>> schema
    <TableSchema: 1 numeric column, 2 labels>
    >>> TableSchema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...]
    label_names: tuple[str, ...] = ()
    names_in: str | None = None
    separator: str = ";"
    sparse: bool = False
    positions: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", {column.name: j for j, column in enumerate(self.columns)})

    def of_kind(self, kind: str) -> list[int]:
        """Return the positions of the columns of one kind.

        Examples
        --------
        >>> TableSchema((Column("size", "numeric"), Column("title", "text"))).of_kind("text")
        [1]
        """
        return [j for j, column in enumerate(self.columns) if column.kind == kind]

    @property
    def label_columns(self) -> tuple[str, ...]:
        """The columns that say which labels an object has."""
        return self.label_names if self.names_in is None else (self.names_in,)

    def to_json(self) -> dict[str, Any]:
        """Return the schema as what JSON knows: for ``labelsure.model_file.save_model(model, path, table=...)``.

        Examples
        --------
        >>> TableSchema((Column("size", "numeric"),), ("sea",)).to_json()["columns"]
        [{'name': 'size', 'kind': 'numeric'}]
        """
        columns = [
            {"name": column.name, "kind": column.kind}
            | ({"categories": list(column.categories)} if column.kind == "categorical" else {})
            for column in self.columns
        ]
        labels = {"names": list(self.label_names), "names_in": self.names_in, "separator": self.separator}
        return {"format": FORMAT, "columns": columns, "labels": labels, "sparse": self.sparse}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return the schema that :meth:`to_json` wrote, or raise DatasetError.

        Parameters
        ----------
        document : mapping
            As read from JSON. Everything in it is checked.

        Examples
        --------
        >>> TableSchema.from_json({"format": 2})
        Traceback (most recent call last):
        ...
        labelsure.datasets._errors.DatasetError: ... format 1, got 2. ...
        """
        found = document.get("format") if isinstance(document, Mapping) else None
        if found != FORMAT:
            raise DatasetError(
                f"the description of a table must have format {FORMAT}, got {found!r}."
                " Fit the model again with this version of labelsure, or use the version it was fitted with."
            )
        try:
            columns = tuple(_read_column(column) for column in document["columns"])
            labels = document["labels"]
            names_in, separator, sparse = labels["names_in"], labels["separator"], document["sparse"]
            schema = cls(columns, _texts(labels["names"]), names_in, separator, sparse)
            fine = isinstance(names_in, str | None) and isinstance(separator, str) and isinstance(sparse, bool)
        except (KeyError, TypeError, ValueError) as error:
            raise DatasetError(f"the description of a table is damaged ({error!r}). Fit the model again.") from error
        names = [column.name for column in columns]
        if not fine or len({*names, *schema.label_names}) < len(names) + len(schema.label_names):
            raise DatasetError("the description of a table is damaged: names must differ. Fit the model again.")
        return schema

    def __repr__(self) -> str:
        counts = {kind: len(self.of_kind(kind)) for kind in KINDS}
        parts = [f"{n} {kind} column{'' if n == 1 else 's'}" for kind, n in counts.items() if n]
        n_labels = len(self.label_names)
        parts += [f"{n_labels} label{'' if n_labels == 1 else 's'}"] if n_labels else []
        return f"<TableSchema: {', '.join(parts)}>"


def _read_column(document: Mapping[str, Any]) -> Column:
    kind = document["kind"]
    if kind not in KINDS:
        raise ValueError(f"no kind of column is called {shown(str(kind))}")
    (name,) = _texts([document["name"]])
    return Column(name, kind, _texts(document.get("categories", [])))


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise TypeError("a list of texts is expected")
    return tuple(values)
