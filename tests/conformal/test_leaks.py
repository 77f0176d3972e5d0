"""Calibration examples do not influence their scores where folds share models and pool members.

Calibration labelsets are replaced by ones that are nowhere in the data: permuting them would leave
priors, pairs and frequencies as they are, and prove nothing.
"""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier, PooledClassifier, RecalibratedClassifier
from labelsure.learners import outputs_of

X, Y = make_multilabel_classification(n_samples=90, n_classes=4, n_labels=1, random_state=0)
Y = Y * (np.cumsum(Y, axis=1) <= 2)  # at most two labels: three and four are new
NEW = X[:20] + 0.5
LOGISTIC = OneVsRestClassifier(LogisticRegression())
MEMBERS = [("trees", ExtraTreesClassifier(5)), ("linear", LogisticRegression())]
LEARNERS = {
    "logistic": LOGISTIC,
    "pool": PooledClassifier(MEMBERS),
    "equal pool": PooledClassifier(MEMBERS, weights="equal"),
    "recalibrated": RecalibratedClassifier(LOGISTIC),
}


def scores_of_all(model, k):
    """The scores of all labelsets of new objects under fold k's model and measure."""
    outputs = outputs_of(model.models_[k], NEW, 4)
    every = np.array([[int(bit) for bit in f"{code:04b}"] for code in range(16)])
    energy = model.calibrator_.folds[k].measure.energy(
        np.repeat(outputs, 16, axis=0), X=np.repeat(NEW, 16, axis=0)
    )
    return energy.scores(np.tile(every, (len(NEW), 1)))


@pytest.mark.parametrize(
    ("learner", "measure"),
    [*[(learner, None) for learner in LEARNERS], ("logistic", "auto")],
    ids=str,
)
def test_calibration_labelsets_do_not_reach_the_scores_of_their_fold(learner, measure):
    n_folds = 7  # enough for folds to share the models of their out-of-fold outputs

    def fit(labels):
        return CrossConformalClassifier(
            LEARNERS[learner], measure=measure, cv=n_folds, random_state=0
        ).fit(X, labels)

    before = fit(Y)
    reached = []
    for k in (0, n_folds - 1):
        changed = Y.copy()
        changed[before.fold_indices_[k], :3] = 1
        after = fit(changed)
        assert np.array_equal(after.fold_indices_[k], before.fold_indices_[k])
        assert np.array_equal(scores_of_all(after, k), scores_of_all(before, k))
        reached.append(
            any(
                not np.array_equal(scores_of_all(after, j), scores_of_all(before, j))
                for j in (1, 2)
            )
        )
    assert all(reached)  # the change is one that scores of other folds notice
