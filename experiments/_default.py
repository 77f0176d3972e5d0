"""The section about the default measure: beside log loss, ``auto`` beside fixed measures, and ``predict``."""

from collections.abc import Sequence

from experiments._findings import LOG_LOSS, POSTERIOR, DefaultFinding, geometric_mean, judge_auto, judge_default
from experiments._rows import BASELINE, MIDDLE, Row, select
from experiments._text import table, write_errors, write_sizes

ABOUT = f"""\
The default measure, what `measure=None` stands for, is the posterior. Beside it stands the simplest measure that knows
which labelsets are common: log loss and frequencies (`{LOG_LOSS["few labels"]}`, with more than 20 labels
`{LOG_LOSS["more than 20 labels"]}`), which needs no out-of-fold outputs. Both have the same models on the same
resplits, and the ratio is that of their sizes at {MIDDLE} %. The most frequent labelsets are the same for every
object."""

ABOUT_PREDICT = """\
Single predictions: what `predict` returns with the default measure, beside what the learner by itself predicts when it
is fitted on the whole training part, and mean numbers of labels: predicted, by the learner, and true. The last column
names what is worse: a subset accuracy or macro F more than .01 below the learner's, or a number of labels more than
15 % off the truth where the learner's is not."""

SLACK = 0.01
"""How far subset accuracy and macro F may fall below the learner's."""

LABELS_OFF = 0.15
"""How far the mean number of labels may be from the truth's, as a share of it, where the learner's is not farther."""


def default_findings(rows: Sequence[Row]) -> list[str]:
    """Return what there is to say about the default measure and ``auto`` in a sentence each, if anything."""
    lines = []
    if found := judge_default(rows):
        lines.append(
            f"Regions of the default measure at {MIDDLE} %, as multiples of those of log loss and frequencies: the"
            f" geometric mean over {len(found)} pairs of data set and learner is {_ratios(found)}."
        )
    if autos := judge_auto(rows):
        worst = max(autos, key=lambda one: one.ratio)
        lines.append(
            f'Regions of `measure="auto"` at {MIDDLE} % are at most {worst.ratio:.2f} times as large as those of the'
            f" best fixed measure, in {len(autos)} cases ({worst.auto.dataset}, {worst.auto.learner})."
        )
    if judged := _judged(rows):
        n_worse = sum(bool(find_worse(row)) for row in judged)
        lines.append(
            f"With the default measure `predict` is worse than the learner in {n_worse} of {len(judged)} cases."
        )
    return lines


def write_default(rows: Sequence[Row]) -> list[str]:
    """Return the section, nothing where there are no results."""
    found = judge_default(rows)
    if not found:
        return []
    learners = dict.fromkeys(one.posterior.learner for one in found)
    by_learner = {learner: [one for one in found if one.posterior.learner == learner] for learner in learners}
    lines = "".join(f"\n- {learner}: {_ratios(group)}" for learner, group in by_learner.items())
    return [
        *("## The default measure", ABOUT, _sizes_table(found, select(rows, measure=BASELINE))),
        f"Geometric means of the ratios over data sets, and the largest:\n{lines}",
        *(*write_auto(rows), *_predict(rows)),
    ]


def write_auto(rows: Sequence[Row]) -> list[str]:
    """Return ``auto`` beside the best fixed measures, nothing where it was not measured."""
    body = [
        [
            *(one.auto.dataset, one.auto.learner, str(len(one.auto.figures)), one.fixed.measure, f"{one.ratio:.2f}"),
            write_errors(one.auto),
        ]
        for one in judge_auto(rows)
    ]
    if not body:
        return []
    head = ["set", "learner", "resplits", "best fixed measure", "size of auto / best", "errors of auto in %"]
    return [f'`measure="auto"` at {MIDDLE} %, next to the best fixed measure on the same resplits:', table(head, body)]


def find_worse(row: Row) -> list[str]:
    """Return in what the predicted labelsets of a row are worse than those of the learner by itself."""
    ours, learner = row.means, row.means["learner"]
    names = {"subset_accuracy": "subset accuracy", "macro_f": "macro F"}
    worse = [what for name, what in names.items() if ours[name] < learner[name] - SLACK]
    off, off_learner = (abs(one["n_labels"] / one["n_true_labels"] - 1) for one in (ours, learner))
    return [*worse, *(["number of labels"] if off > LABELS_OFF >= off_learner else [])]


def _judged(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the default measure that can be compared with the learner by itself."""
    return [row for row in select(rows, measure=POSTERIOR, guarantee="cross") if "learner" in row.means]


def _ratios(found: Sequence[DefaultFinding]) -> str:
    """Return the geometric mean of the ratios, and the largest."""
    worst = max(found, key=lambda one: one.ratio)
    mean = geometric_mean(one.ratio for one in found)
    return f"{mean:.2f}, at most {worst.ratio:.2f} ({worst.posterior.dataset}, {worst.posterior.learner})"


def _sizes_table(found: Sequence[DefaultFinding], baselines: Sequence[Row]) -> str:
    frequent = {row.dataset: write_sizes(row) for row in select(baselines, guarantee="cross")}
    body = [
        [
            *(one.posterior.dataset, one.posterior.learner, str(len(one.posterior.figures))),
            *(write_sizes(one.posterior), write_sizes(one.log_loss), frequent.get(one.posterior.dataset, "")),
            *(f"{one.ratio:.2f}", write_errors(one.posterior), write_errors(one.log_loss)),
        ]
        for one in found
    ]
    head = ["set", "learner", "resplits", "posterior", "log loss and frequencies", "most frequent labelsets"]
    return table([*head, "ratio", "errors of the posterior in %", "of log loss and frequencies"], body)


def _predict(rows: Sequence[Row]) -> list[str]:
    """Return the predicted labelsets beside the learner's own."""
    body = []
    for row in _judged(rows):
        ours, learner = row.means, row.means["learner"]
        shares = [f"{one[name]:.3f}" for name in ("subset_accuracy", "macro_f") for one in (ours, learner)]
        labels = [f"{number:.2f}" for number in (ours["n_labels"], learner["n_labels"], ours["n_true_labels"])]
        body.append([row.dataset, row.learner, *shares, " / ".join(labels), ", ".join(find_worse(row)) or "-"])
    if not body:
        return []
    head = ["set", "learner", "subset accuracy", "learner's", "macro F", "learner's", "numbers of labels", "worse"]
    return [ABOUT_PREDICT, table(head, body)]
