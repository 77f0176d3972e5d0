"""The command line with any words: exit code 0, or one line that says what is wrong."""

import contextlib
import io

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from test_fuzz_interface import LONG

from labelsure.cli import main

FEW = settings(
    derandomize=True,
    max_examples=80,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
MANY = settings(FEW, max_examples=max(LONG // 10, 1), derandomize=False)
COMMANDS = ("fit", "predict", "evaluate", "report", "explain", "datasets")
OPTIONS = (
    "--labels", "--learner", "--folds", "--model", "--confidence", "--guarantee", "--measure",
    "--random-state", "-o", "--keep", "--top", "--text", "--drop", "--categorical", "--separator",
    "--jobs", "--part", "--objects", "--groups", "--title", "--help", "--nothing", "-x",
    "--version", "--seed",
)  # fmt: skip
WORDS = (
    "", "0", "1", "-1", "95", "1e300", "nan", "inf", "-0", "99999999999999999999999999", "a" * 3000,
    "\u00e9\u202e", "nowhere.csv", "nowhere.labelsure", "table.csv", "empty.csv", "broken.csv",
    "broken.labelsure", "folder", "*", "l*", "l0,l1", ",", "a,,b", "logistic", "ml-knn", "nothing",
    "power:2+pairs", "power:", "+", "cross", "exact", "yeast", "../..", "/dev/null", "--", "-", "%",
    "l0",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files that commands may be given; most of them cannot be read."""
    here = tmp_path_factory.mktemp("words")
    rows = "\n".join(f"{i % 5},{i % 3},{i % 2},{(i + 1) % 2}" for i in range(24))
    (here / "table.csv").write_text(f"a,b,l0,l1\n{rows}\n")
    (here / "empty.csv").write_text("")
    (here / "broken.csv").write_bytes(b"a,b\n1\n\xff\xfe,\0,3,4\n")
    (here / "broken.labelsure").write_bytes(b"PK\3\4 not a model")
    (here / "folder").mkdir()
    return here


def check(folder, words):
    before = {path: path.stat().st_size for path in folder.iterdir() if path.suffix == ".csv"}
    printed, said = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(said),
    ):
        try:
            code = main(words)
        except SystemExit as stopped:
            code = stopped.code
    text = said.getvalue()
    assert code in (0, 1, 2), code
    if code:
        errors = [line for line in text.splitlines() if "error: " in line]
        assert len(errors) == 1, text
        assert len(errors[0].split()) > 4
    assert "Traceback" not in text
    assert before == {path: path.stat().st_size for path in folder.iterdir() if path in before}, (
        "data were changed"
    )


words = st.builds(
    lambda command, first, pairs: [command, *first, *(word for pair in pairs for word in pair)],
    st.sampled_from(COMMANDS),
    st.lists(st.sampled_from(WORDS), max_size=2),
    st.lists(st.tuples(st.sampled_from(OPTIONS), st.sampled_from(WORDS)), max_size=3),
)


@FEW
@given(words=words)
def test_any_words_are_understood_or_refused_in_one_line(folder, words):
    check(folder, words)


@pytest.mark.validity
@MANY
@given(words=words)
def test_many_words_are_understood_or_refused_in_one_line(folder, words):
    check(folder, words)
