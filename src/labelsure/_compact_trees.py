"""Trees of forests and of histogram boosting as columns, one for each field of their nodes.

Saved as they are, a forest of a hundred trees is thousands of small objects, and its values take
most of the space::

    tree 0   tree 1         tree 2
    -------  -------------  -------
    0 1 2    0 1 2 3 4      0 1 2     left_child, right_child, feature, ..., in the narrowest type
    k k k    k k k k k      k k k     counts of examples: a node's values are counts / weight

Compiled code follows children and features without a look, so those that lead elsewhere are
refused.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Pieces = Callable[[], Iterator[Array]]
Keep = Callable[[Pieces, Any, tuple[int, ...]], Any]
"""Stores an array that comes in pieces, of a dtype and a shape, and returns what stands for it."""

N_BITSET_WORDS = 8


def pack_trees(trees: Sequence[Any], keep: Keep) -> dict[str, Any]:
    """Return scikit-learn's ``Tree`` objects, all of one shape, as columns."""
    states = [tree.__getstate__() for tree in trees]  # views: nothing is copied
    nodes, values = [state["nodes"] for state in states], [state["values"] for state in states]
    n_nodes = sum(map(len, nodes))
    dtype = _type_of_counts(nodes, values)
    if dtype is None:
        kept = keep(lambda: iter(values), values[0].dtype, (n_nodes, *values[0].shape[1:]))
    else:
        n_outputs, n_classes = values[0].shape[1:]
        pairs = list(zip(values, nodes, strict=True))
        shape = n_nodes, n_outputs, n_classes - 1
        kept = keep(
            lambda: (_counts(value, _weights(own), dtype) for value, own in pairs), dtype, shape
        )
    return {
        "sizes": np.array([len(own) for own in nodes], dtype=np.int64),
        "depths": np.array([state["max_depth"] for state in states], dtype=np.int64),
        "nodes": _pack_records(nodes, keep),
        "values": kept,
        "counted": dtype is not None,
    }


def unpack_trees(
    parts: dict[str, Any], n_features: int, n_classes: Array, n_outputs: int
) -> list[Any]:
    """Return the trees of :func:`pack_trees`, or raise ValueError where they are damaged."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    sizes = parts["sizes"]
    depths = parts["depths"]
    values = parts["values"]
    nodes = _unpack_records(parts["nodes"], NODE_DTYPE)
    leaf = nodes["left_child"] == -1
    shape = len(nodes), n_outputs, int(n_classes.max()) - bool(parts["counted"])
    if (
        not are_trees(
            nodes["left_child"], nodes["right_child"], leaf, nodes["feature"], sizes, n_features
        )
        or (nodes["right_child"][leaf] != -1).any()
        or (len(sizes), n_outputs) != (len(depths), len(n_classes))
        or (depths < _depths_of(nodes["left_child"], nodes["right_child"], leaf, sizes)).any()
        or values.shape != shape
        or values.dtype.kind not in ("iu" if parts["counted"] else "f")
    ):
        raise ValueError("the trees of a forest are damaged")
    trees = []
    for (start, stop), depth in zip(_bounds(sizes), depths.tolist(), strict=True):
        tree = Tree(n_features, n_classes.astype(np.intp), n_outputs)
        own = nodes[start:stop]
        value = values[start:stop]
        if parts["counted"]:
            value = _shares(value, _weights(own))
        state = {"max_depth": depth, "node_count": stop - start, "nodes": own.copy()}
        tree.__setstate__(state | {"values": np.ascontiguousarray(value, dtype=np.float64)})
        trees.append(tree)
    return trees


def pack_boosting(iterations: Sequence[Sequence[Any]], keep: Keep) -> dict[str, Any]:
    """Return the trees of histogram boosting as columns."""
    trees = [tree for iteration in iterations for tree in iteration]
    n_bitsets = [len(tree.raw_left_cat_bitsets) for tree in trees]
    return {
        "iterations": np.array([len(iteration) for iteration in iterations], dtype=np.int64),
        "sizes": np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
        "nodes": _pack_records([tree.nodes for tree in trees], keep),
        "n_bitsets": np.array(n_bitsets, dtype=np.int64),
        "raw": np.concatenate([tree.raw_left_cat_bitsets for tree in trees]),
        "binned": np.concatenate([tree.binned_left_cat_bitsets for tree in trees]),
    }


def unpack_boosting(parts: dict[str, Any], n_features: int) -> list[list[Any]]:
    """Return the trees of :func:`pack_boosting`, or raise ValueError where they are damaged."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

    sizes, counts, raw, binned = (parts[name] for name in ("sizes", "n_bitsets", "raw", "binned"))
    nodes = _unpack_records(parts["nodes"], PREDICTOR_RECORD_DTYPE)
    leaf, categorical = nodes["is_leaf"] != 0, nodes["is_categorical"] != 0
    if (
        not are_trees(nodes["left"], nodes["right"], leaf, nodes["feature_idx"], sizes, n_features)
        or not raw.dtype == binned.dtype == np.uint32
        or not raw.shape == binned.shape == (int(counts.sum()), N_BITSET_WORDS)
        or not len(counts) == len(sizes) == int(parts["iterations"].sum())
        or (counts < 0).any()
        or (parts["iterations"] < 1).any()
        or (categorical & ~leaf & (nodes["bitset_idx"] >= np.repeat(counts, sizes))).any()
    ):
        raise ValueError("the trees of histogram boosting are damaged")
    trees = [
        TreePredictor(nodes[start:stop].copy(), binned[first:last].copy(), raw[first:last].copy())
        for (start, stop), (first, last) in zip(_bounds(sizes), _bounds(counts), strict=True)
    ]
    return [trees[start:stop] for start, stop in _bounds(parts["iterations"])]


def are_trees(
    left: Array, right: Array, leaf: Array, feature: Array, sizes: Array, n_features: int
) -> bool:
    """Whether nodes form trees: each child comes once, after its parent, and features exist.

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


def _depths_of(left: Array, right: Array, leaf: Array, sizes: Array) -> Array:
    """Return the depth of each tree, see :func:`are_trees`."""
    starts = np.cumsum(sizes) - sizes
    tree, start = np.repeat(np.arange(len(sizes)), sizes), np.repeat(starts, sizes)
    depths, level = np.zeros(len(sizes), dtype=np.int64), starts
    while len(inner := level[~leaf[level]]):
        depths[np.unique(tree[inner])] += 1
        level = np.concatenate([left[inner], right[inner]]) + np.tile(start[inner], 2)
    return depths


def _weights(nodes: Array) -> Array:
    weights: Array = nodes["weighted_n_node_samples"][:, np.newaxis, np.newaxis]
    return weights


def _counts(values: Array, weights: Array, dtype: Any) -> Array:
    """Return the counts of all classes but the last."""
    counts: Array = np.rint(values[..., :-1] * weights).astype(dtype)
    return counts


def _shares(counts: Array, weights: Array) -> Array:
    """Return values as scikit-learn computes them: counts of classes / weight of the node."""
    first = counts.astype(np.float64)
    last = weights - first.sum(axis=-1, keepdims=True)
    shares: Array = np.concatenate([first, last], axis=-1) / weights
    return shares


def _type_of_counts(nodes: list[Array], values: list[Array]) -> Any:
    """Return the narrowest type for counts, None if counts / weight are not exactly the values."""
    largest = max(own["weighted_n_node_samples"].max() for own in nodes)
    if not 1 <= largest < 2**32:
        return None
    dtype = np.min_scalar_type(int(largest))
    for own, value in zip(nodes, values, strict=True):
        weights = _weights(own)
        if not np.array_equal(_shares(_counts(value, weights, dtype), weights), value):
            return None
    return dtype


def _bounds(sizes: Array) -> list[tuple[int, int]]:
    return list(pairwise([0, *np.cumsum(sizes).tolist()]))


def _pack_records(records: list[Array], keep: Keep) -> dict[str, Any]:
    n_nodes = sum(map(len, records))

    def column(name: str) -> Any:
        dtype = _narrow([own[name] for own in records])
        return keep(lambda: (own[name].astype(dtype) for own in records), dtype, (n_nodes,))

    return {name: column(name) for name in records[0].dtype.names or ()}


def _narrow(columns: list[Array]) -> Any:
    """Return the narrowest type that holds all of some whole numbers; floats stay as they are."""
    if columns[0].dtype.kind not in "iu":
        return columns[0].dtype
    low = min(int(own.min()) for own in columns)
    high = max(int(own.max()) for own in columns)
    return np.result_type(
        np.min_scalar_type(low), np.min_scalar_type(-high - 1 if low < 0 else high)
    )


def _unpack_records(columns: dict[str, Array], dtype: Any) -> Array:
    lengths = {len(column) for column in columns.values()}
    of_floats = {name: column.dtype.kind == "f" for name, column in columns.items()}
    expected = {name: dtype[name].kind == "f" for name in dtype.names}
    are_numbers = all(column.dtype.kind in "fiu" for column in columns.values())
    if of_floats != expected or len(lengths) != 1 or not are_numbers:
        raise ValueError("nodes of trees have other fields than those of this scikit-learn")
    records = np.zeros(lengths.pop(), dtype=dtype)
    for name, column in columns.items():
        records[name] = column
    return records


def are_equal(one: Any, other: Any) -> bool:
    """Tell whether two things are equal, arrays in them entry by entry."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return bool(
            one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(are_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(are_equal, one, other))
    return isinstance(one, int | float | str | np.generic) and bool(one == other)
