"""Tables of all labelsets: refused where they would not fit, before anything is computed."""

from labelsure._core.validation import check_count
from labelsure.labelsets import LabelsetEngine

GIBIBYTE = 2**30


def check_memory(engine: LabelsetEngine, max_memory: int, *, n_rows: int, what: str) -> None:
    """Raise ValueError where ``n_rows`` numbers per candidate labelset take more than ``max_memory`` bytes."""
    n_bytes = n_rows * engine.n_candidates * 8
    if n_bytes > check_count(max_memory, name="max_memory", at_least=0):
        raise ValueError(
            f"{what} for {engine.n_objects} objects and {engine.n_labels} labels would take"
            f" {_readable(n_bytes)}, more than max_memory={_readable(max_memory)}."
            " Ask for fewer objects (predictions[:100].p_values()), for single labelsets (p_value(Y)),"
            " or raise max_memory."
        )


def _readable(n_bytes: int) -> str:
    if n_bytes >= 2**60:
        return f"2^{n_bytes.bit_length() - 1} bytes"
    power = max(n_bytes.bit_length() - 1, 0) // 10
    return f"{n_bytes / 2 ** (10 * power):.4g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"
