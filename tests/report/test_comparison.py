"""What wrapping did, and what a person has to answer."""

import numpy as np
import pytest
from report_cases import draw, some_predictions
from sklearn.metrics import f1_score

from labelsure import calibrate_outputs
from labelsure.metrics import answers_needed
from labelsure.report import write_report
from labelsure.report._comparison import count_answers


def test_a_fixed_sample_of_100_objects_is_asked_about():
    predictions, Y = some_predictions(n_objects=250)
    found = count_answers(predictions, Y, 0.2, 0.05)
    assert found == count_answers(predictions, Y, 0.2, 0.05)
    assert "mean of 100 of 250 objects drawn with a fixed seed: settled at 80 %" in str(found)
    rows = np.sort(np.random.default_rng(0).permutation(250)[:100])
    settled = answers_needed(
        predictions[rows].region(0.2), Y[rows], certain=False, labelset_cost=np.inf
    )
    certain = answers_needed(predictions[rows].region(0.05), Y[rows])
    assert (found.settled_labels, found.certain_from) == (settled.labels.mean(), 95)
    assert (found.certain_labels, found.certain_labelsets) == (
        certain.labels.mean(),
        certain.labelsets.mean(),
    )


def test_a_wide_region_that_is_too_large_gives_way_to_the_level_shown():
    predictions, Y = some_predictions(n_objects=100, n_labels=14)
    found = count_answers(
        predictions, Y, 0.3, 0.001
    )  # which 150 examples cannot reach: all 16 384 labelsets
    assert (found.settled_at, found.certain_from) == (70, 70)


def test_nothing_is_played_where_regions_are_too_large(tmp_path):
    predictions, Y = some_predictions(n_objects=100, n_labels=14)
    assert count_answers(predictions, Y, 0.001, 0.001) is None
    many, Y_many = some_predictions(n_objects=3, n_labels=61)
    assert count_answers(many, Y_many, 0.5, 0.5) is None
    page = write_report(tmp_path / "r.html", many, Y_many).read_text(encoding="utf-8")
    assert "What a person has to answer" not in page


@pytest.mark.parametrize("labels_only", [False, True])
def test_report_compares_probabilities_with_those_of_the_learner(tmp_path, labels_only):
    outputs, Y = draw(70, seed=2)
    predictions = calibrate_outputs(*draw(150, seed=1)).predict_labelsets(outputs)
    alone = (outputs > 0.5).astype(int) if labels_only else outputs
    page = write_report(tmp_path / "r.html", predictions, Y, alone=alone).read_text(
        encoding="utf-8"
    )
    ours, learner = (np.mean((p - Y) ** 2) for p in (predictions.probabilities, outputs))
    macro, of_learner = (
        f1_score(Y, labels, average="macro")
        for labels in (predictions.labelsets, (outputs > 0.5).astype(int))
    )
    said = (
        f"What wrapping did: Brier score {ours:.3f} (learner alone {learner:.3f}); macro F"
        f" {macro:.3f}"
        f" ({of_learner:.3f})."
    )
    assert (said in page) == (not labels_only)


def test_report_without_truth_says_nothing_of_answers(tmp_path):
    predictions, _ = some_predictions(n_objects=5)
    page = write_report(tmp_path / "r.html", predictions).read_text(encoding="utf-8")
    assert "What a person has to answer" not in page
    assert "What wrapping did" not in page


def test_outputs_of_the_learner_must_be_between_0_and_1(tmp_path):
    predictions, Y = some_predictions(n_objects=5)
    with pytest.raises(ValueError, match="alone"):
        write_report(tmp_path / "r.html", predictions, Y, alone=2 * np.ones_like(Y))
