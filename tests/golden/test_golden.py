"""Answers stay what they were: compared with the record, see record.py for its rules."""

import pytest
from tests.golden.record import NAMES, comparable, differences, read

pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
pytest.importorskip("skops", reason="models are saved by skops")

N_CHUNKS = 40
CHUNKS = [NAMES[start::N_CHUNKS] for start in range(N_CHUNKS)]


@pytest.fixture(scope="module")
def record():
    return read()


def test_record_holds_every_configuration_and_no_other(record):
    assert set(record["answers"]) == set(NAMES)
    assert len(NAMES) >= 600


@pytest.mark.parametrize("names", CHUNKS, ids=range(N_CHUNKS))
def test_answers_equal_those_on_record(names, record):
    lines = [line for name in names if comparable(name, record) for line in differences(name, record)]
    assert not lines, "\n".join(["differ from the record:", *lines])
