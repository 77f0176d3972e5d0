"""Compiled sums over the labelsets of a trie, several objects at a time."""

from labelsure._checks import FloatArray
from labelsure._compile import lean_kernel
from labelsure.measures._log_partition import Trie

FEW = 4
"""Fewer objects are worked on one by one: side by side they would fill no register."""


@lean_kernel
def sum_products(
    trie: Trie, weight: FloatArray, factors: FloatArray, path: FloatArray, sums: FloatArray
) -> None:
    """Add to each object's sum the weights of labelsets times the product of its labels' factors.

    What is added for an object is the same whatever other objects there are, to the last bit.

    Reference : the definition
    Requires : weights in the order of the trie; factors (blocks, q, objects), path (q + 1, objects)
        with ones in its first row, sums (blocks, objects); there may be more factors than sums
    Cost : a product per object and label that is not shared, a product and a sum per labelset
    """
    label = trie.label
    begin = trie.begin
    n_objects = sums.shape[1]
    n_singly, n_together = (n_objects, 0) if n_objects < FEW else (0, n_objects)
    for block in range(factors.shape[0]):
        for i in range(n_singly):
            for e in range(weight.shape[0]):
                d = trie.shared[e]
                product = path[d, i]
                for place in range(begin[e], begin[e + 1]):
                    product *= factors[block, label[place], i]
                    d += 1
                    path[d, i] = product
                sums[block, i] += weight[e] * product
        for e in range(weight.shape[0] if n_together else 0):
            d, w = trie.shared[e], weight[e]
            for place in range(begin[e], begin[e + 1]):
                j = label[place]
                for i in range(n_together):
                    path[d + 1, i] = path[d, i] * factors[block, j, i]
                d += 1
            for i in range(n_together):
                sums[block, i] += w * path[d, i]
