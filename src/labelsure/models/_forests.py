"""Many trees at once: the nodes of a forest as columns, checked together, instead of thousands of small objects."""

from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np

from labelsure.models._archive import ModelFileError
from labelsure.models._arrays import Array

N_BITSET_WORDS = 8
OWN = ("random_state", "tree_")
"""In what the trees of a forest differ."""


def are_trees(left: Array, right: Array, leaf: Array, feature: Array, sizes: Array, n_features: int) -> bool:
    """Tell whether nodes, tree after tree, are trees: children come after their parents, each once, features are there.

    Parameters
    ----------
    left, right, feature : int arrays of shape (N,)
        Of each node; children are counted from the first node of the tree.
    leaf : bool array of shape (N,)
        Nodes without children.
    sizes : int array of shape (T,)
        How many nodes each tree has.
    n_features : int
        How many there are.

    Examples
    --------
    >>> left, right, feature = np.array([1, -1, -1]), np.array([2, -1, -1]), np.array([0, -2, -2])
    >>> sizes = np.array([3])
    >>> [are_trees(left, right, left == -1, feature, sizes, n) for n in (1, 0)]
    [True, False]
    """
    if sizes.ndim != 1 or (sizes < 1).any() or int(sizes.sum()) != len(leaf):
        return False
    starts = np.cumsum(sizes) - sizes
    start, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    nodes = np.flatnonzero(~leaf)
    parents = np.tile(nodes, 2)
    children = np.concatenate([left[nodes], right[nodes]]).astype(np.int64)
    if not ((children > parents - start[parents]) & (children < size[parents])).all():
        return False
    not_first = np.delete(np.arange(len(leaf)), starts)
    once = np.array_equal(np.sort(children + start[parents]), not_first)
    return once and bool(((feature[nodes] >= 0) & (feature[nodes] < n_features)).all())


def depths_of(left: Array, right: Array, leaf: Array, sizes: Array) -> Array:
    """Return the depth of each of some trees, see :func:`are_trees`."""
    starts = np.cumsum(sizes) - sizes
    tree, start = np.repeat(np.arange(len(sizes)), sizes), np.repeat(starts, sizes)
    depths, level = np.zeros(len(sizes), dtype=np.int64), starts
    while len(inner := level[~leaf[level]]):
        depths[np.unique(tree[inner])] += 1
        level = np.concatenate([left[inner], right[inner]]) + np.tile(start[inner], 2)
    return depths


def pack_forest(trees: Any) -> tuple[Any, dict[str, Any]] | None:
    """Return a tree without what is its own, and the columns of all trees; None where they differ in more."""
    if not isinstance(trees, list) or not trees:
        return None
    first = {name: value for name, value in vars(trees[0]).items() if name not in OWN}
    seeds = [vars(tree).get("random_state") for tree in trees]
    if not all(type(seed) in (int, np.int64, np.int32) for seed in seeds):
        return None
    for tree in trees:
        rest = {name: value for name, value in vars(tree).items() if name not in OWN}
        if type(tree) is not type(trees[0]) or not hasattr(tree, "tree_") or not _same(rest, first):
            return None
    states = [tree.tree_.__getstate__() for tree in trees]
    if any(set(state) != {"max_depth", "node_count", "nodes", "values"} for state in states):
        return None
    template = copy(trees[0])
    for name in OWN:
        delattr(template, name)
    return template, {
        "seeds": np.array(seeds, dtype=np.int64),
        "depths": np.array([state["max_depth"] for state in states], dtype=np.int64),
        "sizes": np.array([len(state["nodes"]) for state in states], dtype=np.int64),
        "nodes": _columns([state["nodes"] for state in states]),
        "values": np.concatenate([state["values"] for state in states]),
    }


def unpack_forest(template: Any, columns: dict[str, Any]) -> list[Any]:
    """Return the trees of a forest, having checked them all."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    sizes, depths, values = columns["sizes"], columns["depths"], columns["values"]
    n_classes = np.atleast_1d(np.asarray(template.n_classes_ if hasattr(template, "n_classes_") else 1))
    shape = int(template.n_features_in_), n_classes.astype(np.intp), int(template.n_outputs_)
    if not hasattr(template, "n_classes_"):
        shape = shape[0], np.ones(shape[2], dtype=np.intp), shape[2]
    nodes = _records(columns["nodes"], NODE_DTYPE)
    leaf = nodes["left_child"] == -1
    parts = nodes["left_child"], nodes["right_child"], leaf
    fine = (
        {len(columns["seeds"]), len(depths)} == {len(sizes)}
        and are_trees(*parts, nodes["feature"], sizes, shape[0])
        and bool((nodes["right_child"][leaf] == -1).all() and (depths >= depths_of(*parts, sizes)).all())
        and values.dtype == np.float64
        and values.shape == (len(nodes), shape[2], int(max(shape[1])))
        and len(shape[1]) == shape[2]
    )
    if not fine:
        raise ModelFileError("the trees of a forest are damaged")
    trees = []
    for i, (start, stop) in enumerate(_limits(sizes)):
        grown = Tree(*shape)
        state = {"nodes": nodes[start:stop].copy(), "values": np.ascontiguousarray(values[start:stop])}
        grown.__setstate__({"max_depth": int(depths[i]), "node_count": stop - start, **state})
        tree = copy(template)
        tree.random_state, tree.tree_ = int(columns["seeds"][i]), grown
        trees.append(tree)
    return trees


def pack_boosting(iterations: Any) -> dict[str, Any]:
    """Return the columns of the trees of histogram boosting, iteration after iteration."""
    trees = [tree for iteration in iterations for tree in iteration]
    return {
        "iterations": np.array([len(iteration) for iteration in iterations], dtype=np.int64),
        "sizes": np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
        "nodes": _columns([tree.nodes for tree in trees]),
        "n_bitsets": np.array([len(tree.raw_left_cat_bitsets) for tree in trees], dtype=np.int64),
        "raw": np.concatenate([tree.raw_left_cat_bitsets for tree in trees]),
        "binned": np.concatenate([tree.binned_left_cat_bitsets for tree in trees]),
    }


def unpack_boosting(columns: dict[str, Any]) -> list[list[Any]]:
    """Return the trees of histogram boosting, having checked them but for the number of features."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    sizes, counts, raw, binned = (columns[name] for name in ("sizes", "n_bitsets", "raw", "binned"))
    nodes = _records(columns["nodes"], PREDICTOR_RECORD_DTYPE)
    leaf, categorical = nodes["is_leaf"] != 0, nodes["is_categorical"] != 0
    tables = {(part.dtype, part.shape) for part in (raw, binned)}
    fine = (
        are_trees(nodes["left"], nodes["right"], leaf, nodes["feature_idx"], sizes, 2**31)
        and tables == {(np.dtype(np.uint32), (int(counts.sum()), N_BITSET_WORDS))}
        and len(counts) == len(sizes) == int(columns["iterations"].sum())
        and bool((counts >= 0).all() and (columns["iterations"] >= 1).all())
        and bool((~categorical | leaf | (nodes["bitset_idx"] < np.repeat(counts, sizes))).all())
    )
    if not fine:
        raise ModelFileError("the trees of histogram boosting are damaged")
    own = zip(_limits(sizes), _limits(counts), strict=True)
    trees = [
        TreePredictor(nodes[start:stop].copy(), binned[first:last].copy(), raw[first:last].copy())
        for (start, stop), (first, last) in own
    ]
    return [trees[start:stop] for start, stop in _limits(columns["iterations"])]


def _limits(sizes: Array) -> list[tuple[int, int]]:
    return list(pairwise([0, *np.cumsum(sizes).tolist()]))


def _columns(records: list[Array]) -> dict[str, Array]:
    """Return records field by field, which packs better than one after the other."""
    everything = np.concatenate(records)
    return {name: np.ascontiguousarray(everything[name]) for name in everything.dtype.names or ()}


def _records(columns: dict[str, Array], dtype: np.dtype[Any]) -> Array:
    lengths = {len(column) for column in columns.values()}
    if set(columns) != set(dtype.names or ()) or len(lengths) != 1:
        raise ModelFileError("nodes of trees have other fields than those of this scikit-learn")
    records = np.zeros(lengths.pop(), dtype=dtype)
    for name, column in columns.items():
        if column.dtype != dtype[name]:
            raise ModelFileError("nodes of trees have other types than those of this scikit-learn")
        records[name] = column
    return records


def _same(one: Any, other: Any) -> bool:
    """Tell whether two things are equal, arrays in them entry by entry."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return bool(one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, int | float | str) and one == other
