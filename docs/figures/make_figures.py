"""Draw the pictures of the documentation.

Run with ``pip install -e ".[docs]"`` and ``python docs/figures/make_figures.py``. The data set scene is looked for in
LABELSURE_DATA and in the cache, and else downloaded.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from labelsure import CrossConformalClassifier, MLRBFClassifier, PowerMeasure, load_dataset

HERE = Path(__file__).parent
OBJECT = 174
"""The test object drawn: chosen because its regions differ in size and the best labelset is not the true one."""

N_SHOWN = 8
LEVELS = (0.20, 0.10, 0.05)
COLOURS = ("#0b5394", "#3d85c6", "#9fc5e8", "#d9d9d9")
"""Of labelsets in the 80 % region, in the 90 % region only, in the 95 % region only, and in none."""


def draw_object() -> None:
    """Draw one photograph's most plausible labelsets with their p-values, and the levels that cut them."""
    data = load_dataset("scene")
    classifier = make_pipeline(MinMaxScaler(), MLRBFClassifier())
    measure = PowerMeasure(d=4, pair_penalty=1.0)
    model = CrossConformalClassifier(classifier, measure=measure, cv=12, empty="exclude", random_state=0)
    predictions = model.fit(data.X_train, data.Y_train).predict_labelsets(data.X_test)[OBJECT]
    region = predictions.region(significance=0.001)[0]
    members = region.members(limit=N_SHOWN)
    labelsets, p_values = members.labelsets, members.p_values
    names = [" + ".join(np.array(data.label_names)[row == 1]) for row in labelsets]
    truth = int(np.flatnonzero((labelsets == data.Y_test[OBJECT]).all(axis=1))[0])

    figure, axes = plt.subplots(figsize=(7.2, 3.1), layout="constrained")
    colours = [COLOURS[sum(p <= level for level in LEVELS)] for p in p_values]
    bars = axes.barh(names, p_values, color=colours)
    labels = [f"{p:.3f}" + ("   the true labelset" if i == truth else "") for i, p in enumerate(p_values)]
    axes.bar_label(bars, labels, padding=4, fontsize=9, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    n_others = len(predictions.candidates()) - N_SHOWN
    sizes = [int(predictions.region(level).sizes[0]) for level in LEVELS]
    for level, size, colour, verb in zip(LEVELS, sizes, COLOURS, ("in", "added by", "added by"), strict=False):
        axes.axvline(level, color=colour, linewidth=1, linestyle="--", zorder=0)
        text = f"{verb} the {100 - 100 * level:.0f} % region ({size} labelsets)"
        axes.plot([], [], color=colour, linewidth=6, label=text)
    axes.plot([], [], color=COLOURS[-1], linewidth=6, label=f"ruled out at 95 %, as {n_others} others")
    axes.invert_yaxis()
    axes.set(xlim=(0, 0.6), xlabel="p-value")
    axes.legend(loc="lower right", frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(
        f"A photograph of the data set scene: confidence {predictions.confidence[0]:.3f},"
        f" credibility {predictions.credibility[0]:.3f}",
        fontsize=10,
        loc="left",
    )
    figure.savefig(HERE / "one_object.png", dpi=150, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    draw_object()
