"""Arrays of other libraries, which may be on a GPU, are copied to memory."""

from typing import Any

import numpy as np

from labelsure._core.optional import import_optional

ON_CUDA = (2, 13)
"""What DLPack calls the memory of a GPU, and memory that it shares."""


def to_host(values: Any) -> Any:
    """Return an array of another library as one of numpy, be it on a GPU; anything else as it is.

    Examples
    --------
    >>> to_host([1, 2])
    [1, 2]
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack_device__"):
        return values
    values = values.detach() if hasattr(values, "detach") else values  # a tensor of torch that is part of a graph
    try:
        if values.__dlpack_device__()[0] not in ON_CUDA:
            return np.from_dlpack(values)
        cupy = import_optional("cupy", extra="cuda13 or cuda12", purpose="An array on a GPU")
        return cupy.asnumpy(cupy.from_dlpack(values))
    except (BufferError, RuntimeError, TypeError) as error:
        raise ValueError(
            f"A {type(values).__name__} of type {getattr(values, 'dtype', 'unknown')} cannot be read: {error}."
            " Pass an array of numbers that numpy knows, in memory or on an NVIDIA GPU."
        ) from error
