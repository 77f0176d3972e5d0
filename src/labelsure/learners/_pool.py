"""Pools: several unlike classifiers side by side, their logits added up with learned weights."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import _BaseComposition

from labelsure._checks import FloatArray, as_numbers
from labelsure.learners._pool_base import LogitPool


@dataclass(eq=False, repr=False)
class PooledClassifier(LogitPool, _BaseComposition):
    r"""Several multi-label classifiers, their logits pooled with weights learned out of fold.

    With :math:`z_{jm}(x)` the logit that member m gives label j, the pool's is

    .. math:: u_j(x) = \sum_m w_{jm} z_{jm}(x) + b_j, \qquad w_{jm} = a_m + d_{jm} \ge 0 .

    Weights are learned by maximum likelihood (penalised, L-BFGS with the exact gradient) on logits
    of members that were not trained on the object, as in stacking [1]_ [2]_. What the labels share,
    :math:`a_m`, is learned from all of them; a label's own deviations :math:`d_{jm}` and intercept
    :math:`b_j` are held near the shared values by a Gaussian prior worth ``pseudo_examples``
    examples, so that rare labels fall back on what all labels say.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The members and their names. A classifier whose tags say that it learns one label at a time
        (LogisticRegression, SVC, gradient boosting) is fitted once per label. Members with
        ``predict_proba`` have its logits; the margins of members with ``decision_function`` alone
        are taken for logits as they are.
    weights : {"learned", "equal"} or array-like of shape (n_members,), default="learned"
        "equal": the mean of the logits, without intercepts; nothing is learned and no inner fold is
        fitted. An array gives the weights themselves, not negative; they are not scaled to add up
        to 1, because their sum says how sharp the pool is.
    cv : int, splitter or list of (train, test), default=5
        The inner folds, shuffled for an int, for learned weights. Every example must be tested
        once.
    pseudo_examples : float > 0, default=4.0
        The strength of the prior, in examples as informative as there can be.
    n_jobs : int or None, default=None
        Processes that fit members and folds; results do not depend on it.
    random_state : int, RandomState or None, default=None
        For the folds, and for every ``random_state`` inside the members that is None.

    Attributes
    ----------
    members_ : list of FittedBase
        The members, fitted on all rows.
    shared_weights_ : array of shape (n_members,)
        :math:`a_m`.
    weights_ : array of shape (n_labels, n_members)
        :math:`w_{jm}`.
    intercepts_ : array of shape (n_labels,)
        :math:`b_j`.
    out_of_fold_outputs_ : array of shape (n_objects, n_labels)
        What the pool says of the training rows by members that were not trained on them. All rows
        had a part in the weights. Not there where weights are fixed and ``fit`` needed no inner
        folds.
    n_examples_, n_labels_, n_features_in_ : int
        The numbers of training rows, labels and features.
    classes_ : list of n_labels arrays
        ``[0, 1]`` for every label.

    Notes
    -----
    Learning the weights costs ``cv`` more fits of every member. ``fit`` is :meth:`fit_members`,
    then :meth:`member_outputs` of copies fitted on the inner folds, then :meth:`learn_weights`;
    those who have out-of-fold logits from elsewhere call the first and the last.

    Probabilities of 0 and 1 get finite logits: o becomes (n o + 1/2) / (n + 1) for n training rows.

    References
    ----------
    .. [1] D. H. Wolpert (1992). Stacked generalization. Neural Networks 5, 241-259.
    .. [2] L. Breiman (1996). Stacked regressions. Machine Learning 24, 49-64.
    .. [3] J. C. Platt (1999). Probabilistic outputs for support vector machines and comparisons to
       regularized likelihood methods. Advances in Large Margin Classifiers, 61-74.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from sklearn.linear_model import LogisticRegression
    >>> from labelsure.learners import PooledClassifier
    >>> X, Y = make_multilabel_classification(n_samples=120, n_classes=3, random_state=0)
    >>> members = [("trees", ExtraTreesClassifier(20)), ("linear", LogisticRegression())]
    >>> pool = PooledClassifier(members, cv=3, random_state=0).fit(X[:100], Y[:100])
    >>> pool.predict_proba(X[100:]).shape, pool.weights_.shape, pool.out_of_fold_outputs_.shape
    ((20, 3), (3, 2), (100, 3))
    """

    estimators: Any
    _: KW_ONLY
    weights: Any = "learned"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with those of the members as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the members and their parameters too.
        """
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, a whole member by name, or a member's parameter as ``name__parameter``.

        Parameters
        ----------
        **params
            Their new values.
        """
        self._set_params("estimators", **params)
        return self

    def _named_members(self) -> list[tuple[str, Any]]:
        pairs = self.estimators if isinstance(self.estimators, list | tuple) else []
        if not pairs or any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in pairs):
            raise ValueError(
                "estimators must be a list of at least one (name, classifier), such as"
                f" [('trees', ExtraTreesClassifier()), ('linear', LogisticRegression())], got"
                f" {self.estimators!r}."
            )
        self._validate_names([str(name) for name, _ in pairs])
        return [(str(name), member) for name, member in pairs]

    def _fixed_weights(self, n_members: int) -> FloatArray | None:
        if isinstance(self.weights, str):
            if self.weights not in ("learned", "equal"):
                raise ValueError(
                    f"weights must be 'learned', 'equal' or {n_members} numbers, got"
                    f" {self.weights!r}."
                )
            return None if self.weights == "learned" else np.full(n_members, 1 / n_members)
        weights = as_numbers(self.weights, name="weights", shape=f"({n_members},)").astype(
            np.float64
        )
        if (
            weights.shape != (n_members,)
            or not (np.isfinite(weights) & (weights >= 0)).all()
            or not weights.any()
        ):
            raise ValueError(
                f"weights must be 'learned', 'equal' or {n_members} numbers, one per member, at"
                f" least 0 and not all 0, got {self.weights!r}."
            )
        return weights
