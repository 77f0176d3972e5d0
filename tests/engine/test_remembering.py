"""What is made of a fit's parts is made once, and goes with them."""

import gc

import numpy as np

from labelsure.engine._fold_arrays import Memory


def test_memory_makes_once_for_the_same_objects():
    memory, calls = Memory(), []
    parts = [np.arange(3), np.arange(3)]

    def make():
        calls.append(len(calls))
        return [calls[-1]]

    first = memory.recall(parts, make)
    assert memory.recall(list(parts), make) is first
    others = [parts[::-1], parts[:1], [parts[0], parts[0]], [parts[0], None], [None, parts[0]]]
    found = [memory.recall(other, make)[0] for other in others]
    assert found == [1, 2, 3, 4, 5]
    assert memory.recall(parts, make, "more") == [6]
    assert [memory.recall(other, make)[0] for other in others] == found


def test_memory_keeps_nothing_of_no_objects():
    memory = Memory()
    assert memory.recall([None], list) is not memory.recall([None], list)


def test_memory_forgets_with_the_first_object():
    memory, part = Memory(), np.arange(3)
    memory.recall([None, part, part], list)
    assert len(memory._made) == 1
    del part
    gc.collect()
    assert not memory._made
