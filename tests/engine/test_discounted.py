"""Labelsets with discounts as arrays: what they say of each fold, made once for all objects of a fit."""

import gc
import weakref

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from labelsure.engine._discounted import Discounted, pool_discounts
from labelsure.measures._energy import Discounts
from labelsure.measures._labelset_bits import pack


@st.composite
def discount_lists(draw):
    """Discounts of one to four folds, some without any, which share labelsets, also of more than 64 labels."""
    n_labels = draw(st.sampled_from([1, 3, 64, 130]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    some = np.unique(rng.random((6, n_labels)) < draw(st.sampled_from([0.01, 0.5])), axis=0).astype(
        np.int8
    )
    folds = []
    for kind in draw(
        st.lists(st.sampled_from(["none", "nothing", "some", "some"]), min_size=1, max_size=4)
    ):
        own = some[rng.random(len(some)) < (0.0 if kind == "nothing" else 0.6)]
        folds.append(None if kind == "none" else Discounts(own, rng.integers(0, 9, size=len(own))))
    return folds, n_labels


@given(discount_lists())
def test_discounted_says_what_each_fold_spares(case):
    folds, n_labels = case
    found = Discounted.of(folds, n_labels)
    rows = [
        tuple(row)
        for discounts in folds
        if discounts is not None
        for row in discounts.labelsets.tolist()
    ]
    assert sorted(map(tuple, found.labelsets.tolist())) == sorted(set(rows))
    for k, discounts in enumerate(folds):
        spared = (
            np.zeros(len(found.labelsets)) if discounts is None else discounts.of(found.labelsets)
        )
        assert found.more[:, k].tolist() == (-spared).tolist()
    for e, labelset in enumerate(found.labelsets):
        assert (
            found.label[found.begin[e] : found.begin[e + 1]].tolist()
            == np.flatnonzero(labelset).tolist()
        )
    assert found.words.tolist() == sorted(pack(found.labelsets).tolist())
    assert found.least.tolist() == [min(row) for row in found.more.tolist()]
    assert found.total.tolist() == [sum(row) for row in found.more.tolist()]


def test_discounts_are_pooled_once_for_the_same_folds():
    first, second = (
        Discounts(np.eye(2, dtype=np.int8), np.array([1, amount])) for amount in (2, 3)
    )
    lists = [[first, second], [first, first], [first, None], [None, first], [second, first]]
    pooled = [pool_discounts(folds, 2) for folds in lists]
    assert [one.more.tolist() for one in pooled] == [
        Discounted.of(folds, 2).more.tolist() for folds in lists
    ]
    assert pool_discounts([second, first], 2) is pooled[-1]


def test_pooled_discounts_go_when_their_fit_goes():
    first = Discounts(np.eye(2, dtype=np.int8), np.array([1, 2]))
    pool_discounts([first, first], 2)
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None
