"""What pools of classifiers share: a list of members, their logits summed with learned weights."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit
from sklearn import get_config
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from labelsure._checks import (
    FloatArray,
    IntArray,
    LabelMatrix,
    LabelMatrixLike,
    MatrixLike,
    as_numbers,
    check_label_matrix,
    check_number,
    check_same_length,
)
from labelsure._parallel import one_thread
from labelsure._random import draw_seeds, set_missing_seeds
from labelsure.learners._base import MetaClassifier
from labelsure.learners._logit_pooling import Pooling, fixed_pooling, learn_pooling, pool_logits
from labelsure.learners._members import (
    Fold,
    check_sample_weight,
    fit_members,
    logits_of,
    make_folds,
    out_of_fold_logits,
    prepare_member,
    weight_params,
)


class Plan(NamedTuple):
    """What a fit of a pool needs: members with their seeds and fit parameters, and the splitter."""

    members: list[Any]
    params: list[dict[str, Any]]
    split_params: dict[str, Any]
    seed: int


@dataclass(eq=False, repr=False, kw_only=True)
class LogitPool(MetaClassifier):
    """Base of classifiers that add up the logits of their members."""

    cv: Any = 5
    pseudo_examples: float = 4.0
    n_jobs: int | None = None
    random_state: Any = None
    _learned_last = "weights_"

    @abstractmethod
    def _named_members(self) -> list[tuple[str, Any]]:
        """Return the members as the user passed them, with their names, or raise ValueError."""

    def _prepared_members(self) -> list[tuple[str, Any]]:
        """Return unfitted copies that accept several labels, with names, or raise ValueError."""
        return [
            (name, prepare_member(member, f"Member {name!r}"))
            for name, member in self._named_members()
        ]

    def _fixed_weights(self, n_members: int) -> FloatArray | None:  # noqa: ARG002
        """Return the members' weights where they are not learned."""
        return None

    def _make_folds(self, X: MatrixLike, Y: LabelMatrix, plan: Plan) -> list[Fold]:
        """Return the inner folds, or raise ValueError."""
        return make_folds(self.cv, X, Y, seed=plan.seed, split_params=plan.split_params)

    def _honest_logits(
        self, X: MatrixLike, Y: LabelMatrix, plan: Plan, folds: list[Fold]
    ) -> FloatArray:
        """Return out-of-fold logits of the members for the training rows, of shape (n, q, M)."""
        return out_of_fold_logits(plan.members, X, Y, folds, plan.params, self.n_jobs)

    @property
    def learns_from_folds(self) -> bool:
        """Whether ``fit`` takes inner folds, which can be shared by fits on overlapping data."""
        return self._fixed_weights(len(self._named_members())) is None

    def fit(
        self, X: MatrixLike, y: LabelMatrixLike, sample_weight: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the members, and learn their weights from out-of-fold outputs of copies.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The training objects, handed to the members as they are.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            Their labels, zeros and ones.
        sample_weight : array-like of shape (n_objects,) or None, default=None
            How often each example counts, for the members and for their weights in the pool. Where
            scikit-learn's metadata routing is off, every member must take it.
        **fit_params
            Further parameters that metadata routing brings to members and splitter; it must be on.
        """
        X, Y = self._check_fit(X, y)
        plan = self._plan({"sample_weight": sample_weight, **fit_params})
        check_sample_weight(sample_weight, X)
        learns = self._fixed_weights(len(plan.members)) is None
        folds = self._make_folds(X, Y, plan) if learns else []
        self._fit_members(X, Y, plan)
        if learns:
            self.learn_weights(self._honest_logits(X, Y, plan, folds), Y, sample_weight)
        return self

    def fit_members(self, X: MatrixLike, y: LabelMatrixLike, **fit_params: Any) -> Self:
        """Fit the members on all rows and nothing else: the first half of ``fit``.

        Who has out-of-fold logits already hands them to :meth:`learn_weights` and saves the inner
        folds.

        Parameters
        ----------
        X, y, **fit_params
            As for ``fit``.
        """
        X, Y = self._check_fit(X, y)
        self._fit_members(X, Y, self._plan(fit_params))
        return self

    def member_outputs(self, X: MatrixLike) -> FloatArray:
        """Return the members' logits.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels, n_members)
            Finite; not yet pooled.
        """
        X = self._check_objects(X, learned="members_")
        with one_thread():
            logits = [
                logits_of(member, X, self.n_labels_, self.n_examples_) for member in self.members_
            ]
        return np.stack(logits, axis=2)

    def learn_weights(
        self, logits: FloatArray, y: LabelMatrixLike, sample_weight: Any = None
    ) -> Self:
        """Learn the members' weights from out-of-fold logits: the second half of ``fit``.

        Parameters
        ----------
        logits : array of shape (n_objects, n_labels, n_members)
            What :meth:`member_outputs` of pools that were not fitted on the object returned. Rows
            may be others than those that the members are fitted on.
        y : array-like, sparse matrix or DataFrame of shape (n_objects, n_labels)
            The labels of these objects.
        sample_weight : array-like of shape (n_objects,) or None, default=None
            How often each example counts.
        """
        check_is_fitted(self, "members_")
        Y = check_label_matrix(y, name="y", n_labels=self.n_labels_)
        expected = (len(Y), self.n_labels_, len(self.members_))
        logits = as_numbers(logits, name="logits", shape=str(expected)).astype(
            np.float64, copy=False
        )
        if logits.shape != expected or not np.isfinite(logits).all():
            raise ValueError(
                f"logits must be finite numbers of shape {expected}, got an array of shape"
                f" {logits.shape}."
            )
        pooling = self._fixed_pooling()
        if pooling is None:
            strength = check_number(self.pseudo_examples, name="pseudo_examples", above=0)
            weights = check_sample_weight(sample_weight, Y)
            with one_thread():
                pooling = learn_pooling(logits, Y, pseudo_examples=strength, sample_weight=weights)
        self._keep(pooling)
        self.out_of_fold_outputs_: FloatArray = expit(pool_logits(logits, pooling))
        return self

    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the pooled probability of each label.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Between 0 and 1.
        """
        check_is_fitted(self)
        pooling = Pooling(self.shared_weights_, self.weights_, self.intercepts_)
        probabilities: FloatArray = expit(pool_logits(self.member_outputs(X), pooling))
        return probabilities

    def predict(self, X: MatrixLike) -> IntArray:
        """Return the labels whose pooled probability is above one half.

        Parameters
        ----------
        X : array-like of shape (n_objects, n_features)
            The objects.

        Returns
        -------
        array of shape (n_objects, n_labels)
            Zeros and ones.
        """
        return (self.predict_proba(X) > 0.5).astype(np.int64)

    def get_metadata_routing(self) -> Any:
        """Return the metadata requests of the pool, its members and the splitter (as ``cv``)."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        to_fit, to_split = (
            MethodMapping().add(caller="fit", callee=callee) for callee in ("fit", "split")
        )
        router.add(**dict(self._prepared_members()), method_mapping=to_fit)
        return router.add(cv=self.cv, method_mapping=to_split)

    def _check_fit(self, X: MatrixLike, y: LabelMatrixLike) -> tuple[MatrixLike, LabelMatrix]:
        """Check parameters and training data, and learn names and sizes."""
        fixed = self._fixed_weights(len(self._prepared_members()))
        if fixed is None:
            check_number(self.pseudo_examples, name="pseudo_examples", above=0)
        Y = check_label_matrix(y, name="y")
        X = self._check_objects(X, reset=True)
        check_same_length(X, Y, names=("X", "y"))
        self.n_examples_, self.n_labels_ = Y.shape
        self.classes_ = [np.array([0, 1]) for _ in range(self.n_labels_)]
        return X, Y

    def _plan(self, params: dict[str, Any]) -> Plan:
        """Return the metadata routed to each object, or raise ValueError if it is unsupported."""
        named = self._prepared_members()
        params = {name: value for name, value in params.items() if value is not None}
        *seeds, cv_seed = draw_seeds(self.random_state, len(named) + 1)
        members = [member for _, member in named]
        for member, seed in zip(members, seeds, strict=True):
            set_missing_seeds(member, seed)
        if params and get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params)
            return Plan(
                members, [routed[name].fit for name, _ in named], routed["cv"].split, cv_seed
            )
        if unknown := set(params) - {"sample_weight"}:
            raise ValueError(
                f"fit got {min(unknown)}, which only scikit-learn's metadata routing can bring to"
                " members and splitter: sklearn.set_config(enable_metadata_routing=True)."
            )
        own = [
            weight_params(member, params["sample_weight"], name) if params else {}
            for name, member in named
        ]
        return Plan(members, own, {}, cv_seed)

    def _fit_members(self, X: MatrixLike, Y: LabelMatrix, plan: Plan) -> None:
        for name in ("weights_", "out_of_fold_outputs_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self.members_ = fit_members(plan.members, X, Y, plan.params, self.n_jobs)
        fixed = self._fixed_pooling()
        if fixed is not None:
            self._keep(fixed)

    def _fixed_pooling(self) -> Pooling | None:
        weights = self._fixed_weights(len(self.members_))
        return None if weights is None else fixed_pooling(weights, self.n_labels_)

    def _keep(self, pooling: Pooling) -> None:
        self.shared_weights_, self.weights_, self.intercepts_ = pooling

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            members = [get_tags(member) for _, member in self._named_members()]
        except (ValueError, TypeError, AttributeError):  # fit will say what is wrong with them
            return tags
        tags.input_tags.sparse = all(member.input_tags.sparse for member in members)
        tags.input_tags.allow_nan = all(member.input_tags.allow_nan for member in members)
        return tags
