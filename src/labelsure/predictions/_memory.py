"""Tables of all labelsets: refused where they would not fit, before anything is computed."""

from labelsure._core.validation import check_count
from labelsure.labelsets import LabelsetEngine

GIBIBYTE = 2**30


def check_memory(engine: LabelsetEngine, max_memory: int, *, n_rows: int, what: str) -> None:
    """Raise ValueError where ``n_rows`` numbers per candidate labelset take more than ``max_memory`` bytes."""
    n_bytes = n_rows * engine.n_candidates * 8
    most = check_count(max_memory, name="max_memory", at_least=0)
    if n_bytes > most:
        raise ValueError(
            f"{what} for {engine.n_objects} objects and {engine.n_labels} labels would take"
            f" {_readable(n_bytes)}, more than max_memory={_readable(most)}."
            " Ask for fewer objects (predictions[:100].p_values()), for single labelsets (p_value(Y)),"
            " or raise max_memory."
        )


def check_listed(engine: LabelsetEngine, k: int) -> int:
    """Return how many labelsets to list for each object, or raise ValueError where they would not fit into 64 GiB."""
    n_listed = check_count(k, name="k")
    n_bytes = engine.n_objects * n_listed * (engine.n_labels + 8)
    if n_bytes > 64 * GIBIBYTE:
        raise ValueError(f"k labelsets for {engine.n_objects} objects must fit into 64 GiB, got {_readable(n_bytes)}.")
    return n_listed


def _readable(n_bytes: int) -> str:
    if n_bytes >= 2**60:
        return f"2^{n_bytes.bit_length() - 1} bytes"
    power = max(n_bytes.bit_length() - 1, 0) // 10
    return f"{n_bytes / 2 ** (10 * power):.4g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"
