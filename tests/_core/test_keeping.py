import os
import stat
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.parallel import delayed

from labelsure._core.keeping import KeptAnswers, check_memory, keys_of, run_kept

KEY = "0" * 64


def times_two(number, *, plus=0):
    with Path(os.environ["ASKED"]).open("a") as file:
        file.write(f"{number}\n")
    if number == 13:
        raise ValueError("13 is not a number")
    return 2 * number + plus


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What was computed, in whatever process."""
    path = tmp_path / "asked.txt"
    path.touch()
    monkeypatch.setenv("ASKED", str(path))
    return lambda: [int(line) for line in path.read_text().split()]


def run(numbers, memory, n_jobs=1):
    return run_kept([delayed(times_two)(i) for i in numbers], memory, n_jobs=n_jobs, description="doubling")


def test_kept_answers_are_not_computed_again(tmp_path, asked):
    assert run([1, 2, 3], tmp_path / "kept") == [2, 4, 6]
    assert run([3, 5, 1], tmp_path / "kept") == [6, 10, 2]
    assert asked() == [1, 2, 3, 5]


def test_what_is_finished_before_an_error_is_kept(tmp_path, asked):
    with pytest.raises(ValueError, match="13 is not"):
        run([1, 2, 13, 4], tmp_path / "kept")
    told = []
    assert run([1, 2, 4], KeptAnswers(tmp_path / "kept", tell=lambda *numbers: told.append(numbers))) == [2, 4, 8]
    assert asked() == [1, 2, 13, 4]
    assert told == [(2, 3)]


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:0], lambda data: b"x" + data[1:],
                                    lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]],
                         ids=["cut off", "empty", "another head", "one bit"])  # fmt: skip
def test_damaged_answers_are_computed_again(tmp_path, asked, damage):
    run([7], tmp_path / "kept")
    (path,) = (tmp_path / "kept").iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert run([7], tmp_path / "kept") == [14]
    assert asked() == [7, 7]
    assert run([7], tmp_path / "kept") == [14]
    assert asked() == [7, 7]


def test_answers_of_classes_that_are_gone_are_computed_again(tmp_path, monkeypatch):
    kept = KeptAnswers(tmp_path)
    module = type(sys)("gone_tomorrow")
    exec("class Answer: pass", vars(module))
    monkeypatch.setitem(sys.modules, "gone_tomorrow", module)
    kept.write(KEY, module.Answer())
    assert isinstance(kept.read(KEY)[0], module.Answer)
    monkeypatch.delitem(sys.modules, "gone_tomorrow")
    assert kept.read(KEY) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows does not say who may write")
def test_only_this_user_can_have_written_what_is_read(tmp_path, asked, monkeypatch):
    folder = tmp_path / "kept"
    run([7], folder)
    (path,) = folder.iterdir()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder, path)] == [0o700, 0o600]
    path.chmod(0o666)
    assert KeptAnswers(folder).read(path.name) is None
    path.chmod(0o600)
    assert KeptAnswers(folder).read(path.name) == (14,)
    link = folder / ("f" * 64)
    link.symlink_to(path)
    assert KeptAnswers(folder).read(link.name) is None
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert KeptAnswers(folder).read(path.name) is None
    with pytest.raises(ValueError, match="memory must be a folder that is yours, and that nobody else can write to"):
        run([7], folder)


@pytest.mark.skipif(os.name == "nt", reason="Windows does not say who may write")
def test_folder_that_others_can_write_to_is_refused_before_the_work(tmp_path, asked):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o770)
    with pytest.raises(ValueError, match="chmod go-w"):
        run([1], tmp_path / "open")
    assert asked() == []


class Own(LogisticRegression):
    """Its code is in this file."""


ARGUMENTS = {
    "estimator": LogisticRegression(C=2.0),
    "other parameter": LogisticRegression(C=3.0),
    "own class": Own(C=2.0),
    "array": np.arange(6.0),
    "other shape": np.arange(6.0).reshape(2, 3),
    "other type": np.arange(6),
    "other value": np.arange(6.0) + 1e-15,
    "nothing": None,
}


def test_keys_differ_wherever_an_argument_does():
    jobs = [delayed(times_two)(value) for value in ARGUMENTS.values()]
    jobs += [delayed(times_two)(1), delayed(times_two)(1, plus=1), delayed(times_two)(1, plus=2), delayed(run)(1)]
    keys = keys_of(jobs)
    assert len(set(keys)) == len(jobs)
    assert keys_of(jobs) == keys
    assert keys_of([delayed(times_two)(LogisticRegression(C=2.0))]) == keys[:1]


@pytest.mark.parametrize("version", [None, "1.0"])
def test_keys_follow_the_code_of_ones_own_classes(monkeypatch, tmp_path, version):
    """Also where the package has a version, which nobody changes with every line."""
    (job,) = [delayed(times_two)(Own())]
    monkeypatch.setattr(sys.modules[__name__], "__version__", version, raising=False)
    before = keys_of([job])
    assert keys_of([job]) == before
    changed = tmp_path / "changed.py"
    changed.write_bytes(Path(__file__).read_bytes() + b"\n# another line\n")
    monkeypatch.setattr(sys.modules[__name__], "__file__", str(changed))
    assert keys_of([job]) != before


def test_code_that_cannot_be_told_apart_is_refused(monkeypatch):
    with pytest.raises(ValueError, match=r"FunctionTransformer holds something that cannot be pickled .*into a module"):
        keys_of([delayed(times_two)(FunctionTransformer(lambda values: values))])
    monkeypatch.delattr(sys.modules[__name__], "__file__")
    with pytest.raises(ValueError, match=r"whether the code of Own\(\) has changed, because it is in no file"):
        keys_of([delayed(times_two)(Own())])


def test_answers_that_cannot_be_pickled_are_refused_in_plain_words(tmp_path):
    with pytest.raises(ValueError, match=r"keeps what is fitted, and that cannot be pickled here .* at None"):
        KeptAnswers(tmp_path).write(KEY, lambda: None)
    assert list(tmp_path.iterdir()) == []


def test_memory_is_a_folder_in_any_form(tmp_path):
    assert check_memory(None) is None
    assert check_memory(joblib.Memory(None)) is None
    assert check_memory(str(tmp_path)).folder == check_memory(tmp_path).folder == tmp_path
    assert check_memory(joblib.Memory(tmp_path, verbose=0)).folder.is_relative_to(tmp_path)
    for wrong in (3, "", True):
        with pytest.raises(ValueError, match="memory must be the name of a folder"):
            check_memory(wrong)


def test_folder_that_cannot_be_written_is_named(tmp_path, asked):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OSError, match="file"):
        run([1], tmp_path / "file")
    assert asked() == []
