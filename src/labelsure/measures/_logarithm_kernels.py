"""The compiled logarithm."""

from labelsure._core.compilation import lean_kernel
from labelsure._core.types import FloatArray, IntArray


@lean_kernel
def fill_minus_logs(
    halvings: IntArray, mantissas: FloatArray, terms: tuple[float, ...], log_2: float, logs: FloatArray
) -> None:
    """Write minus the logarithms of numbers that were taken apart.

    Reference : measures._logarithm.minus_logs_anywhere
    Requires : mantissas from sqrt(1/2) to sqrt(2)
    Cost : a quotient and two dozen products and sums each, in this order: another one has another last bit
    """
    for i in range(len(logs)):
        ratio = (mantissas[i] - 1.0) / (mantissas[i] + 1.0)
        square = ratio * ratio
        series = square * terms[0] + terms[1]
        for term in terms[2:]:
            series = series * square + term
        logs[i] = halvings[i] * log_2 - 2.0 * ratio * series
