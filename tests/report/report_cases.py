"""Predictions small enough for a fast report, and a report parsed as its script parses it."""

import base64
import json
import re
import zlib
from types import SimpleNamespace

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from labelsure import CrossConformalClassifier, calibrate_outputs
from labelsure.report import write_report

LABELS = ("sea", "sky & sun", "city", "</script><img src=x onerror=window.pwned=1>", "night")
EVIL = "\"><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>${title}"
FINE = (*range(10, 900, 10), *range(900, 1000))
COARSE = (500, 600, 700, 750, 800, 850, 900, 950, 990)
DTYPES = {"Uint8Array": "u1", "Uint16Array": "<u2", "Uint32Array": "<u4", "Float64Array": "<f8"}


def draw(n_objects, n_labels=5, seed=0):
    """Outputs of an imagined classifier, and labels that follow them."""
    rng = np.random.default_rng(seed)
    loadings = np.random.default_rng(7).normal(size=(2, n_labels))
    outputs = 1 / (1 + np.exp(0.5 - 1.8 * rng.normal(size=(n_objects, 2)) @ loadings))
    return outputs, (rng.random((n_objects, n_labels)) < outputs).astype(np.int8)


def some_predictions(n_objects=70, n_labels=5, n_calibration=150, **options):
    """Predictions for some objects, and the truth."""
    options["label_names"] = LABELS if n_labels == len(LABELS) else None
    predictor = calibrate_outputs(*draw(n_calibration, n_labels, seed=1), **options)
    outputs, labels = draw(n_objects, n_labels, seed=2)
    return predictor.predict_labelsets(outputs), labels


def cross_predictions(n_objects=30, guarantee="exact"):
    """Predictions of a guarantee, by default one with level-dependent regions, and the truth."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90 + n_objects, 4))
    Y = (X[:, :3] + rng.normal(size=(len(X), 3)) > 0).astype(int)
    learner = OneVsRestClassifier(LogisticRegression())
    model = CrossConformalClassifier(learner, cv=3, guarantee=guarantee, random_state=0)
    return model.fit(X[:90], Y[:90]).predict_labelsets(X[90:]), Y[90:]


def names_of(n_objects):
    """Names of objects, the first one a trap."""
    return [EVIL, *(f"photo {i:03d}" for i in range(1, n_objects))]


def page_of(folder, predictions, labels=None, **options):
    """Return the text of a report."""
    path = write_report(folder / "report.html", predictions, labels, **options)
    return path.read_text(encoding="utf-8")


def facts_of(folder, predictions, labels=None, **options):
    """Return what the script of a report reads, with sizes and codes in the shapes of Python."""
    page = page_of(folder, predictions, labels, **options)
    packed = re.search(r'id="data">([^<]*)<', page)[1]
    data = zlib.decompress(base64.b64decode(packed))
    length = int.from_bytes(data[:8], "little")
    facts = SimpleNamespace(**json.loads(data[8 : 8 + length]))
    for name, about in facts.arrays.items():
        first = 8 + length + about["offset"]
        values = np.frombuffer(data, DTYPES[about["kind"]], about["length"], first)
        setattr(facts, name, values)
    if facts.sizesInBytes:
        grown = facts.sizes.reshape(4, -1).astype(np.int64) * 256 ** np.arange(4)[:, None]
        facts.sizes = grown.sum(axis=0).reshape(len(facts.perMille), -1).cumsum(axis=0)
    facts.sizes = facts.sizes.reshape(len(facts.perMille), -1)
    facts.labelCodes = facts.labelCodes.reshape(len(facts.labels), 2, -1).transpose(2, 0, 1)
    facts.topCodes = facts.topCodes.reshape(3, -1).T
    return facts


def members(facts, codes, per_mille):
    """Return what is in the regions at a level, by codes."""
    place = facts.perMille.index(per_mille)
    return place >= codes if facts.nested else (codes >> place & 1) == 1
