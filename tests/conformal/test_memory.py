"""``memory``: what is finished is found again where it is whole, of today, and nobody else's."""

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

from labelsure.conformal import _memory
from labelsure.conformal._memory import KeptResults, run_kept


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


def run(numbers, folder, n_jobs=1):
    return run_kept(
        [delayed(times_two)(i) for i in numbers], folder, n_jobs=n_jobs, description="doubling"
    )


def files_in(folder):
    return sorted(folder.rglob("output.pkl"))


def test_what_is_finished_before_an_error_is_kept(tmp_path, asked):
    with pytest.raises(ValueError, match="13 is not"):
        run([1, 2, 13, 4], tmp_path / "kept")
    told = []
    assert run(
        [1, 2, 4], KeptResults(tmp_path / "kept", tell=lambda *numbers: told.append(numbers))
    ) == [2, 4, 8]
    assert asked() == [1, 2, 13, 4]
    assert told == [(2, 3)]


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:0],
                                    lambda data: b"x" + data[1:],
                                    lambda data: data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]],
                         ids=["cut off", "empty", "another head", "one bit"])  # fmt: skip
def test_damaged_answers_are_computed_again(tmp_path, asked, damage, capfd):
    run([7], tmp_path / "kept")
    (path,) = files_in(tmp_path / "kept")
    path.write_bytes(damage(path.read_bytes()))
    assert run([7], tmp_path / "kept") == [14]
    assert asked() == [7, 7]
    assert capfd.readouterr() == ("", "")  # joblib would print a traceback
    assert run([7], tmp_path / "kept") == [14]
    assert asked() == [7, 7]


def to_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


OTHERS = {"may write": lambda path: path.chmod(0o666), "made a link": to_link}


@pytest.mark.skipif(os.name == "nt", reason="Windows does not say who may write")
@pytest.mark.parametrize("umask", [0o022, 0o002, 0o000])
@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_only_this_user_can_have_written_what_is_read(tmp_path, asked, change, umask):
    folder, before = tmp_path / "kept", os.umask(umask)
    try:
        run([7], folder)
    finally:
        os.umask(before)
    (path,) = files_in(folder)
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder, path)] == [0o700, 0o600]
    change(path)
    assert run([7], folder) == [14]
    assert asked() == [7, 7]
    assert run([7], folder) == [14]
    assert asked() == [7, 7]  # and what was made anew is read


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners of POSIX")
def test_folder_and_files_of_another_user_are_not_read(tmp_path, asked, monkeypatch):
    run([7], tmp_path / "kept")
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(
        ValueError, match="must be a folder that is yours, and that nobody else can write to"
    ):
        run([7], tmp_path / "kept")
    # as if swapped after it was checked
    monkeypatch.setattr(_memory, "make_private", lambda _: None)
    assert KeptResults(tmp_path / "kept").count() == 1
    with pytest.raises(OSError, match="could have been written by another user"):
        run([7], tmp_path / "kept")
    assert asked() == [7, 7]


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_is_an_error_and_what_was_kept_before_is_found(tmp_path, asked):
    """File sizes are limited: writing fails as on a full disk. joblib would only warn."""
    import resource

    run([1], tmp_path / "kept")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: .*kept"):
            run([2, 3], tmp_path / "kept")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert run([1, 2], tmp_path / "kept") == [2, 4]
    assert asked() == [1, 2, 2]


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


def name_of(value, *, plus=0):
    return f"{value} {plus}"


def n_kept(jobs, folder):
    """Return how many answers a folder holds after jobs have run."""
    run_kept(jobs, folder, n_jobs=1, description="naming")
    return len(files_in(folder))


def test_answers_are_told_apart_wherever_an_argument_differs(tmp_path):
    jobs = [delayed(name_of)(value) for value in ARGUMENTS.values()]
    jobs += [
        delayed(name_of)(1),
        delayed(name_of)(1, plus=1),
        delayed(name_of)(1, plus=2),
        delayed(str)(1),
    ]
    for _ in range(2):
        assert n_kept(jobs, tmp_path) == len(jobs)
    assert n_kept([delayed(name_of)(LogisticRegression(C=2.0))], tmp_path) == len(jobs)


@pytest.mark.parametrize("of_package", [None, "1.0"])
def test_answers_follow_the_code_of_ones_own_classes(monkeypatch, tmp_path, of_package):
    """Also where the package has a version, which nobody changes with every line."""
    jobs = [delayed(name_of)(Own())]
    monkeypatch.setattr(sys.modules[__name__], "__version__", of_package, raising=False)
    assert [n_kept(jobs, tmp_path), n_kept(jobs, tmp_path)] == [1, 1]
    changed = tmp_path / "changed.py"
    changed.write_bytes(Path(__file__).read_bytes() + b"\n# another line\n")
    monkeypatch.setattr(sys.modules[__name__], "__file__", str(changed))
    assert n_kept(jobs, tmp_path) == 2


def test_code_that_cannot_be_told_apart_is_refused(monkeypatch, tmp_path):
    with pytest.raises(
        ValueError,
        match=r"FunctionTransformer holds something that cannot be pickled .*into a module",
    ):
        n_kept([delayed(name_of)(FunctionTransformer(lambda values: values))], tmp_path)
    monkeypatch.delattr(sys.modules[__name__], "__file__")
    with pytest.raises(
        ValueError, match=r"whether the code of Own\(\) has changed, because it is in no file"
    ):
        n_kept([delayed(name_of)(Own())], tmp_path)


def make_function():
    return lambda: None


def test_answers_that_cannot_be_pickled_are_refused_in_plain_words(tmp_path):
    with pytest.raises(
        ValueError, match=r"and function holds something that cannot be pickled .* at None"
    ):
        run_kept([delayed(make_function)()], tmp_path, n_jobs=1, description="making functions")
    assert not files_in(tmp_path)


def test_memory_is_a_folder_in_any_form(tmp_path, asked):
    for none in (None, joblib.Memory(None)):
        assert run([1], none) == [2]
    for number, folder in enumerate(
        (tmp_path / "a", str(tmp_path / "b"), joblib.Memory(tmp_path / "c", verbose=0))
    ):
        assert run([1], folder) == run([1], folder) == [2]
        assert len(asked()) == 3 + number
    for wrong in (3, "", True):
        with pytest.raises(ValueError, match="memory must be the name of a folder"):
            run([1], wrong)
