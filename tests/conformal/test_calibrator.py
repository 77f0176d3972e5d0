"""Stage two: a calibrator made by hand answers as the classifiers do, and classifiers read what they learned alone."""

import numpy as np
import pytest
from counting import Counting, make_data

from labelsure import (
    CrossConformalClassifier,
    FullConformalClassifier,
    InductiveConformalClassifier,
    LabelWiseConformalClassifier,
    PowerMeasure,
)
from labelsure.conformal._calibrator import Calibrator, calibrate, gather_examples
from labelsure.conformal._choices import Choices
from labelsure.conformal._models import fit_models, outputs_of_models
from labelsure.conformal._splits import Split
from labelsure.measures import LogLossMeasure, MahalanobisMeasure, UnseenPenalty

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be reached")

X, Y = make_data(80)


def by_hand(measure, choices, model):
    """Fit models on the splits of a fitted classifier, and calibrate them, with public names."""
    rows = model.fold_indices_
    splits = [Split(np.setdiff1d(np.arange(60), fold), fold) for fold in rows]
    *seeds, draw_seed = model.seeds_
    fitted = fit_models(
        Counting(), X[:60], Y[:60], splits, seeds=seeds, needs=[measure.needs], n_jobs=None
    )
    folds = gather_examples(X[:60], Y[:60], splits, fitted, measure)
    calibrated = tuple(calibrate(measure, folds, seeds=seeds))
    calibrator = Calibrator(calibrated, choices, draw_seed, complementary=True)
    return calibrator, [fold.model for fold in fitted]


@pytest.mark.parametrize(
    "measure", [PowerMeasure(), LogLossMeasure() + UnseenPenalty(), MahalanobisMeasure()], ids=str
)
@pytest.mark.parametrize(
    "options", [{}, {"smoothed": True}, {"guarantee": "exact"}, {"empty": "allow"}], ids=str
)
def test_the_two_stages_by_hand_give_the_cross_conformal_classifier(measure, options):
    model = CrossConformalClassifier(Counting(), measure=measure, cv=4, random_state=0, **options)
    expected = model.fit(X[:60], Y[:60]).predict_labelsets(X[60:])
    calibrator, models = by_hand(measure, Choices(**options), model)
    outputs = outputs_of_models(models, X[60:], 3, n_jobs=None)
    pred = calibrator.predict(outputs, X[60:])
    np.testing.assert_array_equal(pred.p_values(), expected.p_values())
    for level in (0.1, 0.3):
        assert pred.region(level).sizes.tolist() == expected.region(level).sizes.tolist()
        assert pred.region(level).statement == expected.region(level).statement
    scores = calibrator.nonconformity(outputs, Y[60:], X[60:])
    np.testing.assert_array_equal(scores, model.nonconformity(X[60:], Y[60:]))


RUBBISH = {
    "estimator": None,
    "measure": "rubbish",
    "cv": -1,
    "empty": "rubbish",
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
    "inductive": InductiveConformalClassifier(Counting(), empty="allow", random_state=0),
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
