"""Parquet files of strangers: whatever their bytes, rows or one clear error."""

import random

import pytest

from labelsure.datasets import DatasetError, infer_schema, open_table

pa = pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "whole.parquet"
    columns = {"a": [0.5, 1.5, 2.5] * 40, "word": ["sea", "sky", None] * 40, "l": [0, 1, 1] * 40}
    parquet.write_table(pa.table(columns), path, row_group_size=50)
    return path.read_bytes()


def read(path):
    schema = infer_schema(path, labels=["l"])
    return sum(batch.n_rows for batch in open_table(path, schema))


def test_whole_files_are_read(content, tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    assert read(path) == 120


@pytest.mark.parametrize("kind", ["some bytes", "cut off", "the footer"])
def test_changed_bytes_give_data_or_a_dataset_error(content, tmp_path, kind):
    path = tmp_path / "table.parquet"
    refused = 0
    for seed in range(60):
        rng, changed = random.Random(seed), bytearray(content)
        if kind == "cut off":
            del changed[rng.randrange(len(changed)) :]
        else:
            first = len(changed) - 600 if kind == "the footer" else 0
            for _ in range(4):
                changed[rng.randrange(first, len(changed))] = rng.randrange(256)
        path.write_bytes(changed)
        try:
            read(path)
        except DatasetError as error:
            refused += 1
            assert str(path) in str(error)
    assert refused > 20
