"""ARFF and libsvm in batches; sparse rows stay sparse."""

import codecs
from collections.abc import Collection, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from labelsure.datasets._arff import RowReader, filled_lines, read_header
from labelsure.datasets._errors import DatasetError
from labelsure.datasets._files import check_encoding, reading, stream_lines
from labelsure.datasets._raw import MatrixBatch, TableFile

LABELS, FEATURE = "labels", "f"
"""What the first entry of a line of libsvm is called here, and what comes before the numbers of its features."""

ROWS_LOOKED_AT = 10_000


class ArffFile(TableFile):
    """An ARFF file, dense or sparse; its labels are zeros and ones in columns like any other."""

    endings = (".arff",)

    def __init__(self, path: Path) -> None:
        self.path = path
        rows = stream_lines(path)
        attributes, self._data_line = read_header(path, rows)
        first = next((text for _, text in filled_lines(rows)), "")
        self._reader = RowReader(attributes, ())
        self.sparse = first.startswith("{")
        self.names = tuple(attribute.name for attribute in attributes)
        self._words = {
            attribute.name: {code: value for value, code in attribute.codes.items()}
            for attribute in attributes
            if attribute.codes and not attribute.is_binary
        }
        self.kinds = {name: "categorical" if name in self._words else "numeric" for name in self.names}

    def batches(self, names: Collection[str], size: int) -> Iterator[MatrixBatch]:  # noqa: ARG002
        """Yield all rows, ``size`` at a time and then the rest, with all columns."""
        rows = filled_lines(islice(stream_lines(self.path), self._data_line, None))
        places = {name: place for place, name in enumerate(self.names)}
        start = 0
        while part := list(islice(rows, size)):
            matrix = self._reader.matrix(self.path, part, start)
            yield MatrixBatch(start, matrix if self.sparse else matrix.toarray(), places, self._words)
            start += len(part)


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
