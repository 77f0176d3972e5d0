"""Draw a picture of each display of labelsure.plots for the documentation, on yeast.

Run with ``pip install -e ".[docs]"`` and ``python docs/figures/make_displays.py``. The page
docs/answers.md shows them, with the same code. The picture of a notebook takes a Chromium and ``pip
install playwright``.
"""

import io
import shutil
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from sklearn.ensemble import ExtraTreesClassifier

from labelsure import CrossConformalClassifier, load_dataset
from labelsure.plots import (
    CalibrationDisplay,
    ConfidenceDisplay,
    LabelDisplay,
    LabelsetDisplay,
    RegionSizeDisplay,
)

HERE = Path(__file__).parent


def draw_all() -> None:
    """Fit once, and write one picture per display."""
    data = load_dataset("yeast")
    trees = ExtraTreesClassifier(60, min_samples_leaf=3, random_state=0)
    model = CrossConformalClassifier(trees, cv=5, random_state=0)
    model.fit(data.X_train, data.Y_train, label_names=data.label_names)
    predictions, truth = model.predict_labelsets(data.X_test), data.Y_test
    shown = {"significance": 0.2}
    example = choose_example(predictions, truth)
    save("calibration", CalibrationDisplay.from_predictions(truth, predictions))
    save("region_sizes", RegionSizeDisplay.from_predictions(predictions))
    save("labelsets", LabelsetDisplay.from_predictions(predictions, example, Y_true=truth, **shown))
    save("confidence", ConfidenceDisplay.from_predictions(predictions, truth))
    save("labels", LabelDisplay.from_predictions(predictions, **shown))
    photograph(model, predictions[:4], predictions[[*range(3), example]].region(0.2))


def choose_example(predictions: Any, truth: Any) -> int:
    """Return an object with few labelsets at 80 %, the true one among them and not first."""
    sizes = predictions.region(0.2).sizes
    inside = predictions.region(0.2).contains(truth) & (predictions.labelsets != truth).any(axis=1)
    return int(((sizes >= 4) & (sizes <= 6) & inside).argmax())


def save(name: str, display: Any) -> None:
    """Write a display's figure."""
    display.figure_.savefig(HERE / f"display_{name}.png", dpi=100, metadata={"Software": None})
    plt.close(display.figure_)


def photograph(*shown: Any) -> None:
    """Write what a notebook shows, as a browser draws it."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    parts = "".join(f"<div style='margin:1em'>{one._repr_html_()}</div>" for one in shown)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 820, "height": 400})
        page.set_content(
            f"<!doctype html><body style='font:13px sans-serif;margin:0'>{parts}</body>"
        )
        picture = Image.open(io.BytesIO(page.screenshot(full_page=True)))
        browser.close()
    picture.convert("RGB").quantize(32).save(HERE / "notebook.png", optimize=True)


if __name__ == "__main__":
    draw_all()
