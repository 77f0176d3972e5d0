"""Conformal risk control of recall agrees with MAPIE's controller on the same data.

MAPIE predicts the labels with an output *above* its parameter, looks only at a grid of parameters,
and refuses rows without labels; here the labels with an output of *at least* the threshold are
predicted, and every threshold at which anything changes is looked at. So MAPIE's parameter is the
last one of its grid below the threshold here. The numbers of examples keep n / (n + 1) R + 1 / (n +
1) from hitting the level exactly, where MAPIE refuses and the proof accepts.
"""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.neighbors import KNeighborsClassifier

from labelsure import control_recall
from labelsure.learners import fit_base, outputs_of

mapie = pytest.importorskip("mapie.risk_control", reason="compares with MAPIE, pip install mapie")

TARGETS = [0.55, 0.7, 0.8, 0.9, 0.95]
N, Q = 61, 4


def simulated(seed):
    """Outputs and labels, at least one label in each row; 62 (1 - target) is no whole number of twelfths."""
    rng = np.random.default_rng(seed)
    outputs = rng.beta(0.6, 1.2, (N, Q))
    Y = (rng.random((N, Q)) < outputs).astype(int)
    Y[Y.sum(axis=1) == 0, rng.integers(Q)] = 1
    return outputs, Y


def of_neighbours():
    """The outputs of 7 nearest neighbours: multiples of 1/7, nothing but ties."""
    X, Y = make_multilabel_classification(
        200, n_features=6, n_classes=Q, allow_unlabeled=False, random_state=0
    )
    model = fit_base(KNeighborsClassifier(7), X[N:], Y[N:])
    return outputs_of(model, X[:N], Q), Y[:N]


DATA = {"continuous": simulated(0), "another": simulated(1), "ties": of_neighbours()}


def mapie_controller(outputs, Y, **parameters):
    controller = mapie.MultiLabelClassificationController(
        lambda rows: outputs[rows], risk="recall", method="crc", target_level=TARGETS, **parameters
    )
    return controller.calibrate(np.arange(len(Y)), Y)


@pytest.mark.parametrize("name", DATA)
def test_threshold_is_mapies_to_its_grid(name):
    outputs, Y = DATA[name]
    grid = np.arange(0, 1, 0.01)  # MAPIE's own
    controller = mapie_controller(outputs, Y)
    for target, parameter in zip(TARGETS, controller.best_predict_param, strict=True):
        threshold = control_recall(outputs, Y, target=target).threshold
        assert parameter == grid[grid < threshold].max()


@pytest.mark.parametrize("name", DATA)
def test_sets_are_mapies_where_its_grid_leaves_nothing_out(name):
    outputs, Y = DATA[name]
    grid = np.unique(np.append(outputs[Y == 1], 0.0))
    controller = mapie_controller(outputs, Y, predict_params=grid)
    all_sets = controller.predict(np.arange(N))
    for k, (target, parameter) in enumerate(
        zip(TARGETS, controller.best_predict_param, strict=True)
    ):
        predictor = control_recall(outputs, Y, target=target)
        assert parameter == grid[grid < predictor.threshold].max()
        theirs, ours = all_sets[:, :, k], predictor.predict(outputs) == 1
        between = (outputs > parameter) & (outputs < predictor.threshold)
        assert not Y[between].any()  # false labels that cost no recall
        np.testing.assert_array_equal(theirs, ours | between)
