"""Label names: given to fit or as columns, kept by predictions, and accepted for labels."""

import numpy as np
import pandas as pd
import pytest
from counting import Counting, make_data

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    calibrate_outputs,
)
from labelsure.measures import LabelWiseCombination

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be reached")

NAMES = ["beach", "sunset", "urban"]
X, Y = make_data(70)
FRAME = pd.DataFrame(Y, columns=NAMES)
TURNED = ["urban", "beach", "sunset"]
KINDS = {
    "cross": (CrossConformalClassifier(Counting(), cv=3, random_state=0), 60),
    "inductive": (InductiveConformalClassifier(Counting(), random_state=0), 60),
    "full": (FullConformalClassifier(Counting(), random_state=0), 12),
    "label-wise": (LabelWiseConformalClassifier(Counting(), random_state=0), 60),
}


def predict(model, X):
    return (
        model.predict_labels(X) if hasattr(model, "predict_labels") else model.predict_labelsets(X)
    )


@pytest.mark.parametrize("name", KINDS)
def test_names_come_from_fit_or_from_the_columns_of_y(name):
    model, n = KINDS[name]
    for fitted in (
        model.fit(X[:n], Y[:n], label_names=NAMES),
        model.fit(X[:n], Y[:n], label_names=np.array(NAMES)),
        model.fit(X[:n], FRAME[:n]),
    ):
        assert fitted.label_names_ == tuple(NAMES)
        assert predict(fitted, X[60:62]).label_names == tuple(NAMES)
    model.fit(X[:n], FRAME[:n], label_names=["a", "b", "c"])
    assert predict(model, X[60:62]).label_names == ("a", "b", "c")
    model.fit(X[:n], Y[:n])
    assert model.label_names_ is None
    assert predict(model, X[60:62]).label_names == ("label_0", "label_1", "label_2")


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            ["beach", "urban", "beach"],
            "Label names must differ, got 'beach' for the labels 0 and 2",
        ),
        (["beach", "urban"], "label_names must name the 3 labels, got 2 names"),
        ("abc", "label_names must be a sequence of 3 names, got the string 'abc'"),
    ],
)
def test_names_that_do_not_name_the_labels_are_refused_before_fitting(name, names, message):
    model, n = KINDS[name]
    Counting.fits.clear()
    with pytest.raises(ValueError, match=message):
        model.fit(X[:n], Y[:n], label_names=names)
    if not isinstance(names, str):
        columns = [*names, "third"][:3]
        if len(set(columns)) < 3:
            with pytest.raises(ValueError, match="Label names must differ"):
                model.fit(X[:n], pd.DataFrame(Y[:n], columns=columns))
    assert not Counting.fits


def test_outputs_and_labels_of_ready_made_outputs_are_taken_by_name():
    outputs = pd.DataFrame(X[:, :3], columns=NAMES)
    measure, training = LabelWiseCombination(), (FRAME[:20], outputs[:20])
    expected = calibrate_outputs(
        outputs[20:50],
        FRAME[20:50],
        measure=measure,
        training_labels=training[0],
        training_outputs=training[1],
    ).predict_labelsets(outputs[50:])
    turned = calibrate_outputs(
        outputs[20:50][TURNED],
        FRAME[20:50],
        measure=measure,
        training_labels=training[0][TURNED],
        training_outputs=training[1][TURNED],
    )
    pred = turned.predict_labelsets(outputs[50:][TURNED])
    np.testing.assert_array_equal(pred.p_values(), expected.p_values())
    scores = turned.nonconformity(outputs[50:], FRAME[50:])
    np.testing.assert_array_equal(
        turned.nonconformity(outputs[50:][TURNED], FRAME[50:][TURNED]), scores
    )


@pytest.mark.parametrize("name", KINDS)
def test_predictions_keep_the_index_of_a_frame(name):
    model, n = KINDS[name]
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"row {i}" for i in range(len(X))])
    model.fit(frame[:n], FRAME[:n])
    pred = predict(model, frame[60:64])

    def objects_of(answer):
        # label-wise: a row for each label too
        return answer.to_frame().index.get_level_values(0).unique().tolist()

    assert objects_of(pred) == ["row 60", "row 61", "row 62", "row 63"]
    assert objects_of(pred.region(0.2)) == ["row 60", "row 61", "row 62", "row 63"]
    assert objects_of(predict(model, frame[60:64].reset_index(drop=True))) == [0, 1, 2, 3]
