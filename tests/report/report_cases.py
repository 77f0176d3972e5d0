"""Predictions small enough for a report in a second."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier, calibrate_outputs

LABELS = ("sea", "sky & sun", "city", "</script><img src=x onerror=window.pwned=1>", "night")
EVIL = "\"><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>${title}"


def draw(n_objects, n_labels=5, seed=0):
    """Outputs of an imagined classifier, and labels that follow them."""
    rng = np.random.default_rng(seed)
    loadings = np.random.default_rng(7).normal(size=(2, n_labels))
    outputs = 1 / (1 + np.exp(0.5 - 1.8 * rng.normal(size=(n_objects, 2)) @ loadings))
    return outputs, (rng.random((n_objects, n_labels)) < outputs).astype(np.int8)


def some_predictions(n_objects=70, n_labels=5, n_calibration=150, **options):
    """Predictions for some objects, and the truth."""
    names = LABELS if n_labels == len(LABELS) else None
    predictor = calibrate_outputs(
        *draw(n_calibration, n_labels, seed=1), label_names=names, **options
    )
    outputs, labels = draw(n_objects, n_labels, seed=2)
    return predictor.predict_labelsets(outputs), labels


def cross_predictions(n_objects=30, guarantee="exact"):
    """Predictions of a guarantee, by default one whose regions are made anew for each level, and the truth."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90 + n_objects, 4))
    Y = (X[:, :3] + rng.normal(size=(len(X), 3)) > 0).astype(int)
    model = CrossConformalClassifier(
        OneVsRestClassifier(LogisticRegression()), cv=3, guarantee=guarantee, random_state=0
    )
    return model.fit(X[:90], Y[:90]).predict_labelsets(X[90:]), Y[90:]


def names_of(n_objects):
    """Names of objects, the first one a trap."""
    return [EVIL, *(f"photo {i:03d}" for i in range(1, n_objects))]
