"""A logarithm whose last bit is the same wherever it is computed.

numpy's differs between processors with and without AVX-512. Scores are compared, so a calibration score and a new one
must not come from two of them.
"""

import math

import numpy as np

from labelsure._core.types import FloatArray

LOG_2 = math.log(2)

SCALE_BITS = 54
"""Numbers are first multiplied by two to the power of this, so that none is below the smallest that has all digits."""

MANTISSA_BITS = 52
"""The bits of a float below its exponent."""

ROOT_OF_HALF = int(np.float64(math.sqrt(0.5)).view(np.int64))
"""The bits of the least number that is left when powers of two are taken out."""

TERMS = tuple(1 / odd for odd in range(23, 0, -2))
"""Of atanh(r) = r (1 + r^2/3 + r^4/5 + ...), last ones first; |r| is at most 3 - 2 sqrt(2), so that the first one left
out is below 2^-60."""


def minus_logs(values: FloatArray) -> FloatArray:
    """Return -log(v) of positive numbers up to 1, each within 4 units of its last place.

    Examples
    --------
    >>> import numpy as np
    >>> minus_logs(np.array([0.5, 1.0])).tolist() == [LOG_2, 0.0]
    True
    """
    bits = (values * 2.0**SCALE_BITS).view(np.int64)
    exponents = (bits - ROOT_OF_HALF) >> MANTISSA_BITS  # of what is left: that lies around 1
    halvings = SCALE_BITS - exponents
    mantissas = (bits - (exponents << MANTISSA_BITS)).view(np.float64)  # from sqrt(1/2) to sqrt(2)
    ratio = (mantissas - 1.0) / (mantissas + 1.0)
    square = ratio * ratio
    series = square * TERMS[0] + TERMS[1]
    for term in TERMS[2:]:
        series = series * square + term
    logs: FloatArray = halvings * LOG_2 - 2.0 * ratio * series
    return logs
