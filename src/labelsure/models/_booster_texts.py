"""The text formats of LightGBM and XGBoost, checked word by word: their own readers trust what they read.

A count that is wrong in one of these texts ends the program. So only texts are let through whose every line, key and
number is where the packages themselves would write it.
"""

import re
from typing import Any

import numpy as np

from labelsure.models._archive import ModelFileError
from labelsure.models._arrays import Array
from labelsure.models._forests import are_trees

NUMBERS = re.compile(r"(-?(inf|nan|\d+(\.\d+)?(e[-+]?\d+)?)( |$))*")
HEADER = re.compile(
    r"tree\nversion=v4\nnum_class=(?P<n_classes>\d{1,5})\nnum_tree_per_iteration=(?P<n_groups>\d{1,5})\nlabel_index=\d+\n"
    r"max_feature_idx=(?P<last>\d{1,9})\nobjective=[\w:. -]+\n(average_output\n)?feature_names=(?P<names>[^\n]+)\n"
    r"(monotone_constraints=(?P<monotone>[-\d ]+)\n)?feature_infos=(?P<infos>[^\n]+)\ntree_sizes=(?P<sizes>[\d ]+)\n\n"
)
SPLITS = ("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child")
LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
INTERNAL = ("internal_value", "internal_weight", "internal_count")
CATEGORIES = ("cat_boundaries", "cat_threshold")
MOST_OUTPUTS = 10_000

Json = Any


def cut_lightgbm(text: str) -> str:
    """Return what predictions depend on: all but importances and parameters of training."""
    trees, end, rest = text.partition("end of trees\n")
    return f"{trees}{end}\n{rest[rest.rindex('pandas_categorical:') :]}"


def check_lightgbm(text: Json) -> None:
    """Raise ModelFileError unless a text is what LightGBM writes, and its trees lead nowhere else."""
    if type(text) is not str or not text.isascii():
        raise ModelFileError("a booster of LightGBM is no plain text")
    head, (trees, end, rest) = HEADER.match(text), text.partition("end of trees\n")
    if head is None or not end or not re.fullmatch(r"\npandas_categorical:[^\n]*\n", rest):
        raise ModelFileError("a booster of LightGBM does not begin or end as it should")
    blocks = re.split(r"^(?=Tree=)", trees[head.end() :], flags=re.M)[1:]
    n_features, n_groups = int(head["last"]) + 1, int(head["n_groups"])
    lists = [head[name].split() for name in ("names", "infos", "monotone") if head[name] is not None]
    if [len(block) for block in blocks] != [int(size) for size in head["sizes"].split()] or any(
        len(one) != n_features for one in lists
    ):
        raise ModelFileError("the trees or features of LightGBM are not as many as it says")
    if not 1 <= n_groups == int(head["n_classes"]) <= MOST_OUTPUTS or len(blocks) % n_groups:
        raise ModelFileError("the outputs of LightGBM are not as many as it says")
    for number, block in enumerate(blocks):
        if not _is_lightgbm_tree(block, number, n_features):
            raise ModelFileError("a tree of LightGBM is damaged")


def _is_lightgbm_tree(block: str, number: int, n_features: int) -> bool:
    pairs = [line.partition("=")[::2] for line in block.rstrip("\n").split("\n")]
    lines = dict(pairs)
    categories = CATEGORIES if lines.get("num_cat", "0") != "0" else ()
    order = ("Tree", "num_leaves", "num_cat", *SPLITS, *LEAVES, *INTERNAL, *categories, "is_linear", "shrinkage")
    if tuple(key for key, _ in pairs) != order or not all(NUMBERS.fullmatch(words) for words in lines.values()):
        return False
    parts = {key: words.split() for key, words in pairs}
    (n_leaves,), (n_cat,) = map(int, parts["num_leaves"]), map(int, parts["num_cat"])
    n_splits = n_leaves - 1
    counts = all(len(parts[key]) == n_splits for key in (*SPLITS, *INTERNAL)) and all(
        len(parts[key]) == n_leaves or (n_splits == 0 and key != "leaf_value") for key in LEAVES
    )
    if not counts or n_leaves < 1 or parts["is_linear"] != ["0"] or parts["Tree"] != [str(number)]:
        return False
    if n_splits == 0:
        return n_cat == 0
    left, right, feature, kind = (
        np.array([int(word) for word in parts[key]])
        for key in ("left_child", "right_child", "split_feature", "decision_type")
    )
    by_category = np.flatnonzero(kind & 1)
    which = [float(parts["threshold"][node]) for node in by_category]
    fine = kind.min() >= 0 and kind.max() < 12 and all(one in range(n_cat) for one in which)
    return fine and (not n_cat or _are_categories(parts, n_cat)) and _leads_to_leaves(left, right, feature, n_features)


def _are_categories(parts: dict[str, list[str]], n_cat: int) -> bool:
    limits, words = ([int(word) for word in parts[key]] for key in CATEGORIES)
    ascending = len(limits) == n_cat + 1 and limits[0] == 0 and limits == sorted(limits) and limits[-1] == len(words)
    return ascending and all(0 <= word < 2**32 for word in words)


def _leads_to_leaves(left: Array, right: Array, feature: Array, n_features: int) -> bool:
    """Tell whether a tree whose leaves are counted as -1, -2, ... is one, by giving leaves places after the nodes."""
    n_splits = len(left)
    leaf = np.concatenate([np.zeros(n_splits, dtype=bool), np.ones(n_splits + 1, dtype=bool)])
    below = leaf[n_splits:]
    first, second = (np.concatenate([np.where(side < 0, n_splits - 1 - side, side), below]) for side in (left, right))
    return are_trees(first, second, leaf, np.concatenate([feature, below]), np.array([len(leaf)]), n_features)


ARRAYS = ("base_weights", "default_left", "left_children", "loss_changes", "parents", "right_children")
TREE = {*ARRAYS, "split_conditions", "split_indices", "split_type", "sum_hessian", "tree_param", "id"}
NO_CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
WHOLE = ("default_left", "left_children", "parents", "right_children", "split_indices", "split_type")


def check_xgboost(content: Json) -> None:
    """Raise ModelFileError unless a description is what XGBoost writes, and its trees lead nowhere else."""
    learner, booster = content["learner"], content["learner"]["gradient_booster"]
    if booster["name"] != "gbtree":
        raise ModelFileError(f"boosters of XGBoost must be of the kind 'gbtree', got {str(booster['name'])[:20]!r}")
    params = {name: _number(value) for name, value in learner["learner_model_param"].items() if name != "base_score"}
    n_features, n_outputs = params["num_feature"], max(params["num_class"], 1) * params["num_target"]
    model, texts = (
        booster["model"],
        [*learner["attributes"].items(), *learner["feature_names"], *learner["feature_types"]],
    )
    n_trees, info, limits = len(model["trees"]), model["tree_info"], model["iteration_indptr"]
    fine = (
        set(content) == {"learner", "version"}
        and [type(part) for part in content["version"]] == [int] * 3
        and 0 < n_features < 2**31
        and 0 < n_outputs <= MOST_OUTPUTS
        and not any(model.get("cats", {}).values())
        and all(type(word) is str for one in texts for word in (one if isinstance(one, tuple) else [one]))
        and all(len(learner[name]) in (0, n_features) for name in ("feature_names", "feature_types"))
        and _number(model["gbtree_model_param"]["num_trees"]) == n_trees == len(info)
        and 1 <= _number(model["gbtree_model_param"]["num_parallel_tree"]) <= n_trees
        and all(type(one) is int for one in (*info, *limits))
        and all(0 <= one < n_outputs for one in info)
        and limits[0] == 0
        and limits[-1] == n_trees
        and limits == sorted(limits)
        and _is_objective(learner["objective"])
        and re.fullmatch(r"\[?[-+\d.eE,]+\]?", learner["learner_model_param"]["base_score"]) is not None
    )
    in_order = [tree["id"] for tree in model["trees"]] == list(range(n_trees))
    if not fine or not in_order or not all(_is_xgboost_tree(tree, n_features) for tree in model["trees"]):
        raise ModelFileError("a booster of XGBoost splits by categories, or is damaged")


def _is_objective(objective: Json) -> bool:
    groups = [part for name, part in objective.items() if name != "name"]
    values = [value for part in groups for value in part.values()]
    return bool(re.fullmatch(r"[a-z:]+", objective["name"])) and all(_number(value) is not None for value in values)


def _number(word: Json) -> Any:
    """Return a number that is written as a text."""
    if type(word) is not str or not re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", word):
        raise ModelFileError("a booster of XGBoost has no number where one belongs")
    return int(word) if re.fullmatch(r"-?\d+", word) else float(word)


def _is_xgboost_tree(tree: Json, n_features: int) -> bool:
    if set(tree) != TREE | set(NO_CATEGORIES) or any(tree[name] for name in NO_CATEGORIES):
        return False
    parts = {name: tree[name] for name in TREE - {"tree_param", "id"}}
    if any(type(one) not in ((int,) if name in WHOLE else (int, float)) for name in parts for one in parts[name]):
        return False
    n_nodes = len(parts["left_children"])
    left, right, feature = (np.array(parts[name]) for name in ("left_children", "right_children", "split_indices"))
    leaf = left == -1
    params = {name: _number(value) for name, value in tree["tree_param"].items()}
    return (
        {len(part) for part in parts.values()} == {n_nodes}
        and params == {"num_deleted": 0, "num_feature": n_features, "num_nodes": n_nodes, "size_leaf_vector": 1}
        and set(parts["default_left"]) <= {0, 1}
        and set(parts["split_type"]) <= {0}
        and bool((right[leaf] == -1).all())
        and are_trees(left, right, leaf, feature, np.array([n_nodes]), n_features)
        and _know_parents(parts["parents"], left, right, leaf)
    )


def _know_parents(parents: list[int], left: Array, right: Array, leaf: Array) -> bool:
    nodes = np.flatnonzero(~leaf)
    expected = np.full(len(leaf), 2**31 - 1)
    expected[left[nodes]], expected[right[nodes]] = nodes, nodes
    return expected.tolist() == parents
