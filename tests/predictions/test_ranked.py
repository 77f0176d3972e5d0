"""Labelsets in order, as tables."""

import pytest

from labelsure import calibrate_outputs

OUTPUTS = [[0.9, 0.2], [0.6, 0.1], [0.3, 0.8]]
LABELS = [[1, 0], [1, 0], [0, 1]]


def predict(**options):
    predictor = calibrate_outputs(OUTPUTS, LABELS, label_names=["sea", "city"], **options)
    return predictor.predict_labelsets([[0.8, 0.3], [0.2, 0.9]])


def test_top_frame_has_a_row_per_object_and_labelset():
    pytest.importorskip("pandas")
    top = predict().top(3)
    frame = top.to_frame()
    assert frame.columns.tolist() == ["object", "rank", "labels", "p_value"]
    assert frame["object"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["rank"].tolist() == [1, 2, 3, 1, 2, 3]
    assert frame["labels"].tolist()[:2] == ["sea", "sea, city"]
    assert frame["p_value"].tolist() == top.p_values.ravel().tolist()


def test_top_frame_leaves_out_labelsets_that_do_not_exist():
    pytest.importorskip("pandas")
    assert predict(empty="exclude").top(9).to_frame()["rank"].tolist() == [1, 2, 3, 1, 2, 3]


def test_ranked_frames_of_nothing_are_empty():
    pytest.importorskip("pandas")
    pred = predict()
    for nothing in (
        pred[:0].top(2),
        pred.region(0.9)[0].members(),
        pred.region(0.2)[0].members(limit=0),
    ):
        assert nothing.to_frame().shape == (0, 4)
