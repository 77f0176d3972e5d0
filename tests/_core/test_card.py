"""Whole numbers on a card are used as arrays of numpy are, and copied only when they are looked at."""

import pickle

import numpy as np
import pytest

from far_arrays import FarArray
from host_device import HostDevice
from labelsure._core.card import CardArray, CardOutputs

NUMBERS = np.arange(12).reshape(4, 3)


@pytest.fixture
def card():
    return HostDevice()


@pytest.fixture
def numbers(card):
    return CardArray(card, FarArray(NUMBERS))


def test_card_array_takes_rows_and_adds_numbers_without_a_copy(card, numbers):
    chosen = np.array([2, 0])
    parts = [numbers[chosen], numbers[1:3], numbers + 5, 5 - numbers, np.maximum(numbers, 4)]
    assert numbers.shape == (4, 3)
    assert len(numbers) == 4
    assert card.copied == []
    expected = [NUMBERS[chosen], NUMBERS[1:3], NUMBERS + 5, 5 - NUMBERS, np.maximum(NUMBERS, 4)]
    for part, values in zip(parts, expected, strict=True):
        assert isinstance(part, CardArray)
        assert np.array_equal(part, values)


def test_card_array_is_copied_once_when_it_is_looked_at(card, numbers):
    assert np.array_equal(numbers + NUMBERS, 2 * NUMBERS)
    assert np.array_equal(np.stack([numbers, NUMBERS]), np.stack([NUMBERS, NUMBERS]))
    assert np.array_equal(numbers + CardArray(card, FarArray(NUMBERS)), 2 * NUMBERS)
    assert np.array_equal(numbers.sum(axis=1), NUMBERS.sum(axis=1))
    assert numbers.any()
    assert len(card.copied) == 2


def test_card_array_of_an_array_is_not_what_it_remembers(numbers):
    np.array(numbers)[:] = 0
    np.asarray(numbers)[:] = 0
    with pytest.raises(ValueError, match="read-only"):
        numbers.sort()
    assert np.array_equal(numbers, NUMBERS)


def test_card_array_is_asked_for_entries_one_by_one_as_any_array(numbers):
    assert [row.tolist() for row in numbers] == NUMBERS.tolist()
    assert numbers[1, 2] == 5
    assert numbers[:, 0].tolist() == [0, 3, 6, 9]
    assert not (numbers[:1] == 7).any()
    with pytest.raises(ValueError, match="ambiguous"):
        bool(numbers == 7)


def test_card_array_is_not_changed_in_place(numbers):
    with pytest.raises(TypeError):
        numbers += 1


def test_card_array_sums_where_labels_are_on_on_the_card(card, numbers):
    on = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])
    assert numbers.sum_where(on).tolist() == [2, 0, 21, 10]
    assert [one.shape for one in card.copied] == [(4,)]


def test_card_array_and_outputs_are_pickled_as_arrays_in_memory(card, numbers):
    for there, values in ((numbers, NUMBERS), (CardOutputs(card, FarArray(NUMBERS / 12)), NUMBERS / 12)):
        copied = pickle.loads(pickle.dumps(there))
        assert type(copied) is np.ndarray
        assert np.array_equal(copied, values)
