"""``labelsure compile``: says where compiled code is kept, and fails where it cannot be."""

from labelsure import conformal
from labelsure.cli import main


def test_the_folders_are_printed(monkeypatch, capsys):
    monkeypatch.setattr(conformal, "compile_kernels", lambda: ["/one", "/two"])
    assert main(["compile"]) == 0
    assert capsys.readouterr().out == "Compiled code is kept in\n  /one\n  /two\n"


def test_nowhere_to_keep_it_exits_with_1_and_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(conformal, "compile_kernels", list)
    assert main(["compile"]) == 1
    assert "Set the environment variable NUMBA_CACHE_DIR" in capsys.readouterr().err
