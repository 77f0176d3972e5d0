"""Calibrators: one built by hand answers as classifiers do; classifiers read only learned state."""

import numpy as np
import pytest
from counting import Counting, make_data

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be reached")

X, Y = make_data(80)


RUBBISH = {
    "estimator": None,
    "measure": "rubbish",
    "cv": -1,
    "empty_labelset": "rubbish",
    "guarantee": "rubbish",
    "mondrian": "rubbish",
    "weight": 3,
    "calibration_size": -1,
    "random_state": "rubbish",
    "n_jobs": 2,
    "max_fits": 10**9,
    "constraints": 3,
    "on_violation": "rubbish",
    "memory": 3,
    "predict_for": "auto",  # read: what an answer is for is chosen when it is asked for
}
FITTED = {
    "cross": CrossConformalClassifier(Counting(), cv=4, smoothed=True, random_state=0),
    "exact": CrossConformalClassifier(Counting(), cv=4, guarantee="exact", random_state=0),
    "categories": CrossConformalClassifier(Counting(), cv=4, mondrian=0, random_state=0),
    "inductive": InductiveConformalClassifier(Counting(), empty_labelset="allow", random_state=0),
    "weighted": InductiveConformalClassifier(
        Counting(), weight=lambda X: 1 + X[:, 0], random_state=0
    ),
    "full": FullConformalClassifier(Counting(), smoothed=True, random_state=0),
    "label-wise": LabelWiseConformalClassifier(
        Counting(), smoothed=True, conditional=True, random_state=0
    ),
    "label-wise cross": LabelWiseConformalClassifier(
        Counting(), cv=4, smoothed=True, random_state=0
    ),
}


@pytest.mark.parametrize("name", FITTED)
def test_predictions_read_what_fit_learned_and_no_parameter(name):
    model = FITTED[name]
    n = 20 if name == "full" else 60
    model.fit(X[:n], Y[:n])

    def answers():
        if isinstance(model, LabelWiseConformalClassifier):
            pred = model.predict_labels(X[60:63])
            return pred.p_values, pred.region(0.2).possible_values, model.predict(X[60:63])
        pred = model.predict_labelsets(X[60:63])
        region = pred.region(0.2)
        return pred.p_values(), region.sizes, np.array(region.statement), model.predict(X[60:63])

    expected = answers()
    parameters = model.get_params(deep=False)
    other = {
        name: not value if isinstance(value, bool) else RUBBISH[name]
        for name, value in parameters.items()
    }
    for parameter, value in parameters.items():
        model.set_params(**{parameter: other[parameter]})
        for found, wanted in zip(answers(), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
        model.set_params(**{parameter: value})
    model.set_params(**other)
    for found, wanted in zip(answers(), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
