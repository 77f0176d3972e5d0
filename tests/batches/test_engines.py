"""Other engines call a TablePredictor as documented: polars, Ray, Spark, where installed."""

import os
import re
import sys
from functools import partial

import pytest

from labelsure.batches import TablePredictor

pd = pytest.importorskip("pandas", reason="tables of pandas")
pa = pytest.importorskip("pyarrow", reason="tables in memory are read by pyarrow")


@pytest.fixture
def predictor(fitted):
    return TablePredictor(fitted.file, keep={"id": "int64"})


@pytest.fixture
def expected(fitted, predictor):
    arrow = pa.Table.from_pandas(fitted.tickets, preserve_index=False)
    return predictor(arrow).to_pylist()


def version_of(package):
    return tuple(map(int, re.findall(r"\d+", package.__version__)[:3]))


def in_rows(found):
    """Return answers sorted by their id, with lists of labels and None for what is missing."""
    return sorted(
        pa.Table.from_pandas(found, preserve_index=False).to_pylist(), key=lambda row: row["id"]
    )


@pytest.mark.parametrize(
    "whole", [{"predicate_pushdown": False, "projection_pushdown": False}, {}], ids=["told", "new"]
)
def test_polars_pipes_frames_and_maps_lazy_ones(fitted, predictor, expected, whole):
    pl = pytest.importorskip("polars", reason="tables of polars")
    if not whole and version_of(pl) < (1, 39, 3):
        pytest.skip("this polars has to be told")
    table = pl.from_pandas(fitted.tickets)
    assert table.pipe(predictor).to_dicts() == expected
    schema = pl.from_arrow(predictor.schema.empty_table()).schema
    answers = table.lazy().map_batches(predictor, schema=schema, **whole)
    assert answers.collect_schema() == schema
    assert answers.filter(pl.col("id") < 5).select("id", "top1_p").collect().rows() == [
        (row["id"], row["top1_p"]) for row in expected[:5]
    ]


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    pytest.importorskip("ray.data", reason="Ray Data is not installed")
    path = os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))
    ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": path}})
    yield ray
    ray.shutdown()


@pytest.mark.parametrize("form", ["pandas", "pyarrow"])
def test_ray_maps_batches(ray, fitted, predictor, expected, form):
    data = ray.data.from_pandas(fitted.tickets).repartition(4)
    found = data.map_batches(predictor, batch_format=form, batch_size=7)
    rows = sorted(found.take_all(), key=lambda row: row["id"])
    for row in rows:
        row |= {
            name: list(cell)
            for name, cell in row.items()
            if hasattr(cell, "__len__") and not isinstance(cell, str)
        }
    assert [row | {"note": row["note"] or None} for row in rows] == expected


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.parametrize("call", ["mapInPandas", "mapInArrow"])
def test_spark_maps_tables(spark, fitted, predictor, expected, call):
    tickets = fitted.tickets.astype({"plan": object}).where(fitted.tickets.notna(), None)
    data = spark.createDataFrame(
        tickets.to_dict("records"), schema="id bigint, age double, plan string"
    )
    from pyspark.sql.pandas.types import from_arrow_schema

    found = getattr(data.repartition(3), call)(
        partial(map, predictor), schema=from_arrow_schema(predictor.schema)
    )
    rows = sorted((row.asDict() for row in found.collect()), key=lambda row: row["id"])
    assert rows == expected
