"""What predictors are fitted on: objects, labels, unknown labels, groups and parameters.

Sample weights train, and that is all they do. A p-value is a rank among calibration examples, and
ranks are valid because the examples are exchangeable, however the model came about; an example that
counted twice among them would have no theorem behind it. For new objects from another population
there is ``weight=`` of the inductive predictor, which has one.

Examples with unknown labels train where the learner can use them. A labelset predictor is
calibrated with the examples whose whole labelset is known. These are exchangeable with new ones
where whether an example is complete depends neither on its object nor on its labels; otherwise what
is proven holds for new objects of the kind that would be complete. Where it depends on the object
alone, ``weight=`` makes up for it, with one over the probability of being complete. A label-wise
predictor counts, for each label, the examples where that label is known.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import _check_method_params

from labelsure._checks import BoolArray, IntArray, LabelMatrix, MatrixLike, as_array, n_rows
from labelsure.learners._adapter import learner_of_one_label
from labelsure.learners._members import check_sample_weight, weight_params
from labelsure.learners._tables import resolve_learner


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Checked examples.

    Attributes
    ----------
    X : array-like of n rows
        The objects.
    Y : int8 array of shape (n, q)
        Their labels, 0 where they are unknown.
    unknown : bool array of shape (n, q) or None
        Which labels are unknown; None where all are known, of examples taken too.
    groups : int64 array of shape (n,) or None
        The number of each example's group.
    params : mapping
        Parameters of the learner's ``fit``; values with a row per example, or not.
    """

    X: MatrixLike
    Y: LabelMatrix
    unknown: BoolArray | None = None
    groups: IntArray | None = None
    params: Mapping[str, Any] = field(default_factory=dict)

    def take(self, rows: IntArray) -> "TrainingData":
        """Return some of the examples; their groups are numbered anew, from 0."""
        groups, unknown = self.groups, self.unknown
        if groups is not None:
            groups = np.unique(groups[rows], return_inverse=True)[1].reshape(-1)
        if unknown is not None:
            unknown = unknown[rows] if unknown[rows].any() else None
        return TrainingData(
            _safe_indexing(self.X, rows),
            self.Y[rows],
            unknown,
            groups,
            _check_method_params(self.X, self.params, rows) if self.params else {},
        )

    @property
    def complete(self) -> BoolArray:
        """Which examples have no unknown label."""
        if self.unknown is None:
            return np.ones(len(self.Y), dtype=bool)
        complete: BoolArray = np.logical_not(np.any(self.unknown, axis=1))
        return complete

    def usable_by(self, estimator: Any) -> BoolArray:
        """Return which examples train the estimator: all where it learns one label at a time."""
        if self.unknown is None or learner_of_one_label(resolve_learner(estimator)) is not None:
            return np.ones(len(self.Y), dtype=bool)
        return self.complete

    @property
    def sample_weight(self) -> Any:
        """The weights by which a pool learns; None where there are none."""
        return self.params.get("sample_weight")


def check_groups(groups: Any, n_examples: int) -> IntArray:
    """Return the number of each example's group, 0, 1, ..., in the order of their names.

    Examples
    --------
    >>> check_groups(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    names = as_array(groups, name="groups", shape="(n_examples,)")
    if names.ndim != 1 or n_rows(names) != n_examples:
        raise ValueError(
            f"groups must name the group of each of the {n_examples} examples, got an array of"
            f" shape {names.shape}."
        )
    missing = names != names if names.dtype.kind in "fO" else np.zeros(0, dtype=bool)  # noqa: PLR0124 - NaN in any type
    if np.any(missing) or any(name is None for name in names if names.dtype.kind == "O"):
        raise ValueError(
            "groups must name the group of every example, got NaN or None. Give such examples"
            " groups of their own."
        )
    try:
        numbers: IntArray = np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.int64)
    except TypeError:
        raise ValueError("groups must be all numbers or all texts, got a mixture.") from None
    if numbers.max(initial=0) == 0:
        raise ValueError(
            "groups must be at least two: some train, others calibrate. All examples are in one"
            " group."
        )
    return numbers


def router_of(model: Any) -> MetadataRouter:
    """Return the router of a predictor: ``fit`` to its learner and its splitter (as ``cv``)."""
    to_fit = MethodMapping().add(caller="fit", callee="fit")
    to_split = MethodMapping().add(caller="fit", callee="split")
    router = MetadataRouter(owner=type(model).__name__).add_self_request(model)
    router.add(estimator=resolve_learner(model.estimator), method_mapping=to_fit)
    return router.add(cv=getattr(model, "cv", None), method_mapping=to_split)


def route_params(
    model: Any, X: MatrixLike, groups: Any, params: Mapping[str, Any], *, prefit: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of learner and splitter, or raise ValueError where unsupported."""
    params = {name: value for name, value in params.items() if value is not None}
    if prefit and params:
        raise ValueError(
            f"{min(params)} cannot be used with prefit=True, because the model is not refitted."
        )
    check_sample_weight(params.get("sample_weight"), X)
    if get_config()["enable_metadata_routing"]:
        cv = getattr(model, "cv", None)
        if groups is not None and get_routing_for_object(cv).consumes("split", ["groups"]):
            params["groups"] = groups
        if not params:
            return {}, {}
        routed = process_routing(model, "fit", **params)
        return routed["estimator"].fit, routed["cv"].split
    if unknown := set(params) - {"sample_weight"}:
        raise ValueError(
            f"fit got {min(unknown)}, which only scikit-learn's metadata routing can bring to the"
            " classifier and to the splitter: sklearn.set_config(enable_metadata_routing=True)."
        )
    if params:
        params = weight_params(
            resolve_learner(model.estimator), params["sample_weight"], "the estimator"
        )
    return params, {} if groups is None else {"groups": groups}
