"""What comes with the rows of X and y: sample weights, groups, and whatever learner and splitter ask for.

Weights train, and that is all they do. A p-value is a rank among calibration examples, and ranks
are valid because the examples are exchangeable, however the model came about; an example that
counted twice among them would have no theorem behind it. For new objects from another population
there is ``weight=`` of the inductive predictor, which has one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import _check_method_params

from labelsure._checks import IntArray, MatrixLike, n_rows
from labelsure.conformal._groups import check_groups
from labelsure.conformal._splits import Split
from labelsure.learners._members import check_sample_weight, weight_params
from labelsure.learners._tables import resolve_learner


@dataclass(frozen=True, eq=False)
class Metadata:
    """What comes with rows beside features and labels, checked.

    Attributes
    ----------
    learner, splitter : mappings
        Parameters of the classifier's ``fit`` and of the splitter's ``split``; values with a row
        per example, or not.
    groups : int64 array of shape (n,) or None
        The number of each example's group.
    """

    learner: Mapping[str, Any] = field(default_factory=dict)
    splitter: Mapping[str, Any] = field(default_factory=dict)
    groups: IntArray | None = None

    def take(self, X: MatrixLike, rows: IntArray) -> "Metadata":
        """Return what comes with some of the rows of X; the groups among them are numbered anew, from 0."""
        groups = (
            None
            if self.groups is None
            else np.unique(self.groups[rows], return_inverse=True)[1].reshape(-1)
        )
        learner, splitter = (
            _check_method_params(X, params, rows) if params else {}
            for params in (self.learner, self.splitter)
        )
        return Metadata(learner, splitter, groups)

    @property
    def for_splits(self) -> dict[str, Any]:
        """Keywords of :func:`make_splits`."""
        return {"groups": self.groups, "split_params": self.splitter}

    @property
    def sample_weight(self) -> Any:
        """The weights by which a pool learns; None where there are none."""
        return self.learner.get("sample_weight")

    def check_training_parts(self, splits: Sequence[Split]) -> None:
        """Raise ValueError where a model would be trained on examples that all count nothing."""
        if self.sample_weight is None:
            return
        weights = np.asarray(self.sample_weight)
        for k, split in enumerate(splits):
            if not weights[split.train].any():
                raise ValueError(
                    f"sample_weight must not be 0 for all training examples of a fold, as of fold"
                    f" {k}."
                )


NO_METADATA = Metadata()


class RoutingMixin:
    """Hands metadata on to the classifier inside and to the splitter, as scikit-learn's meta-estimators do."""

    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - as scikit-learn's splitters by groups have it

    estimator: Any

    def get_metadata_routing(self) -> Any:
        """Return who is asked for what: this predictor, the classifier inside, and the splitter (as ``cv``)."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        to_fit, to_split = (
            MethodMapping().add(caller="fit", callee=callee) for callee in ("fit", "split")
        )
        router.add(estimator=self._inside, method_mapping=to_fit)
        return router.add(cv=getattr(self, "cv", None), method_mapping=to_split)

    @property
    def _inside(self) -> Any:
        return resolve_learner(self.estimator)

    def _route(
        self, X: MatrixLike, groups: Any, params: dict[str, Any], *, prefit: bool = False
    ) -> Metadata:
        """Return what learner and splitter get, or raise ValueError where somebody gets what it does not take."""
        params = {name: value for name, value in params.items() if value is not None}
        numbers = None if groups is None else check_groups(groups, n_rows(X))
        if prefit and params:
            raise ValueError(
                f"{min(params)} goes without prefit=True: a model that is fitted already is not"
                f" trained."
            )
        check_sample_weight(params.get("sample_weight"), X)
        cv = getattr(self, "cv", None)
        if get_config()["enable_metadata_routing"]:
            if groups is not None and get_routing_for_object(cv).consumes("split", ["groups"]):
                params["groups"] = groups
            if not params:
                return Metadata(groups=numbers)
            routed = process_routing(self, "fit", **params)
            return Metadata(routed["estimator"].fit, routed["cv"].split, numbers)
        if unknown := set(params) - {"sample_weight"}:
            raise ValueError(
                f"fit got {min(unknown)}, which only scikit-learn's metadata routing can bring to"
                f" the classifier and to"
                " the splitter: sklearn.set_config(enable_metadata_routing=True)."
            )
        learner = (
            weight_params(self._inside, params["sample_weight"], "the estimator") if params else {}
        )
        return Metadata(learner, {} if groups is None else {"groups": groups}, numbers)
