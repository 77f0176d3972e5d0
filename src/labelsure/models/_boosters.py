"""LightGBM and XGBoost: what they have learned, in their own formats, which are texts."""

import json
import re
from typing import Any

import numpy as np

from labelsure.models._archive import ModelFileError
from labelsure.models._forests import are_trees

PACKAGES = {"lightgbm.basic": "lightgbm", "xgboost.core": "xgboost"}


def is_booster(thing: Any) -> bool:
    """Tell whether something is what LightGBM or XGBoost has learned."""
    return type(thing).__name__ == "Booster" and type(thing).__module__ in PACKAGES


def write_booster(booster: Any, number: int) -> tuple[dict[str, Any], str, bytes]:
    """Return the entry of a booster, and the name and contents of the member that holds it."""
    package, name = PACKAGES[type(booster).__module__], f"boosters/{number}.json"
    if package == "xgboost":
        return {"booster": package, "member": name, "best_iteration": None}, name, bytes(booster.save_raw("json"))
    text = json.dumps(booster.model_to_string(num_iteration=-1))
    return {"booster": package, "member": name, "best_iteration": int(booster.best_iteration)}, name, text.encode()


def read_booster(entry: dict[str, Any], data: bytes) -> Any:
    """Return a booster, its trees having been checked."""
    try:
        content = json.loads(data)
        if entry["booster"] == "xgboost":
            _check_xgboost(content)
            return _read_xgboost(data)
        if entry["booster"] == "lightgbm" and type(entry["best_iteration"]) is int:
            _check_lightgbm(content)
            return _read_lightgbm(content, entry["best_iteration"])
    except ModelFileError:
        raise
    except Exception as error:  # the packages have errors of their own
        raise ModelFileError(f"a booster is damaged: {error}") from error
    raise ModelFileError("a booster is of no package that is known")


def _read_xgboost(data: bytes) -> Any:
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(bytearray(data))
    return booster


def _read_lightgbm(text: str, best_iteration: int) -> Any:
    import lightgbm

    booster = lightgbm.Booster(model_str=text)
    booster.best_iteration = best_iteration
    return booster


def _check_xgboost(content: Any) -> None:
    learner = content["learner"]
    n_features = int(learner["learner_model_param"]["num_feature"])
    booster = learner["gradient_booster"]
    if booster["name"] != "gbtree":
        raise ModelFileError(f"boosters of XGBoost must be trees, got {str(booster['name'])[:20]!r}")
    for tree in booster["model"]["trees"]:
        parts = ("left_children", "right_children", "split_indices", "split_conditions", "default_left", "base_weights")
        left, right, feature, *others = (np.asarray(tree[name]) for name in parts)
        same = {len(left), int(tree["tree_param"]["num_nodes"])} == {len(part) for part in (right, feature, *others)}
        if (
            not same
            or tree["categories"]
            or not are_trees(left, right, left == -1, feature, np.array([len(left)]), n_features)
        ):
            raise ModelFileError("a tree of XGBoost is damaged, or splits by categories")


def _check_lightgbm(text: Any) -> None:
    """Check the lines of each tree that say where to go from a node."""
    if type(text) is not str:
        raise ModelFileError("a booster of LightGBM is no text")
    n_features = int(re.findall(r"^max_feature_idx=(\d+)$", text, re.M)[0]) + 1
    for block in re.split(r"^Tree=\d+$", text, flags=re.M)[1:]:
        lines = dict(re.findall(r"^(\w+)=(.*)$", block.partition("end of trees")[0], re.M))
        n_leaves = int(lines["num_leaves"])
        if n_leaves == 1:
            continue
        left, right, feature = (
            np.array(lines[name].split(), dtype=np.int64) for name in ("left_child", "right_child", "split_feature")
        )
        counts = {len(lines[name].split()) for name in ("threshold", "decision_type")} | {
            len(left),
            len(right),
            len(feature),
        }
        children = np.concatenate([left, right])
        inner, leaves = children[children >= 0], ~children[children < 0]
        after = (children[children >= 0] > np.tile(np.arange(n_leaves - 1), 2)[children >= 0]).all()
        whole = np.array_equal(np.sort(inner), np.arange(1, n_leaves - 1)) and np.array_equal(
            np.sort(leaves), np.arange(n_leaves)
        )
        within = feature.min() >= 0 and feature.max() < n_features and len(lines["leaf_value"].split()) == n_leaves
        if counts != {n_leaves - 1} or not after or not whole or not within or int(lines["num_cat"]):
            raise ModelFileError("a tree of LightGBM is damaged, or splits by categories")
