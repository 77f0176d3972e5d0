"""Draw docs/figures/report-desktop.png: ``python docs/figures/make_report_figures.py``.

Writes a report and photographs it with Chromium (Debian's package chromium, and playwright).
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from labelsure import InductiveConformalClassifier
from labelsure.report import write_report

HERE = Path(__file__).parent
CHROMIUM = "/usr/bin/chromium"
LABELS = ["sports", "politics", "science", "film", "food", "travel"]


def write_example(folder: Path) -> Path:
    """Write a report of 1500 synthetic articles into a folder, and return its path."""
    X, Y = make_multilabel_classification(
        n_samples=3500, n_features=20, n_classes=6, length=250, random_state=0
    )
    Y = pd.DataFrame(Y, columns=LABELS)
    linear = OneVsRestClassifier(LogisticRegression(C=10))
    model = InductiveConformalClassifier(make_pipeline(MinMaxScaler(), linear), random_state=0)
    model.fit(X[:2000], Y[:2000])
    desk = np.where(X[2000:, 0] > np.median(X[2000:, 0]), "foreign", "home")
    return write_report(
        folder / "report.html",
        model.predict_labelsets(X[2000:]),
        Y[2000:],
        predicted=model.predict(X[2000:]),
        objects=[f"article {i}" for i in range(2000, 3500)],
        groups={"desk": desk},
        title="News topics: held-out articles",
    )


def main() -> None:
    """Write the report and take the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        address = write_example(Path(folder)).as_uri()
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        desktop = browser.new_page(viewport={"width": 1180, "height": 1500})
        desktop.goto(address)
        desktop.wait_for_selector("html.drawn", state="attached")
        desktop.screenshot(path=HERE / "report-desktop.png")
        browser.close()


if __name__ == "__main__":
    main()
