import os
from argparse import ArgumentTypeError

import pytest

from labelsure.cli._arguments import (
    GUARANTEES,
    INDUCTIVE,
    LEARNERS,
    confidence_level,
    guarantee_name,
    jobs,
    learner_name,
    output_file,
    significance_of,
)
from labelsure.conformal import GUARANTEES as MERGED_BY


@pytest.mark.parametrize(
    ("text", "number"), [("-1", -1), ("-2", -2), ("1", 1), ("99999", os.cpu_count())]
)
def test_jobs_reads_numbers_as_joblib_does_up_to_all_cores(text, number):
    assert jobs(text) == number


@pytest.mark.parametrize(
    ("text", "level", "significance"),
    [
        ("80", "80", 0.2),
        ("95%", "95", 0.05),
        ("99.90", "99.9", 0.001),
        ("1e1", "10", 0.9),
        ("90.0", "90", 0.1),
    ],
)
def test_confidence_level_has_one_spelling_and_an_exact_significance(text, level, significance):
    assert confidence_level(text) == level
    assert significance_of(level) == significance


@pytest.mark.parametrize(
    ("read", "names"), [(learner_name, LEARNERS), (guarantee_name, GUARANTEES)]
)
def test_names_are_known_or_all_of_them_listed(read, names):
    assert [read(name) for name in names] == list(names)
    with pytest.raises(ArgumentTypeError) as error:
        read("no-such-thing")
    assert all(name in str(error.value) for name in [*names, "no-such-thing"])


def test_guarantees_are_those_of_the_predictors():
    assert set(GUARANTEES) == {*MERGED_BY, INDUCTIVE}


@pytest.mark.parametrize("text", ["0", "all"])
def test_jobs_refuses_the_rest(text):
    with pytest.raises(ArgumentTypeError, match="expected"):
        jobs(text)


def test_output_file_asks_whether_the_folder_may_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ArgumentTypeError, match="may not be written"):
        output_file(str(tmp_path / "out.json"))
