"""Draw the pictures of the documentation.

Run with ``pip install -e ".[docs]"`` and ``python docs/figures/make_figures.py``. The data set
scene is looked for in LABELSURE_DATA and in the cache, and else downloaded.
"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import gamma
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import f1_score

from labelsure import CrossConformalClassifier, LabelsetPredictions, find_label_errors, load_dataset
from labelsure.learners import outputs_of
from labelsure.metrics import calibration_curve

HERE = Path(__file__).parent
OBJECT = 174
"""The test object drawn: its regions differ in size, and its best labelset is not the true one."""

N_SHOWN = 7
LEVELS = (0.20, 0.10, 0.05)
COLOURS = ("#0b5394", "#3d85c6", "#9fc5e8", "#d9d9d9")
"""Of labelsets in the 80 % region, only in the 90 % region, only in the 95 % region, in none."""

ANSWERS = {
    "sure": ("#0b5394", "white"),
    "possible": ("#9fc5e8", "#1a1a1a"),
    "ruled out": ("#efefef", "#555555"),
}
"""The colours of a cell and of the word in it."""


def predict_scene() -> tuple[Any, LabelsetPredictions]:
    """Return the data set scene, and predictions for its test objects by a random forest."""
    data = load_dataset("scene")
    model = CrossConformalClassifier(RandomForestClassifier(100), cv=10, random_state=0)
    model.fit(data.X_train, data.Y_train, label_names=data.label_names)
    return data, model.predict_labelsets(data.X_test)


def draw_object(data: Any, predictions: LabelsetPredictions) -> None:
    """Draw one photograph's labelsets with their p-values, and what they say about each label."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 3.4), layout="constrained", width_ratios=[1, 1.15]
    )
    one = predictions[OBJECT]
    _draw_labelsets(left, one, data.Y_test[OBJECT])
    _draw_labels(right, one)
    _save(figure, "one_object")


def _draw_labelsets(axes: Axes, one: LabelsetPredictions, truth: np.ndarray) -> None:
    best = one.top(N_SHOWN)
    labelsets, p_values = best.labelsets[0], best.p_values[0]
    names = [" + ".join(np.array(one.label_names)[row == 1]) or "no label" for row in labelsets]
    colours = [COLOURS[sum(p <= level for level in LEVELS)] for p in p_values]
    bars = axes.barh(names, p_values, color=colours)
    is_true = (labelsets == truth).all(axis=1)
    texts = [
        f"{p:.2f}" + ("  the truth" if known else "")
        for p, known in zip(p_values, is_true, strict=True)
    ]
    axes.bar_label(
        bars,
        texts,
        padding=4,
        fontsize=9,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
    axes.invert_yaxis()
    for level in LEVELS:
        axes.axvline(level, color="#777777", linewidth=0.8, linestyle=":", zorder=0)
    texts = ("in the 80 % region", "added at 90 %", "added at 95 %", "ruled out at 95 %")
    axes.legend(
        [mpl.patches.Patch(color=colour) for colour in COLOURS],
        texts,
        loc="lower right",
        frameon=False,
    )
    axes.set(xlim=(0, 1.3 * p_values[0]), xlabel="p-value")
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title("Labelsets of one photograph", fontsize=11, loc="left")


def _draw_labels(axes: Axes, one: LabelsetPredictions) -> None:
    for column, level in enumerate(LEVELS):
        region = one.region(level)
        words = np.where(
            region.inner[0], "sure", np.where(region.undecided[0], "possible", "ruled out")
        )
        for row, word in enumerate(words):
            colour, ink = ANSWERS[word]
            axes.add_patch(mpl.patches.Rectangle((column, row), 0.94, 0.88, color=colour))
            axes.text(
                column + 0.47, row + 0.46, word, ha="center", va="center", color=ink, fontsize=10
            )
    axes.set(xlim=(0, len(LEVELS)), ylim=(len(one.label_names), 0))
    axes.set_xticks(
        np.arange(len(LEVELS)) + 0.47, [f"at {100 - 100 * level:.0f} %" for level in LEVELS]
    )
    axes.set_yticks(np.arange(len(one.label_names)) + 0.44, one.label_names)
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    axes.spines[:].set_visible(False)
    axes.set_title("What they say about each label", fontsize=11, loc="left")


def draw_counting() -> None:
    """Draw how a p-value is counted: how many known examples are at least as strange."""
    known = gamma(2.2).ppf((np.arange(19) + 0.5) / 19)
    figure, axes = plt.subplots(figsize=(8.4, 2.9), layout="constrained")
    for height, (name, score) in zip((2, 1), (("Beach", 1.62), ("Urban", 5.0)), strict=True):
        stranger = known >= score
        p_value = (stranger.sum() + 1) / (len(known) + 1)
        axes.scatter(known[~stranger], np.full((~stranger).sum(), height), s=70, color="#d9d9d9")
        axes.scatter(known[stranger], np.full(stranger.sum(), height), s=70, color="#3d85c6")
        axes.plot([score, score], [height - 0.35, height + 0.35], color="#c00000", linewidth=2)
        count = (
            f"{stranger.sum()} of 19 are at least as strange: "
            f" p = {stranger.sum() + 1}/20 = {p_value:.2f}"
        )
        text = f"is it {name}?  {count}"
        axes.annotate(
            text,
            (score, height + 0.36),
            ha="left" if score < 3 else "right",
            va="bottom",
            fontsize=10,
        )
    axes.set(
        xlim=(0, 7.2),
        ylim=(0.4, 2.9),
        yticks=[],
        xlabel="how strange the labels look to the model  →",
    )
    axes.spines[["top", "right", "left"]].set_visible(False)
    _save(figure, "counting")


def draw_promise(data: Any, predictions: LabelsetPredictions) -> None:
    """Draw how often regions miss the truth, and how large they are, at each level."""
    levels = np.linspace(0.01, 0.4, 40)
    curve = calibration_curve(data.Y_test, predictions, significance=levels)
    sizes = [predictions.region(level).sizes.mean() for level in levels]
    confidence = 100 * (1 - levels)
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.0), layout="constrained")
    left.plot(confidence, 100 * levels, color="#777777", linestyle=":", label="as chosen")
    left.plot(confidence, 100 * curve.error_rate, color="#0b5394", label="measured")
    left.fill_between(
        confidence, 100 * curve.low, 100 * curve.high, color="#9fc5e8", alpha=0.5, linewidth=0
    )
    left.set(
        xlabel="confidence in %", ylabel="% of photographs", title="Regions that miss the truth"
    )
    left.legend(frameon=False)
    right.plot(confidence, sizes, color="#0b5394")
    right.set(
        xlabel="confidence in %",
        ylabel="labelsets of 64",
        title="Mean size of a region",
        ylim=(0, None),
    )
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.title.set_fontsize(11)
    _save(figure, "promise")


def draw_doubtful() -> None:
    """Draw how many wrong rows of yeast are found by reviewing suspicious ones, and others."""
    data = load_dataset("yeast")
    X, Y = data.X_train, data.Y_train
    rng = np.random.default_rng(1)
    wrong, flips = np.flatnonzero(rng.random(len(Y)) < 0.3), np.zeros(Y.shape, dtype=int)
    flips[wrong, rng.integers(Y.shape[1], size=len(wrong))] = 1
    given = Y ^ flips
    trees = ExtraTreesClassifier(100, min_samples_leaf=2, random_state=1)
    model = CrossConformalClassifier(trees, cv=5, random_state=1, n_jobs=-1).fit(X, given)
    outputs = np.empty(Y.shape)
    for rows, fitted in zip(model.fold_indices_, model.models_, strict=True):
        outputs[rows] = outputs_of(fitted, X[rows], Y.shape[1])
    ways = {
        "largest gain of a flip": find_label_errors(model, X, given).gains.max(axis=1),
        "least likely label by the learner": np.abs(given - outputs).max(axis=1),
        "in any order": rng.random(len(Y)),
    }
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for (name, doubt), colour in zip(ways.items(), ("#0b5394", "#3d85c6", "#999999"), strict=True):
        found = np.cumsum(flips.any(axis=1)[np.argsort(-doubt)]) / len(wrong)
        axes.plot(100 * np.arange(1, len(Y) + 1) / len(Y), 100 * found, color=colour, label=name)
    axes.set(
        xlabel="% of the genes looked at",
        ylabel="% of the mistakes met",
        xlim=(0, 100),
        ylim=(0, 101),
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower right")
    _save(figure, "doubtful")


def draw_answers() -> None:
    """Draw the F-measure of the labels of birds for the learner alone and for each metric."""
    data, learner = load_dataset("birds"), RandomForestClassifier(100, random_state=0)
    X, Y = np.concatenate([data.X_train, data.X_test]), np.concatenate([data.Y_train, data.Y_test])
    scores: dict[str, list[float]] = {}
    for seed in range(5):
        train, test = np.split(np.random.default_rng(seed).permutation(len(Y)), [len(data.Y_train)])
        model = CrossConformalClassifier(learner, cv=5, random_state=0, n_jobs=-1).fit(
            X[train], Y[train]
        )
        answers = {"the learner alone": learner.fit(X[train], Y[train]).predict(X[test])}
        for metric in ("exact match", "hamming", "f1"):
            answers[f'predict_for="{metric}"'] = model.set_params(predict_for=metric).predict(
                X[test]
            )
        for name, labels in answers.items():
            macro = float(f1_score(Y[test], labels, average="macro", zero_division=0))
            scores.setdefault(name, []).append(macro)
    figure, axes = plt.subplots(figsize=(6.4, 2.2), layout="constrained")
    bars = axes.barh(
        list(scores),
        [np.mean(of_way) for of_way in scores.values()],
        color=["#999999", *COLOURS[2::-1]],
    )
    axes.bar_label(bars, fmt="%.2f", padding=4)
    axes.set(xlabel="macro F of 19 birds, mean over five splits", xlim=(0, 0.6))
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, "answers")


def _save(figure: Figure, name: str) -> None:
    figure.savefig(HERE / f"{name}.png", dpi=150, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    draw_counting()
    draw_doubtful()
    draw_answers()
    scene = predict_scene()
    draw_object(*scene)
    draw_promise(*scene)
