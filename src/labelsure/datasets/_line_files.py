"""ARFF and libsvm in batches; sparse rows stay sparse."""

import codecs
import re
from array import array
from collections.abc import Collection, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from labelsure.datasets._errors import DatasetError, LineError
from labelsure.datasets._files import check_encoding, reading, stream_lines
from labelsure.datasets._header import read_header
from labelsure.datasets._raw import MatrixBatch, TableFile
from labelsure.datasets._rows import RowReader
from labelsure.datasets._tokens import BLANKS

LABELS, FEATURE = "labels", "f"
"""What the first entry of a line of libsvm is called here, and what comes before the numbers of its features."""

ROWS_LOOKED_AT = 10_000

_DATA = re.compile(r"@data\b", re.IGNORECASE)


class ArffFile(TableFile):
    """An ARFF file, dense or sparse; its labels are zeros and ones in columns like any other."""

    endings = (".arff",)

    def __init__(self, path: Path) -> None:
        self.path = path
        head: list[str] = []
        rows = stream_lines(path)
        for _, line in rows:
            head.append(line)
            if _DATA.match(line.strip(BLANKS)):
                break
        self._header = read_header(path, head)
        first = next((text for _, text in _filled(rows)), "")
        self.sparse = first.startswith("{")
        attributes = self._header.attributes
        self.names = tuple(attribute.name for attribute in attributes)
        self._words = {
            attribute.name: {code: value for value, code in attribute.codes.items()}
            for attribute in attributes
            if attribute.codes and not attribute.is_binary
        }
        self.kinds = {name: "categorical" if name in self._words else "numeric" for name in self.names}

    def batches(self, names: Collection[str], size: int) -> Iterator[MatrixBatch]:  # noqa: ARG002
        """Yield all rows, ``size`` at a time and then the rest, with all columns."""
        reader = RowReader(self._header.attributes, ())
        rows = _filled(islice(stream_lines(self.path), self._header.data_line, None))
        places = {name: place for place, name in enumerate(self.names)}
        for start, part in _parts(rows, size):
            entries = _Entries()
            for place, (number, text) in enumerate(part, start=start + 1):
                try:
                    row = reader.read(text)
                except LineError as error:
                    raise DatasetError(f"{self.path}, row {place} (line {number}): {error}") from None
                entries.add(row, row.values())
            matrix = entries.matrix(len(self.names))
            yield MatrixBatch(start, matrix if self.sparse else matrix.toarray(), places, self._words)


class LibsvmFile(TableFile):
    """A file of libsvm's multi-label format: ``label,label index:value index:value ...`` on every line."""

    endings = (".svm", ".libsvm", ".svmlight")
    sparse = True

    def __init__(self, path: Path) -> None:
        check_encoding(path)
        self.path, self.kinds = path, {}
        used: set[int] = set()  # indices may be hashes: not all numbers up to the largest one
        for batch in self.batches((), ROWS_LOOKED_AT):
            used.update(batch.matrix.indices.tolist())
        self.names = (LABELS, *(FEATURE + str(index) for index in sorted(used)))
        self.kinds = dict.fromkeys(self.names[1:], "numeric")

    def batches(self, names: Collection[str], size: int) -> Iterator[MatrixBatch]:  # noqa: ARG002
        """Yield all rows, ``size`` at a time and then the rest, with all columns."""
        start = 0
        with reading(self.path), self.path.expanduser().open("rb") as file:
            rows = (line for line in file if line.partition(b"#")[0].strip())
            while lines := list(islice(rows, size)):
                matrix, labels = self._parse(start, lines)
                yield MatrixBatch(start, matrix, _Places(), others={LABELS: labels})
                start += len(lines)

    def _parse(self, start: int, lines: list[bytes]) -> tuple[Any, Any]:
        text = BytesIO(b"".join(lines).removeprefix(codecs.BOM_UTF8))
        try:
            matrix, labels = load_svmlight_file(text, multilabel=True, zero_based=True)
        except (ValueError, OverflowError) as error:
            for place, line in enumerate(lines if len(lines) > 1 else ()):
                self._parse(start + place, [line])  # the first wrong row raises
            raise DatasetError(
                f"{self.path}, row {start + 1}: {error}. Expected numbers of labels separated by commas, then"
                " index:value with ascending indices. Correct the row."
            ) from error
        matrix.eliminate_zeros()
        names = [",".join(f"{label:.15g}" for label in row) or None for row in labels]
        return matrix, np.array(names, dtype=object)


class _Places(dict[str, int]):
    """The columns of a libsvm file: there is one for every number."""

    def __missing__(self, name: str) -> int:
        return int(name.removeprefix(FEATURE))


class _Entries:
    """Rows of a csr matrix while they are read."""

    def __init__(self) -> None:
        self._values, self._columns, self._ends = array("d"), array("q"), array("q", [0])

    def add(self, columns: Any, values: Any) -> None:
        self._columns.extend(columns)
        self._values.extend(values)
        self._ends.append(len(self._values))

    def matrix(self, width: int) -> Any:
        shape = (len(self._ends) - 1, width)
        columns = np.array(self._columns, dtype=np.int64)
        matrix = sparse.csr_matrix((np.array(self._values), columns, np.array(self._ends)), shape=shape)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix


def _filled(rows: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold something, without blanks around it."""
    stripped = ((number, text.strip(BLANKS)) for number, text in rows)
    return ((number, text) for number, text in stripped if text and not text.startswith("%"))


def _parts(rows: Iterator[tuple[int, str]], size: int) -> Iterator[tuple[int, list[tuple[int, str]]]]:
    start = 0
    while part := list(islice(rows, size)):
        yield start, part
        start += len(part)
