"""Which question to ask of a model: some of its objects are drawn, and every question is asked of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelsure._core.types import IntArray, LabelMatrixLike, MatrixLike
from labelsure._core.validation import (
    check_count,
    check_label_matrix,
    check_same_length,
    check_significance,
    is_list,
    n_rows,
)
from labelsure.decisions._advice import QUESTIONS, Advice
from labelsure.decisions._advise_questions import ASKING
from labelsure.decisions._advise_sample import MOST_LABELSETS, REGION_OBJECTS, Sample, take_objects
from labelsure.decisions._review import check_model
from labelsure.decisions._sureness import names_of_labels, rows_of
from labelsure.predictions import LabelsetPredictions, LabelWisePredictions

LEAST_EXAMPLES = 20


def advise(
    model: Any,
    X: MatrixLike = None,
    y: LabelMatrixLike | None = None,
    *,
    levels: Sequence[float] = (0.05, 0.1, 0.2),
    max_objects: int = 1000,
    random_state: Any = 0,
) -> Advice:
    """Say which question a model can answer for these data, with figures and the line of code that asks it.

    With a hundred labels a region of labelsets is right and says nothing; with five it may say everything. Each
    question is asked of the objects at each level, and how much the answers say is measured: by the labels they leave
    to look through, the labelsets that remain, or the objects that need no review.

    Parameters
    ----------
    model : fitted predictor or classifier, LabelsetPredictions or LabelWisePredictions
        Any conformal predictor of this package, any classifier for several labels, or predictions.
    X : array-like of shape (n_objects, n_features) or None, default=None
        Objects that neither trained nor calibrated the model; for a predictor that works on outputs, their outputs.
        None for predictions.
    y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels) or None, default=None
        Their labels, all known. Half of the examples, drawn at random, calibrate the questions that the model does not
        answer by itself, and the other half is asked about. Without labels, or with predictions, only the questions
        that the model answers by itself are measured.
    levels : sequence of float, default=(0.05, 0.1, 0.2)
        The errors to think about: significances of regions, one minus the target of recall, precision and cover, the
        share of wrong ones among the accepted.
    max_objects : int, default=1000
        At most so many objects are looked at, drawn at random (``advice.looked_at``); regions of labelsets of 100 at
        most, and at most 1000 labelsets of each are counted.
    random_state : int, RandomState or None, default=0
        For the draws.

    Returns
    -------
    Advice
        ``print`` it; ``advice.first`` is the answer to ask for first, ``advice.to_frame()`` a table.

    Notes
    -----
    An answer counts as worth asking for

    - labelsets: where half of the regions hold at most 10, and at most half of the labels are undecided;
    - at most h wrong labels, each label by itself, cover and recall: where no more labels are left to look through
      than about three times as many as are true, nor more than half of all. h is at most 10 and at most half of
      what calling each label as most objects have it gets wrong on average; and the first two must leave in half of
      the true labels;
    - precision: where at least half of the objects get a label;
    - review: where at least a fifth of the objects are accepted.

    These are rules of thumb for what to try, not promises. The figures are measured on the objects here; what is
    proven about an answer is in its own ``statement``. A question that was chosen by these figures should be calibrated
    with other examples than these: no proof covers a choice made with the examples that calibrate.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelsure import InductiveConformalClassifier, MLkNNClassifier, advise
    >>> X, y = make_multilabel_classification(n_samples=900, n_classes=3, length=200, random_state=0)
    >>> model = InductiveConformalClassifier(MLkNNClassifier(), random_state=0).fit(X[:500], y[:500])
    >>> advice = advise(model, X[500:], y[500:])
    >>> advice
    Advice(ask first: 'labelsets' at level 0.05; 3 labels)
    >>> advice.first.code
    'model.predict_labelsets(X_new).region(0.05)'
    >>> print(advice.first.words)
    half of the regions hold at most 1 labelset, and 8 % of the labels are undecided
    """
    asked = sorted(float(check_significance(level)) for level in (levels if is_list(levels) else [levels]))
    if not asked:
        raise ValueError("levels must hold at least one number between 0 and 1, got none. Pass (0.05, 0.1, 0.2).")
    sample = _draw(model, X, y, check_count(max_objects, name="max_objects", at_least=LEAST_EXAMPLES), random_state)
    answers = [ask(sample, level) for ask in ASKING.values() for level in asked]
    found = tuple(answer for answer in answers if answer is not None)
    missing = [name for name in QUESTIONS if name not in {answer.question for answer in found}]
    return Advice(found, sample.n_labels, _describe(sample), np.sort(sample.rows), _left_out(missing))


def _draw(model: Any, X: Any, y: Any, max_objects: int, random_state: Any) -> Sample:
    """Return the objects to ask about and the examples to calibrate with, or say what is missing."""
    if isinstance(model, LabelsetPredictions | LabelWisePredictions):
        if X is not None:
            raise ValueError("X goes with a model: predictions know their objects. Pass advise(predictions, y=y).")
        names: Any = model.label_names
        n_labels: Any = len(names)
        n_objects = len(model)
    else:
        check_model(model)
        names, n_labels = names_of_labels(model), getattr(model, "n_labels_", getattr(model, "n_labels", None))
        if X is None:
            raise ValueError("X is required with a model: pass objects that neither trained nor calibrated it.")
        if y is None and not any(hasattr(model, name) for name in ("predict_labelsets", "predict_labels")):
            raise ValueError(
                f"y is required with a {type(model).__name__}: it makes no conformal predictions by itself, so examples"
                " with labels that it has not seen have to calibrate them."
            )
        n_objects = n_rows(rows_of(model, X))
    labels = None if y is None else check_label_matrix(y, name="y", n_labels=n_labels, label_names=names)
    if labels is not None:
        check_same_length(range(n_objects), labels, names=("X", "y"))
    rows = np.asarray(check_random_state(random_state).permutation(n_objects)[:max_objects])
    return _split(model, X, labels, rows, n_labels)


def _split(model: Any, X: Any, labels: Any, rows: IntArray, n_labels: Any) -> Sample:
    """Return a sample, half of which calibrates where there is a model and labels."""
    if X is None:
        return Sample(model, n_labels, model[rows], rows, None if labels is None else labels[rows])
    if labels is None:
        return Sample(model, n_labels, take_objects(model, X, rows), rows)
    if len(rows) < LEAST_EXAMPLES:
        raise ValueError(
            f"X and y must hold at least {LEAST_EXAMPLES} examples, half of which calibrate, got {len(rows)}."
        )
    calibrating, asked = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    calibration = (take_objects(model, X, calibrating), labels[calibrating])
    return Sample(model, labels.shape[1], take_objects(model, X, asked), rows, labels[asked], calibration)


def _describe(sample: Sample) -> str:
    """Return a paragraph on what was measured."""
    words = f"{sample.n_labels} labels"
    if sample.Y is not None:
        words += f", of which an object has {sample.mean_labels:.1f} on average"
    words += f". Measured on {len(sample)} objects, drawn at random"
    if sample.calibration is not None:
        words += f", with {len(sample.calibration[1])} others to calibrate what the model itself does not answer"
    if sample.joint is None:
        return f"{words}."
    n_regions = min(len(sample), REGION_OBJECTS)
    return f"{words}; labelsets on {n_regions} of these objects, at most {MOST_LABELSETS} counted for each."


def _left_out(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    return (
        f"Not measured: {', '.join(missing)}. Pass a model with outputs, and X and y that it has not seen, to have all"
        " questions measured."
    )
