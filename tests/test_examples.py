"""The programs of the gallery run, print something and draw what they are listed for."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_and_draws(path, monkeypatch, tmp_path, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.close("all")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    drawn = [axes for number in pyplot.get_fignums() for axes in pyplot.figure(number).axes]
    pyplot.close("all")
    assert drawn
    assert all(axes.has_data() for axes in drawn)
    assert capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
