"""``--device``: the same bytes from a GPU, which one for tests stands in for, and one line where there is none."""

import shutil
from importlib.util import find_spec
from unittest import mock

import pytest

from host_device import make_device
from labelsure import load_model, save_model
from labelsure.cli import main
from labelsure.conformal._memory import KeptResults
from labelsure.engine import _device
from labelsure.model_file import open_model

COMMANDS = {
    "predict": ["predict", "{}", "test.csv", "--batch", "7", "-o", "out.csv"],
    "evaluate": ["evaluate", "{}", "test.csv", "--json", "out.json"],
    "report": ["report", "{}", "test.csv", "--title", "one", "-o", "out.html"],
    "explain": ["explain", "{}", "test.csv", "--row", "3"],
}
OUTPUTS = ("out.csv", "out.json", "out.html")
WITHOUT_CUPY = (
    "--device cuda, given or saved with the model, needs the package 'cupy', which is not installed. Install it with:"
    ' pip install "labelsure[cuda13]" or "labelsure[cuda12]". Or use --device cpu, which gives the same answers.'
)


@pytest.fixture
def here(tickets, tmp_path, monkeypatch):
    """A folder with rows, a model that was saved for the processor, and the same one for a GPU."""
    for name in ("test.csv", "m.labelsure"):
        shutil.copy(tickets / name, tmp_path / name)
    opened = open_model(tmp_path / "m.labelsure")
    save_model(opened.model.set_params(device="cuda"), tmp_path / "gpu.labelsure", table=opened.table)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def launched():
    """A device that stands in for a GPU; yields the names of the kernels that ran there."""
    there, names = make_device("host"), []
    launch = there.launch
    _device.find_device.cache_clear()
    with (
        mock.patch.object(_device, "CudaDevice", lambda: there),
        mock.patch.object(there, "launch", lambda name, *given: names.append(name) or launch(name, *given)),
    ):
        yield names
    _device.find_device.cache_clear()


def words_of(name, model="m.labelsure"):
    return [word.format(model) for word in COMMANDS[name]] + ["--jobs", "1"]


def results(folder, capsys):
    """What a command has printed and written, which is removed."""
    written = {name: (folder / name).read_text() for name in OUTPUTS if (folder / name).exists()}
    for name in written:
        (folder / name).unlink()
    return capsys.readouterr().out, written


@pytest.mark.parametrize("name", COMMANDS)
def test_answers_of_a_device_are_those_of_the_processor(here, launched, name, capsys):
    assert main(words_of(name)) == 0
    expected = results(here, capsys)
    assert not launched
    assert main([*words_of(name), "--device", "cuda"]) == 0
    assert results(here, capsys) == expected
    assert launched


def test_the_device_is_the_one_of_the_file_unless_another_is_asked_for(here, launched):
    assert main([*words_of("predict", "gpu.labelsure"), "--device", "cpu"]) == 0
    assert not launched
    assert main(words_of("predict", "gpu.labelsure")) == 0
    assert launched
    assert load_model(here / "gpu.labelsure").device == "cuda"


@pytest.mark.skipif(find_spec("cupy") is not None, reason="CuPy is installed")
@pytest.mark.parametrize("asked", [True, False], ids=["asked for", "saved"])
def test_a_missing_device_is_one_line_before_any_work(here, run, asked):
    for output in OUTPUTS:
        (here / output).write_text("what was here before")
    files = {path.name: path.read_bytes() for path in here.iterdir()}
    words = [*words_of("predict"), "--device", "cuda"] if asked else words_of("predict", "gpu.labelsure")
    result = run(*words)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"labelsure: error: {WITHOUT_CUPY}\n"
    assert {path.name: path.read_bytes() for path in here.iterdir()} == files


def test_a_device_that_cannot_be_used_is_told_from_missing_packages(here, capsys):
    cupy = mock.Mock()
    cupy.cuda.runtime.CUDARuntimeError = RuntimeError
    cupy.cuda.Device.side_effect = RuntimeError("no CUDA-capable device is detected")
    _device.find_device.cache_clear()
    with mock.patch.dict("sys.modules", {"cupy": cupy}):
        assert main([*words_of("predict"), "--device", "cuda"]) == 1
    assert capsys.readouterr().err == (
        "labelsure: error: --device cuda, given or saved with the model, needs an NVIDIA GPU with a driver that CuPy"
        " can use, found none: no CUDA-capable device is detected. Use --device cpu, which gives the same answers.\n"
    )
    assert not (here / "out.csv").exists()


def test_another_word_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main([*words_of("explain"), "--device", "gpu"])
    assert "argument --device: invalid choice: 'gpu'" in capsys.readouterr().err


def number_of(key):
    """Which batch a result is of."""
    return int(key.rsplit(" ", 1)[1])


@pytest.mark.parametrize("first", ["cpu", "cuda"])
def test_what_one_device_has_begun_the_other_finishes(here, launched, first, monkeypatch, capsys):
    second, written, numbers = {"cpu": "cuda", "cuda": "cpu"}[first], KeptResults.write, []
    assert main(words_of("predict")) == 0
    whole = (here / "out.csv").read_bytes()

    def stop_at_third(kept, key, content):
        if number_of(key) == 3:
            raise KeyboardInterrupt
        written(kept, key, content)

    monkeypatch.setattr(KeptResults, "write", stop_at_third)
    assert main([*words_of("predict"), "--device", first]) == 130
    monkeypatch.setattr(KeptResults, "write", lambda *given: numbers.append(number_of(given[1])) or written(*given))
    capsys.readouterr()
    assert main([*words_of("predict"), "--device", second]) == 0
    assert numbers == [3, 4, 5, 6, 7]
    assert capsys.readouterr().err == ""
    assert (here / "out.csv").read_bytes() == whole
    assert launched
