"""Are the paper's results reproduced? One seed on yeast; ten on both sets in `make validity`.

``reference_bands.json`` holds mean and standard deviation over seeds of runs that were made
independently of this package. Seeds are fixed, so these tests do not fail by chance.
"""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from labelsure.cli._reproduce import load_paper_dataset, measure_tables
from labelsure.paper._tables import DATASETS, PENALTIES, means, paper_tables

BANDS = json.loads(Path(__file__).with_name("reference_bands.json").read_text())
BANDS_OF = {"lam0": "ML-RBF CCP lambda=0", "lam1": "ML-RBF CCP lambda=1", "ml_rbf": "ML-RBF"}
MEASURES = ("hl", "ca", "fmacro", "fmicro")
N_SEEDS = 10


def band_figures(tables, name, kind):
    """Return our figures under the names that the bands have for them."""
    row = BANDS_OF[kind]
    figures = dict(zip(MEASURES, tables["single_predictions"][name][row], strict=True))
    for level, region in tables["regions"][name].get(row.rpartition(" ")[2], {}).items():
        significance = float(level)
        bins = [value for key, value in region.items() if re.match(r"\d", key)]
        bins[0] += region["empty"]  # where the bands count them
        figures |= {f"err{significance}": region["errors"], f"empty{significance}": region["empty"]}
        figures |= {f"h{significance}_{i}": value for i, value in enumerate(bins)}
    return figures


def outside_bands(tables, name, *, n_deviations, slack):
    """Return figures off the mean by more than the given deviations plus ``slack`` points."""
    outside = []
    for kind in BANDS_OF:
        ours = band_figures(tables, name, kind)
        for figure, (mean, deviation) in BANDS[f"{name}_{kind}"].items():
            tolerance = n_deviations * deviation + (0 if figure in MEASURES else slack)
            if abs(ours[figure] - mean) > tolerance + 1e-9:
                outside.append((kind, figure, ours[figure], mean, deviation))
    return outside


def compared_with_paper(tables, name):
    """Yield (what, ours, the paper's, tolerance) for every figure of the paper."""
    # by row: for Hamming loss, and for the other measures; ML-kNN is held to the four decimals the
    # paper prints
    tolerances = {"BP-MLL": (0.02, 0.02), "ML-NB": (0.03, 0.06), "ML-kNN": (0.00005, 0.00005)}
    for row, figures in paper_tables()["single_predictions"][name].items():
        for i, (measure, paper) in enumerate(zip(MEASURES, figures, strict=True)):
            tolerance = tolerances.get(row, (0.015, 0.015))[min(i, 1)]
            yield f"{row} {measure}", tables["single_predictions"][name][row][i], paper, tolerance
    for penalty in PENALTIES:
        for level, figures in paper_tables()["regions"][name][penalty].items():
            for key, paper in figures.items():
                ours = tables["regions"][name][penalty][level][key]
                yield f"{penalty} {level} {key}", ours, paper, 1.5 if key == "errors" else 8.0


def far_from_paper(tables, name):
    return [
        (what, ours, paper)
        for what, ours, paper, tolerance in compared_with_paper(tables, name)
        if abs(ours - paper) > tolerance + 1e-9
    ]


def check_layout(written):
    paper = paper_tables()
    assert written["columns_of_single_predictions"] == paper["columns_of_single_predictions"]
    assert set(written["single_predictions"]) == {"yeast"} == set(written["regions"])
    assert set(written["single_predictions"]["yeast"]) == {
        *paper["single_predictions"]["yeast"],
        "BP-MLL shuffled",
    }
    for penalty, levels in paper["regions"]["yeast"].items():
        for level, figures in levels.items():
            assert set(figures) < set(written["regions"]["yeast"][penalty][level])
    assert written["seeds"] == [0]
    assert written["by_seed"] == [{key: written[key] for key in ("single_predictions", "regions")}]
    assert written["standard_deviations"]["single_predictions"]["yeast"]["ML-RBF"] == [None] * 4
    assert {"labelsure", "python", "numpy", "scikit-learn"} <= set(written["versions"])


def check_printed(written, printed):
    assert max(map(len, printed.splitlines())) <= 100
    lines = printed.splitlines()
    for row, figures in written["single_predictions"]["yeast"].items():
        (line,) = (line for line in lines if line.startswith(f"{row}  "))
        assert line.removeprefix(row).split()[1::3] == [
            f"{value:.4f}".removeprefix("0") for value in figures
        ]
    errors = [line.split()[2::3] for line in lines if line.startswith("errors")]
    assert errors == [
        [f"{figures['errors']:.2f}" for figures in levels.values()]
        for levels in written["regions"]["yeast"].values()
    ]


def test_one_seed_of_yeast_gives_what_the_paper_got(run, tmp_path):
    """What the installed command writes and prints for yeast, with only the package river."""
    if importlib.util.find_spec("river") is None:
        pytest.skip("yeast comes from the package river, which is not installed")
    result = run("reproduce", "yeast", "--jobs", "2", "--json", str(tmp_path / "out.json"))
    assert (result.returncode, result.stderr) == (0, "")
    written = json.loads((tmp_path / "out.json").read_text())
    check_layout(written)
    check_printed(written, result.stdout)
    # 8 seeds made the bands: 5 of their standard deviations and one test object leave out no honest
    # run
    assert (
        outside_bands(written, "yeast", n_deviations=5, slack=100 / DATASETS["yeast"].n_test) == []
    )
    assert far_from_paper(written, "yeast") == []
    for levels in written["regions"]["yeast"].values():
        for figures in levels.values():  # empty regions included, sizes add up to all objects
            assert sum(value for key, value in figures.items() if key != "errors") == pytest.approx(
                100
            )


@pytest.mark.validity
@pytest.mark.parametrize("name", DATASETS)
def test_means_over_ten_seeds_reproduce_the_paper(name, load_mulan):
    load_mulan(name)  # skips where there is none
    tables = means(measure_tables([load_paper_dataset(name)], n_seeds=N_SEEDS, n_jobs=-1))
    assert outside_bands(tables, name, n_deviations=3, slack=0) == []
    assert far_from_paper(tables, name) == []
    # in file order BP-MLL predicts scene's last class, a subset accuracy of 0.163; not so when
    # shuffled
    file_order, shuffled = (
        tables["single_predictions"][name][row] for row in ("BP-MLL", "BP-MLL shuffled")
    )
    assert shuffled[0] < file_order[0]
    assert shuffled[1] > file_order[1] + (0.15 if name == "scene" else 0.02)
