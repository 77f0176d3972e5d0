"""Warnings of jobs: collected, counted, given once for each category, and never lost."""

import threading
import warnings

import pytest
from joblib import parallel_config
from sklearn.exceptions import ConvergenceWarning, InconsistentVersionWarning
from sklearn.utils.parallel import delayed

from labelsure._parallel import collect_warnings, run_jobs


def warn_about(number):
    warnings.warn(f"Label {number} is rare", stacklevel=2)
    if number % 2:
        warnings.warn("no convergence", ConvergenceWarning, stacklevel=2)
    return number


def fail_after_a_warning(number):
    warnings.warn(f"Label {number} is rare", stacklevel=2)
    raise ZeroDivisionError


def run(function=warn_about, numbers=range(4), **options):
    jobs = [delayed(function)(number) for number in numbers]
    return run_jobs(jobs, description="fitting folds", total=len(jobs), **{"n_jobs": 1, **options})


def texts_of(given):
    return {warning.category: str(warning.message) for warning in given}


EXPECTED = {
    UserWarning: "4 warnings while fitting folds, 4 different ones; the first: Label 0 is rare",
    ConvergenceWarning: "2 warnings while fitting folds, all the same: no convergence",
}


@pytest.mark.parametrize(
    "options",
    [{"n_jobs": 1}, {"n_jobs": 2}, {"n_jobs": 1, "require": "sharedmem"}],
    ids=["one", "processes", "shared"],
)
def test_warnings_of_jobs_are_given_once_for_each_category(options):
    with warnings.catch_warnings(record=True) as given:
        assert run(**options) == [0, 1, 2, 3]
    assert len(given) == 2
    assert texts_of(given) == EXPECTED


@pytest.mark.parametrize("told", ["require", "backend"])
def test_warnings_of_threads_are_all_counted(told):
    """Threads come in any order, so any text may be the first."""
    with warnings.catch_warnings(record=True) as given:
        if told == "require":
            run(numbers=range(0, 40, 2), n_jobs=2, require="sharedmem")
        else:
            with parallel_config(backend="threading"):
                run(numbers=range(0, 40, 2), n_jobs=2)
    assert [str(warning.message).partition(";")[0] for warning in given] == [
        "20 warnings while fitting folds, 20 different ones"
    ]


def test_warnings_are_given_where_the_caller_is():
    with warnings.catch_warnings(record=True) as given:
        run()
    assert {warning.filename for warning in given} == {__file__}


def test_single_warnings_keep_their_text():
    with warnings.catch_warnings(record=True) as given:
        run(numbers=[2])
    assert texts_of(given) == {UserWarning: "Label 2 is rare"}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_that_are_ignored_stay_so(n_jobs):
    with warnings.catch_warnings(record=True) as given:
        warnings.filterwarnings("ignore", message="Label .* is rare")
        run(n_jobs=n_jobs)
    assert texts_of(given) == {ConvergenceWarning: EXPECTED[ConvergenceWarning]}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_that_are_errors_stay_so(n_jobs):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with (
            pytest.raises(ConvergenceWarning, match=r"^no convergence$"),
            warnings.catch_warnings(record=True),
        ):
            run(n_jobs=n_jobs)


def test_errors_stay_errors_and_warnings_before_them_are_given():
    with warnings.catch_warnings(record=True) as given, pytest.raises(ZeroDivisionError):
        run(fail_after_a_warning)
    assert texts_of(given) == {UserWarning: "Label 0 is rare"}


def test_nothing_is_held_back_afterwards():
    before = warnings.showwarning, list(warnings.filters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run()
    assert (warnings.showwarning, list(warnings.filters)) == before
    with pytest.warns(UserWarning, match="still heard"):
        warnings.warn("still heard", stacklevel=1)


def test_categories_that_take_more_than_a_text_are_given_all_the_same():
    one = InconsistentVersionWarning(
        estimator_name="Tree", current_sklearn_version="1.9", original_sklearn_version="1.2"
    )
    with warnings.catch_warnings(record=True) as given, collect_warnings("loading"):
        for _ in range(2):
            warnings.warn(one, stacklevel=1)
    (text,) = texts_of(given).values()
    assert text.startswith(
        "InconsistentVersionWarning: 2 warnings while loading, all the same: Trying to unpickle"
    )


def test_other_threads_warn_as_they_go():
    """Their hooks would get into the way of those of other threads."""
    hooks = []

    def work():
        with collect_warnings("fitting"):
            hooks.append(warnings.showwarning)

    before = warnings.showwarning
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert hooks == [before]
