"""Arrays of other libraries, which may be on a GPU."""

from collections.abc import Callable
from typing import Any

import numpy as np

from labelsure._core.optional import import_optional

ON_CUDA = (2, 13)
"""What DLPack calls the memory of a GPU, and memory that it shares."""


def gpu_of(values: Any) -> int | None:
    """Return the number of the GPU that an array of another library is on, None where it is on none.

    Examples
    --------
    >>> import numpy as np
    >>> gpu_of(np.ones(2)) is None
    True
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return None
    kind, number = read_array(values, lambda array: array.__dlpack_device__())
    return int(number) if kind in ON_CUDA else None


def to_host(values: Any) -> Any:
    """Return an array of another library as one of numpy, be it on a GPU; anything else as it is.

    Examples
    --------
    >>> to_host([1, 2])
    [1, 2]
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return values
    if gpu_of(values) is None:
        return read_array(values, np.from_dlpack)
    cupy = import_optional("cupy", extra="cuda13 or cuda12", purpose="An array on a GPU")
    return cupy.asnumpy(read_array(values, cupy.from_dlpack))


def read_array(values: Any, from_dlpack: Callable[[Any], Any]) -> Any:
    """Return what is read from an array of another library, by a ``from_dlpack`` say, or say what is wrong with it."""
    values = values.detach() if hasattr(values, "detach") else values  # a tensor of torch that is part of a graph
    try:
        return from_dlpack(values)
    except (BufferError, RuntimeError, TypeError) as error:
        raise ValueError(
            f"A {type(values).__name__} of type {getattr(values, 'dtype', 'unknown')} cannot be read: {error}."
            " Pass an array of numbers that numpy knows, in memory or on an NVIDIA GPU."
        ) from error
