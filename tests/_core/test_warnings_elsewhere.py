"""Warnings of several threads at once, each collected by itself, and nothing left behind."""

import threading
import warnings

import pytest

from labelsure._core.warnings_elsewhere import recorded_warnings

PATIENCE = 30
ALWAYS = [("always", None, Warning, None, 0)]


@pytest.fixture(autouse=True)
def nothing_left_behind():
    with warnings.catch_warnings():
        before = list(warnings.filters), warnings.showwarning
        yield
        assert (list(warnings.filters), warnings.showwarning) == before


def texts(caught):
    return [str(warning.message) for warning in caught]


def test_threads_that_overlap_collect_their_own():
    entered, leave = threading.Event(), threading.Event()
    of_other = []

    def stay():
        with recorded_warnings(ALWAYS) as caught:
            warnings.warn("other, first", stacklevel=1)
            entered.set()
            leave.wait(PATIENCE)
            warnings.warn("other, last", stacklevel=1)
        of_other.extend(texts(caught))

    other = threading.Thread(target=stay)
    with recorded_warnings(ALWAYS) as caught:
        other.start()
        assert entered.wait(PATIENCE)
        warnings.warn("ours", stacklevel=1)
    leave.set()
    other.join(PATIENCE)
    assert texts(caught) == ["ours"]
    assert of_other == ["other, first", "other, last"]


def test_filters_of_the_one_who_asked_hold():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="Label .* is rare")
        warnings.filterwarnings("error", category=RuntimeWarning)
        filters = list(warnings.filters)
    with recorded_warnings(filters) as caught:
        warnings.warn("label 3 is rare", stacklevel=1)
        warnings.warn("Label 3 is frequent", stacklevel=1)
        with pytest.raises(RuntimeWarning):
            warnings.warn("division", RuntimeWarning, stacklevel=1)
    assert texts(caught) == ["Label 3 is frequent"]


def test_what_threads_outside_warn_of_goes_its_own_way():
    with pytest.warns(UserWarning, match="outside"), recorded_warnings(ALWAYS) as caught:
        outside = threading.Thread(target=warnings.warn, args=("outside",))
        outside.start()
        outside.join(PATIENCE)
    assert caught == []
