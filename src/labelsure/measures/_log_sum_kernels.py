"""Compiled sums over the labelsets of a trie, several objects at a time."""

from labelsure._core.compilation import lean_kernel
from labelsure._core.types import FloatArray, IntArray


@lean_kernel
def sum_products(
    depth: IntArray, label: IntArray, weight: FloatArray, factors: FloatArray, path: FloatArray, sums: FloatArray
) -> None:
    """Add to each object's sum the weights of labelsets, each times the product of the object's factors of its labels.

    What is added for an object is the same whatever other objects there are, to the last bit.

    Reference : the definition
    Requires : the nodes of a trie in order of their first visit: at depth d >= 1 a labelset's d-th label; factors
        (blocks, q, objects), path (deepest + 1, objects) with ones in its first row, sums (blocks, objects)
    Cost : two products and a sum per node and object, several objects at a time
    """
    for block in range(factors.shape[0]):
        for node in range(depth.shape[0]):
            d, j, w = depth[node], label[node], weight[node]
            for i in range(sums.shape[1]):
                product = path[d - 1, i] * factors[block, j, i]
                path[d, i] = product
                sums[block, i] += w * product
