"""Learners of one label at a time, each fitted on the rows where its label is known."""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _check_method_params

from labelsure._checks import BoolArray, FloatArray, LabelMatrix, MatrixLike
from labelsure.learners._adapter import FittedBase, fit_base, outputs_of


class LabelByLabel:
    """A fitted classifier per label, which need not have been fitted on the same rows.

    Parameters
    ----------
    models : list of FittedBase
        One per label.
    """

    def __init__(self, models: list[FittedBase]) -> None:
        self.models = models

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the outputs of all labels, (n_objects, n_labels)."""
        return np.column_stack([outputs_of(model, X, 1) for model in self.models])


def learner_of_one_label(estimator: Any) -> Any:
    """Return the classifier inside an estimator that learns each label by itself, None where it learns all together.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> learner_of_one_label(OneVsRestClassifier(LogisticRegression()))
    LogisticRegression()
    >>> learner_of_one_label(RandomForestClassifier()) is None
    True
    """
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.multioutput import MultiOutputClassifier

    if isinstance(estimator, OneVsRestClassifier | MultiOutputClassifier):
        return estimator.estimator
    tags = get_tags(estimator) if hasattr(estimator, "__sklearn_tags__") else None
    if tags is None or tags.classifier_tags is None:
        return None
    return None if tags.classifier_tags.multi_label or tags.target_tags.multi_output else estimator


def fit_known(
    estimator: Any, X: MatrixLike, Y: LabelMatrix, unknown: BoolArray, **fit_params: Any
) -> FittedBase:
    """Fit a copy of a learner of one label for every label, on the rows where it is known.

    A classifier that sees only these rows learns what it should where, given the object, whether a
    label is known does not depend on its value.

    Parameters
    ----------
    estimator : classifier
        One in which :func:`learner_of_one_label` finds a learner.
    X, Y
        As for :func:`fit_base`; Y is not looked at where it is unknown.
    unknown : bool array of shape (n_objects, n_labels)
        Which entries of Y are not known.
    **fit_params
        As for :func:`fit_base`; values with a row per object are cut like X.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0]], np.array([[0, 0], [1, 0], [1, 1]])
    >>> unknown = np.array([[False, False], [False, True], [False, False]])
    >>> outputs_of(fit_known(LogisticRegression(), X, Y, unknown), [[1.0]], 2).round(2).tolist()
    [[0.68, 0.5]]
    """
    single = learner_of_one_label(estimator)
    if single is None:
        raise ValueError(
            f"{estimator!r} learns all labels together, and some are unknown (NaN). Fit one per"
            f" label:"
            f" MultiOutputClassifier({type(estimator).__name__}()), or leave out examples with NaN."
        )
    models = []
    for label in range(Y.shape[1]):
        rows = np.flatnonzero(~unknown[:, label])
        if len(rows) == 0:
            raise ValueError(
                f"Label {label} is unknown (NaN) for all examples that a model is trained on. Use"
                f" fewer folds, or leave"
                " the label out."
            )
        own = _check_method_params(X, fit_params, rows)
        models.append(fit_base(single, _safe_indexing(X, rows), Y[rows, label : label + 1], **own))
    everything = np.ones(Y.shape[1], dtype=bool)
    return FittedBase(LabelByLabel(models), learned=everything, fixed=np.full(Y.shape[1], np.nan))
