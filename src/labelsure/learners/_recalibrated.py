"""Recalibrated classifiers: Platt scaling per label, a pool with one member."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelsure._checks import FloatArray, LabelMatrix, MatrixLike
from labelsure.learners._logit_pooling import smoothed_logits
from labelsure.learners._members import Fold
from labelsure.learners._pool_base import LogitPool, Plan

OUT_OF_BAG = "out-of-bag"


@dataclass(eq=False, repr=False)
class RecalibratedClassifier(LogitPool):
    r"""Platt scaling for each label of a multi-label classifier, shrunk where a label is rare.

    With :math:`z_j(x)` the classifier's logit of label j, the recalibrated probability is :math:`1
    / (1 + \exp(-w_j z_j(x) - b_j))` [1]_. Slope :math:`w_j \ge 0` and intercept :math:`b_j` are
    learned by maximum likelihood from logits of copies that were not trained on the object. A
    Gaussian prior worth ``pseudo_examples`` examples holds them near what the labels share, so that
    rare labels fall back on the scaling of all. It is :class:`PooledClassifier` with one member.

    Parameters
    ----------
    estimator : classifier
        Any that :class:`PooledClassifier` takes.
    cv : int, splitter, list of (train, test) or "out-of-bag", default=5
        The inner folds. "out-of-bag", for forests that draw samples (``RandomForestClassifier()``,
        ``ExtraTreesClassifier(bootstrap=True)``, or a pipeline that ends in one): each object's
        logit comes from the trees whose sample it is not in, and no further fit is needed.
    pseudo_examples : float > 0, default=4.0
        The strength of the prior, in examples as informative as there can be.
    n_jobs : int or None, default=None
        Processes that fit folds; results do not depend on it.
    random_state : int, RandomState or None, default=None
        For the folds, and for every ``random_state`` inside the classifier that is None.

    Attributes
    ----------
    members_ : list of one FittedBase
        The classifier, fitted on all rows.
    shared_weights_, weights_, intercepts_ : arrays of shape (1,), (n_labels, 1) and (n_labels,)
        The slope that labels share, the labels' slopes and their intercepts.
    out_of_fold_outputs_ : array of shape (n_objects, n_labels)
        Recalibrated probabilities of the training rows, from copies or trees that were not trained
        on them.
    n_examples_, n_labels_, n_features_in_ : int
        The numbers of training rows, labels and features.
    classes_ : list of n_labels arrays
        ``[0, 1]`` for every label.

    References
    ----------
    .. [1] J. C. Platt (1999). Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods. Advances in Large Margin Classifiers, 61-74.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.metrics import log_loss
    >>> from labelsure.learners import RecalibratedClassifier
    >>> X, Y = make_multilabel_classification(n_samples=400, n_classes=3, random_state=0)
    >>> forest = RandomForestClassifier(50, random_state=0)
    >>> model = RecalibratedClassifier(forest, cv="out-of-bag").fit(X[:300], Y[:300])
    >>> model.predict_proba(X[300:]).shape
    (100, 3)
    >>> bool(model.shared_weights_[0] > 1)  # a forest is less sure than it could be
    True
    """

    estimator: Any

    def _named_members(self) -> list[tuple[str, Any]]:
        return [("estimator", self.estimator)]

    @property
    def _from_bags(self) -> bool:
        return isinstance(self.cv, str) and self.cv == OUT_OF_BAG

    @property
    def learns_from_folds(self) -> bool:
        """Whether ``fit`` takes inner folds."""
        return not self._from_bags

    def _prepared_members(self) -> list[tuple[str, Any]]:
        ((name, member),) = super()._prepared_members()
        if self._from_bags:
            forest = _last_step(member)
            if not getattr(forest, "bootstrap", False) or not hasattr(forest, "oob_score"):
                raise ValueError(
                    "cv='out-of-bag' needs a forest whose trees see samples, such as"
                    " RandomForestClassifier() or ExtraTreesClassifier(bootstrap=True), got"
                    f" {self.estimator!r}. Use cv=5 for other classifiers."
                )
            forest.set_params(oob_score=True)
        return [(name, member)]

    def _make_folds(self, X: MatrixLike, Y: LabelMatrix, plan: Plan) -> list[Fold]:
        return [] if self._from_bags else super()._make_folds(X, Y, plan)

    def _honest_logits(
        self, X: MatrixLike, Y: LabelMatrix, plan: Plan, folds: list[Fold]
    ) -> FloatArray:
        if not self._from_bags:
            return super()._honest_logits(X, Y, plan, folds)
        varying = np.ptp(Y, axis=0) > 0
        outputs = np.tile(Y[0].astype(np.float64), (len(Y), 1))
        # a forest that keeps such records is fitted on the labels that vary, and on no others
        if varying.any():
            answers = _last_step(self.members_[0].estimator).oob_decision_function_
            outputs[:, varying] = _read_bags(answers.reshape(len(Y), 2, -1))
        return smoothed_logits(outputs, len(Y))[:, :, np.newaxis]


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator


def _read_bags(answers: FloatArray) -> FloatArray:
    """Return P(label on) from (n, 2, q) out-of-bag answers, zero where an object is never out."""
    missing = ~(answers.sum(axis=1) > 0)
    if missing.any():
        raise ValueError(
            f"cv='out-of-bag' needs trees that have not seen the object, got"
            f" {int(missing.any(axis=1).sum())} objects"
            " that are in the sample of every tree. Use more trees, or cv=5."
        )
    return answers[:, 1]
