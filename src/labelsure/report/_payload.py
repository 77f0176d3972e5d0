"""What the page's script reads: JSON and arrays of whole numbers, deflated, as text that is safe inside HTML."""

import base64
import json
import zlib
from typing import Any

import numpy as np

ALIGNMENT = 8
KINDS = {"|u1": "Uint8Array", "<u2": "Uint16Array", "<u4": "Uint32Array", "<f8": "Float64Array"}
"""The arrays that travel, and what they are called where they arrive."""


def pack(facts: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> str:
    """Return facts and arrays as one text: eight bytes with the length of the JSON, the JSON, the arrays.

    The JSON says where each array starts, counted from the first; every one starts at a multiple of
    eight bytes.
    """
    places = {}
    parts = []
    offset = 0
    for name, array in arrays.items():
        data = np.ascontiguousarray(array).tobytes()
        places[name] = {"kind": KINDS[array.dtype.str], "offset": offset, "length": array.size}
        parts.append(data + bytes(-len(data) % ALIGNMENT))
        offset += len(parts[-1])
    text = json.dumps({**facts, "arrays": places}, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return deflate(len(text).to_bytes(ALIGNMENT, "little") + text + b"".join(parts))


def deflate(data: bytes) -> str:
    """Return bytes compressed, in base64: letters, digits, ``+``, ``/`` and ``=``, none of which HTML takes for a tag.

    Examples
    --------
    >>> import base64, zlib
    >>> zlib.decompress(base64.b64decode(deflate(b"</script>")))
    b'</script>'
    """
    return base64.b64encode(zlib.compress(data, level=9)).decode("ascii")


def split_bytes(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return whole numbers below 2^32 byte by byte, all lowest bytes first: small numbers then deflate to little.

    Examples
    --------
    >>> split_bytes(np.array([1, 258])).tolist()
    [1, 2, 0, 1, 0, 0, 0, 0]
    """
    return np.ascontiguousarray(numbers.astype("<u4").reshape(-1, 1).view(np.uint8).T).ravel()
