"""Answers stay what they were: compared with the record, see record.py for its rules."""

import pytest
from tests.golden.cells import Cell, certain, differs, near, spell
from tests.golden.others import OTHERS
from tests.golden.record import ask, comparable, differences, names, read

pytest.importorskip("pyarrow", reason="tables are read by pyarrow")
pytest.importorskip("skops", reason="models are saved by skops")

N_CHUNKS, N_CONFIGURATIONS = 40, 1014
CHUNKS = [names()[start::N_CHUNKS] for start in range(N_CHUNKS)]


def test_record_holds_all_that_it_held():
    assert len(read()["answers"]) == N_CONFIGURATIONS
    assert {*OTHERS} <= {*read()["answers"]}


@pytest.mark.parametrize("chunk", CHUNKS, ids=range(N_CHUNKS))
def test_answers_equal_those_on_record(chunk):
    lines = [line for name in chunk if comparable(name) for line in differences(name, ask(name))]
    assert not lines, "\n".join(["differ from the record:", *lines])


def test_changed_p_value_is_a_difference():
    assert differs(certain([1 / 3, 0.5]), spell(certain([1 / 3, 0.25])))
    assert differs(certain([1 / 3] * 20), spell(certain([1 / 3] * 19 + [0.3333333333333334])))
    assert not differs(certain([1 / 3] * 20), spell(certain([1 / 3] * 20)))


def test_answer_may_become_certain_and_must_not_cease_to_be():
    before, after = certain([7, 8], [True, False]), certain([7, 9])
    assert not differs(after, spell(before))
    assert differs(before, spell(after))
    assert differs(certain([6, 8], [True, False]), spell(before))


def test_floats_differ_beyond_the_twelfth_digit():
    assert not differs(near([2.0, 1e-20]), spell(near([2.0 + 1e-14, 0.0])))
    assert differs(near([2.0]), spell(near([2.0 + 1e-11])))


def test_estimates_differ_where_bounds_have_nothing_in_common():
    assert not differs(Cell("estimate", [[20.0, 30.0, 40.0]]), [[25.0, 35.0, 45.0]])
    assert differs(Cell("estimate", [[20.0, 22.0, 24.0]]), [[25.0, 35.0, 45.0]])
