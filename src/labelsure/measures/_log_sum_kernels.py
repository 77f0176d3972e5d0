"""Compiled sums over the labelsets of a trie, several objects at a time."""

from labelsure._core.compilation import lean_kernel
from labelsure._core.types import FloatArray, Int32Array

FEW = 4
"""Fewer objects are worked on one by one: side by side they would fill no register."""


@lean_kernel
def sum_products(
    label: Int32Array,
    begin: Int32Array,
    shared: Int32Array,
    weight: FloatArray,
    factors: FloatArray,
    path: FloatArray,
    sums: FloatArray,
) -> None:
    """Add to each object's sum the weights of labelsets, each times the product of the object's factors of its labels.

    What is added for an object is the same whatever other objects there are, to the last bit.

    Reference : the definition
    Requires : label, begin, shared as in a trie, the empty labelset without weight; factors (blocks, q, objects), path
        (deepest + 1, objects) with ones in its first row, sums (blocks, objects); there may be more factors than sums
    Cost : a product per object and label that is not shared, a product and a sum per labelset
    """
    n_objects = sums.shape[1]
    for block in range(factors.shape[0]):
        for i in range(n_objects if n_objects < FEW else 0):
            for e in range(weight.shape[0]):
                d = shared[e]
                product = path[d, i]
                for place in range(begin[e], begin[e + 1]):
                    product *= factors[block, label[place], i]
                    d += 1
                    path[d, i] = product
                sums[block, i] += weight[e] * product
        for e in range(weight.shape[0] if n_objects >= FEW else 0):
            d, last = shared[e], begin[e + 1] - 1
            for place in range(begin[e], last):
                j = label[place]
                for i in range(n_objects):
                    path[d + 1, i] = path[d, i] * factors[block, j, i]
                d += 1
            if last >= begin[e]:
                j, w = label[last], weight[e]
                for i in range(n_objects):
                    product = path[d, i] * factors[block, j, i]
                    path[d + 1, i] = product
                    sums[block, i] += w * product
