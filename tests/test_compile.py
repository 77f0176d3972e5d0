"""Compiled code on disk: it is that of today's sources, and a damaged cache costs no answer."""

import importlib.util
import os
import pickle
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from labelsure import _compile
from labelsure._compile import kernel
from labelsure._files import seal

numba = pytest.importorskip("numba")
serialize = pytest.importorskip("numba.core.serialize")

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)

SOURCE = "def twice(number):\n    return number + number\n"


class Place:
    """A module with one kernel, and the folder that the user names for its machine code."""

    def __init__(self, folder):
        self.source, self.named = folder / "toy.py", folder / "named"
        self.beside = folder / "__pycache__"
        self.source.write_text(SOURCE)

    def kernel(self):
        """Return the kernel as a new process would have it: not compiled yet."""
        spec = importlib.util.spec_from_file_location("toy", self.source)
        module = importlib.util.module_from_spec(spec)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            spec.loader.exec_module(module)
        finally:
            sys.dont_write_bytecode = before
        sys.modules["toy"] = module
        return kernel(module.twice)

    @property
    def file(self):
        (file,) = self.named.rglob("*.nbc")
        return file


@pytest.fixture
def place(tmp_path, monkeypatch):
    place = Place(tmp_path)
    monkeypatch.setattr(_compile, "user_cache_path", lambda _: tmp_path / "users")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(place.named))
    monkeypatch.setitem(sys.modules, "toy", None)  # removed afterwards
    return place


def is_found(twice):
    assert twice(21) == 42
    return bool(twice.stats.cache_hits)


def test_what_one_process_compiles_the_next_one_finds(place):
    assert not is_found(place.kernel())
    assert is_found(place.kernel())
    assert str(place.file.parent) in _compile.FOLDERS


def sealed(content):
    return seal(content) + content


def flip_a_bit(content):
    """Somewhere in the machine code: pickle would not notice."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE = {
    "empty": lambda _: b"",
    "half": lambda content: content[: len(content) // 2],
    "one bit": flip_a_bit,
    "longer": lambda content: content + b"\0",
    "class that is gone": lambda _: sealed(b"cno_such_module\nNothing\n."),
    "for something else": lambda _: sealed(serialize.dumps((("stamp",), "signature", None))),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_code_is_compiled_again_and_replaced(place, damage):
    is_found(place.kernel())
    place.file.write_bytes(damage(place.file.read_bytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_found(place.kernel())
        assert is_found(place.kernel())


def test_code_for_another_signature_under_this_name_is_not_run(place):
    """Two processes that share numba's own cache can leave it so."""
    is_found(place.kernel())
    integers = place.file
    content = integers.read_bytes()
    place.kernel()(1.5)
    (floats,) = set(place.named.rglob("*.nbc")) - {integers}
    floats.write_bytes(content)
    assert place.kernel()(1.5) == 3.0


def test_code_of_another_version_is_not_run(place, monkeypatch):
    is_found(place.kernel())
    with monkeypatch.context() as patch:
        patch.setattr(numba, "__version__", "another numba")
        assert not is_found(place.kernel())
    assert is_found(place.kernel())
    place.source.write_text(SOURCE.replace("number + number", "2 * number"))
    assert not is_found(place.kernel())
    assert is_found(place.kernel())


def test_code_for_another_processor_is_not_run(place, monkeypatch):
    is_found(place.kernel())
    codegen = type(place.kernel().targetctx.codegen())
    monkeypatch.setattr(codegen, "magic_tuple", lambda _: ("x86_64", "another", "+avx9"))
    assert not is_found(place.kernel())
    assert is_found(place.kernel())


@pytest.mark.parametrize(
    "obstacle", ["a file instead of the folder", "a folder instead of the file"]
)
def test_the_next_folder_is_taken_where_the_named_one_cannot_be(place, obstacle):
    if obstacle == "a file instead of the folder":
        place.named.touch()
    else:
        is_found(place.kernel())
        file = place.file
        file.unlink()
        (file / "inside").mkdir(parents=True)
    assert not is_found(place.kernel())
    assert is_found(place.kernel())
    assert len(list(place.beside.iterdir())) == 1  # and nothing unfinished


CHILD = """
import os, resource, sys, warnings
from pathlib import Path
import numba
from labelsure import _compile
from labelsure._compile import kernel
import toy

numba.njit(toy.once)(1)  # whatever compiling imports is imported now
_compile.user_cache_path = lambda _: Path(sys.argv[1])
compiled = [kernel(toy.twice), kernel(toy.thrice)]
if sys.argv[2] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
elif sys.argv[2] == "unprivileged" and os.getuid() == 0:  # root may write everything
    os.setgid(65534)
    os.setuid(65534)
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    results = compiled[0](21), compiled[1](14)
    print(*results, *(sum(one.stats.cache_hits.values()) for one in compiled))
print(*(str(one.message) for one in given), sep="\\n")
"""


@pytest.fixture
def folder():
    """A folder into which every user may look, which pytest's own are not."""
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def child(folder):
    """Return a function that starts a process with a toy module, with all folders in ``folder``."""
    three = (
        SOURCE
        + "def thrice(number):\n    return 3 * number\n"
        + "def once(number):\n    return number\n"
    )
    (folder / "toy.py").write_text(three)
    places = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": "1"}
    environment["NUMBA_CACHE_DIR"] = str(folder / "named")

    def start(what, umask=-1):
        command = [sys.executable, "-c", CHILD, str(folder / "users"), what]
        return subprocess.Popen(
            command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True, umask=umask
        )

    return start


def said(process):
    """Return the numbers that a child printed, and the warnings it gave."""
    numbers, *warned = process.communicate(timeout=300)[0].splitlines()
    assert process.returncode == 0
    return [int(number) for number in numbers.split()], [line for line in warned if line]


needs_posix = pytest.mark.skipif(os.name != "posix", reason="permission bits and limits of POSIX")


@needs_posix
def test_a_full_disk_costs_one_warning_and_no_answer(child, folder):
    numbers, (warning,) = said(child("full"))
    assert numbers == [42, 42, 0, 0]
    assert "File too large" in warning
    assert "Set the environment variable NUMBA_CACHE_DIR" in warning
    assert [file for file in folder.rglob("*") if ".nbc" in file.name] == []


@needs_posix
def test_read_only_folders_cost_one_warning_and_what_they_hold_is_found(child, folder):
    folders = [folder / "__pycache__", folder / "users", folder / "named"]
    for one in folders:
        one.mkdir(mode=0o555)
    numbers, (warning,) = said(child("unprivileged"))
    assert numbers == [42, 42, 0, 0]
    assert "Permission denied" in warning
    folders[-1].chmod(0o755)
    for process in [child("as I am"), child("as I am")]:  # both compile and write at once
        numbers, warned = said(process)
        assert numbers[:2] == [42, 42]
        assert not warned
    folders[-1].chmod(0o555)
    assert said(child("unprivileged")) == ([42, 42, 1, 1], [])
    assert not any(".part" in file.name for file in folder.rglob("*"))


def kept_in(folder):
    """Return the files in the folder that the user named for compiled code."""
    return [path for path in (folder / "named").rglob("*") if path.is_file()]


@needs_posix
def test_only_the_owner_may_write_code_and_what_others_could_write_is_not_run(child, folder):
    assert said(child("as I am", umask=0o000))[0] == [42, 42, 0, 0]
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept_in(folder)} == {0o644}
    assert said(child("as I am"))[0] == [42, 42, 1, 1]
    for path in kept_in(folder):
        path.chmod(0o664)
    assert said(child("as I am")) == ([42, 42, 0, 0], [])
    assert said(child("as I am"))[0] == [42, 42, 1, 1]  # made anew


@needs_posix
def test_links_to_code_are_not_followed(child, folder):
    said(child("as I am"))
    for path in kept_in(folder):
        path.replace(folder / path.name)
        path.symlink_to(folder / path.name)
    assert said(child("as I am")) == ([42, 42, 0, 0], [])


ATTACK = """
import os, sys
from pathlib import Path

os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(65533)
content = bytes.fromhex(sys.argv[2])
for path in map(Path, sys.argv[3:]):
    if not os.access(path, os.W_OK):
        path.unlink()
    path.write_bytes(content)
    print(oct(path.stat().st_mode), path.stat().st_uid)
"""


class Payload:
    """Makes a folder where it is unpickled."""

    def __init__(self, planted):
        self.planted = planted

    def __reduce__(self):
        return os.mkdir, (str(self.planted),)


@needs_posix
@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="becoming another user takes root"
)
def test_code_of_another_user_is_not_run(child, folder):
    """Another user of the group, or any user, writes into files or replaces them."""
    said(child("as I am", umask=0o000))
    planted = folder / "planted"
    content = sealed(pickle.dumps((1, Payload(planted)))).hex()
    attack = [sys.executable, "-c", ATTACK, str(os.getgid()), content, *map(str, kept_in(folder))]
    done = subprocess.run(attack, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == len(kept_in(folder)) > 0
    numbers, _ = said(child("as I am", umask=0o000))
    assert not planted.exists()
    assert numbers == [42, 42, 0, 0]


CALLED = """
from labelsure._compile import kernel

@kernel
def called(number):
    return number + {added}
"""
CALLING = """
from labelsure._compile import kernel
from toy._called_kernels import called

@kernel
def calling(number):
    return 10 * called(number)
"""
TYPES = """
from typing import NamedTuple

class {name}(NamedTuple):
    {first}: int
    {second}: int

Two = {name}
"""
TAKING = """
from labelsure._compile import kernel
from toy._called_kernels import called

@kernel
def taking(two):
    return 10 * two.a + two.b + 0 * called(1)
"""
ASK = """
from toy._calling_kernels import calling
from toy._taking_kernels import taking
from toy._types import Two
hits = lambda function: sum(function.stats.cache_hits.values())
print(calling(1), hits(calling), taking(Two(1, 2)), hits(taking))
"""


@pytest.fixture
def ask(tmp_path):
    """Return a function that runs the toy package in a process: (result, cached kernels)."""
    package = tmp_path / "toy"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "_calling_kernels.py").write_text(CALLING)
    (package / "_taking_kernels.py").write_text(TAKING)
    places = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": places, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    environment["PYTHONDONTWRITEBYTECODE"] = (
        "1"  # files of one size that change within a second would not be noticed
    )

    def run(added, name="Pair", first="a", second="b"):
        (package / "_called_kernels.py").write_text(CALLED.format(added=added))
        (package / "_types.py").write_text(TYPES.format(name=name, first=first, second=second))
        command = [sys.executable, "-c", ASK]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return tuple(map(int, done.stdout.split()))

    return run


def test_a_kernel_is_compiled_again_when_one_that_it_calls_has_changed(ask):
    assert ask(added=1) == (20, 0, 12, 0)
    assert ask(added=1) == (20, 1, 12, 1)  # unchanged: from the cache
    assert ask(added=2) == (30, 0, 12, 0)


def test_a_kernel_is_compiled_again_when_the_fields_of_its_tuples_have_changed(ask):
    """Also where what was kept is of a type that is gone, which cannot be read any more."""
    assert ask(added=1) == (20, 0, 12, 0)
    assert ask(added=1, first="b", second="a") == (20, 0, 21, 0)
    assert ask(added=1, name="Couple") == (20, 0, 12, 0)
