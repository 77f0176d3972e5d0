import os
import sys
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from labelsure.cli._arguments import (
    GUARANTEES,
    INDUCTIVE,
    LEARNERS,
    confidence_level,
    count,
    guarantee_name,
    jobs,
    learner_name,
    measure_name,
    output_file,
    significance_of,
)
from labelsure.conformal import GUARANTEES as MERGED_BY


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("25", 25)])
def test_count_reads_numbers_from_1(text, number):
    assert count(text) == number


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "ten"])
def test_count_refuses_the_rest(text):
    with pytest.raises(ArgumentTypeError, match="expected"):
        count(text)


@pytest.mark.parametrize(("text", "number"), [("-1", -1), ("-2", -2), ("1", 1), ("99999", os.cpu_count())])
def test_jobs_reads_numbers_as_joblib_does_up_to_all_cores(text, number):
    assert jobs(text) == number


@pytest.mark.parametrize("text", ["0", "all"])
def test_jobs_refuses_the_rest(text):
    with pytest.raises(ArgumentTypeError, match="expected"):
        jobs(text)


def test_output_file_may_be_new_or_old(tmp_path):
    new, old = tmp_path / "new.json", tmp_path / "old.json"
    old.write_text("{}")
    assert [output_file(str(path)) for path in (new, old)] == [new.resolve(), old.resolve()]
    assert not new.exists()


def test_output_file_without_a_folder_is_in_the_current_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert output_file("out.json") == Path.cwd() / "out.json"


def test_output_file_refuses_a_folder_a_device_and_a_missing_folder(tmp_path):
    with pytest.raises(ArgumentTypeError, match="expected a file"):
        output_file(str(tmp_path))
    with pytest.raises(ArgumentTypeError, match="there is no folder"):
        output_file(str(tmp_path / "missing" / "out.json"))
    with pytest.raises(ArgumentTypeError, match="expected a file"):
        output_file(os.devnull)


@pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="root may write anywhere, and Windows folders have no such mode",
)
def test_output_file_refuses_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ArgumentTypeError, match="may not be written"):
            output_file(str(tmp_path / "out.json"))
    finally:
        tmp_path.chmod(0o700)


def test_output_file_asks_whether_the_folder_may_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ArgumentTypeError, match="may not be written"):
        output_file(str(tmp_path / "out.json"))


@pytest.mark.parametrize(
    ("text", "level", "significance"),
    [("80", "80", 0.2), ("95%", "95", 0.05), ("99.90", "99.9", 0.001), ("1e1", "10", 0.9), ("90.0", "90", 0.1)],
)
def test_confidence_level_has_one_spelling_and_an_exact_significance(text, level, significance):
    assert confidence_level(text) == level
    assert significance_of(level) == significance


@pytest.mark.parametrize("text", ["0", "100", "-5", "", "high", "nan", "inf"])
def test_confidence_level_refuses_the_rest(text):
    with pytest.raises(ArgumentTypeError, match="percent between 0 and 100"):
        confidence_level(text)


def test_confidence_level_given_as_a_share_is_explained():
    with pytest.raises(ArgumentTypeError, match=r"write 95 for 0\.95"):
        confidence_level("0.95")


@pytest.mark.parametrize(("read", "names"), [(learner_name, LEARNERS), (guarantee_name, GUARANTEES)])
def test_names_are_known_or_all_of_them_listed(read, names):
    assert [read(name) for name in names] == list(names)
    with pytest.raises(ArgumentTypeError) as error:
        read("no-such-thing")
    assert all(name in str(error.value) for name in [*names, "no-such-thing"])


def test_near_names_are_suggested():
    with pytest.raises(ArgumentTypeError, match="did you mean 'ml-knn'"):
        learner_name("mlknn")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("powers", "The measures are power, .*, got 'powers'; did you mean 'power'"),
        ("power+unseen:-1", "A number of at least 0 must follow unseen:"),
        ("power:0", "d must be a finite number above 0, got 0.0"),
        ("log-loss:0.5", "floor must lie below one half, got 0.5"),
        ("signed+prior", "can only be added to penalties"),
    ],
)
def test_wrong_measures_are_explained_before_anything_is_fitted(text, message):
    with pytest.raises(ArgumentTypeError, match=message):
        measure_name(text)


def test_measures_have_one_spelling():
    assert measure_name("power:2.0 + pairs:0.50") == "power:2+pairs:0.5"


def test_guarantees_are_those_of_the_predictors():
    assert set(GUARANTEES) == {*MERGED_BY, INDUCTIVE}
