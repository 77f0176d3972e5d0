"""Summaries say in words what regions and p-values say in numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fold_strategies import fold_lists, weighing_of
from labelsure import calibrate_outputs
from labelsure.engine._fold_engine import FoldEngine
from labelsure.predictions import LabelsetPredictions

NAMES = ["sea", "city", "night"]
OUTPUTS = [[0.9, 0.2, 0.4], [0.6, 0.1, 0.3], [0.3, 0.8, 0.4]]
LABELS = [[1, 0, 0], [1, 0, 1], [0, 1, 0]]


def predictions(new, **options):
    return calibrate_outputs(OUTPUTS, LABELS, label_names=NAMES, **options).predict_labelsets(new)


def names_of(labelset):
    return tuple(name for name, on in zip(NAMES, labelset, strict=True) if on)


@given(
    fold_lists(labels=(3, 3), folds=(1, 2)), st.sampled_from([0.1, 0.25, 0.5, 0.75]), st.booleans()
)
def test_summary_says_what_brute_force_finds(folds, level, force_nonempty):
    engine = FoldEngine(folds, allow_empty=True, weighing=weighing_of(folds, None))
    pred = LabelsetPredictions(engine, label_names=NAMES)
    summaries = pred.summary(level, top=8, force_nonempty=force_nonempty)
    table, candidates = pred.p_values(), pred.candidates()
    assert len(summaries) == len(pred)
    for i, summary in enumerate(summaries):
        inside = table[i] > level
        if force_nonempty and not inside.any():
            inside = (candidates == pred.labelsets[i]).all(axis=1)
        members = candidates[inside].astype(bool)
        on, off = members.all(axis=0), (~members).all(axis=0)
        undecided = members.any(axis=0) & ~on
        expected = [names_of(labels & inside.any()) for labels in (on, undecided, off)]
        assert [summary.sure, summary.possible, summary.ruled_out] == expected
        assert summary.n_labelsets.exact
        assert int(summary.n_labelsets) == inside.sum()
        assert summary.labels == names_of(pred.labelsets[i]) == summary.top[0].labels
        assert (summary.confidence, summary.credibility) == (
            pred.confidence[i],
            pred.credibility[i],
        )
        p_values = {
            names_of(labelset): p for labelset, p in zip(candidates, table[i].tolist(), strict=True)
        }
        assert {one.labels: one.p_value for one in summary.top} == p_values
        assert {one.labels for one in summary.top if one.in_region} == {*map(names_of, members)}
        assert bool(summary.note) == (not inside.any() or summary.credibility <= 0.05)


def test_summary_is_the_same_one_by_one_sliced_and_all_at_once():
    pred = predictions([[0.9, 0.1, 0.4], [0.2, 0.8, 0.6], [0.5, 0.5, 0.5]])
    at_once = list(pred.summary(0.3))
    assert [pred.summary(0.3)[i] for i in range(3)] == at_once
    assert list(pred.summary(0.3)[1:]) == at_once[1:]
    assert list(pred.summary(0.3)[[2, 0]]) == [at_once[2], at_once[0]]
    assert pred.summary(0.3)[-1] == at_once[-1]
    assert str(pred.summary(0.3)[1]).startswith("Object 1: ")


def test_summary_keeps_names_of_objects():
    pandas = pytest.importorskip("pandas")
    new = pandas.DataFrame(
        [[0.9, 0.1, 0.4], [0.2, 0.8, 0.6]], columns=NAMES, index=["photo 7", "photo 2"]
    )
    assert [summary.name for summary in predictions(new).summary()] == ["photo 7", "photo 2"]
    assert str(predictions(new).summary(0.3)[0]).startswith("Object photo 7: sea (confidence")


def test_summary_explains_an_empty_region():
    summary = predictions([[0.5, 0.5, 0.5]]).summary(0.9)[0]
    assert int(summary.n_labelsets) == 0
    assert (summary.sure, summary.possible, summary.ruled_out) == ((), (), ())
    assert "no labelset is left." in str(summary)
    assert "force_nonempty=True" in summary.note
    assert "Low credibility" not in summary.note  # said once is enough
    kept = predictions([[0.5, 0.5, 0.5]]).summary(0.9, force_nonempty=True)[0]
    assert int(kept.n_labelsets) == 1
    assert "No labelset" not in str(kept)


def test_summary_refuses_what_cannot_be_counted_or_indexed():
    pred = predictions([[0.9, 0.1, 0.4]])
    with pytest.raises(ValueError, match="top must be a whole number"):
        pred.summary(0.1, top=-1)
    with pytest.raises(IndexError, match="There are 1 objects, got index 1"):
        pred.summary(0.1)[1]


def test_names_of_labels_partition_all_labels_unless_the_region_is_empty():
    region = predictions(np.random.default_rng(0).random((20, 3))).region(0.5)
    for one, sure, possible, ruled_out in zip(
        region, region.sure, region.possible, region.ruled_out, strict=True
    ):
        together = sorted(sure + possible + ruled_out)
        assert together == (sorted(NAMES) if one.size else [])
        assert (one.sure, one.possible, one.ruled_out) == (sure, possible, ruled_out)
