"""Arrays that behave as CuPy's do, in memory: they take numpy's functions, but never an array of numpy itself."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


def near(value):
    """Return what is far as numpy's, or refuse what CuPy would refuse."""
    if isinstance(value, FarArray):
        return value.values
    if isinstance(value, list | tuple):
        return type(value)(near(one) for one in value)
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    return value


def far(value):
    """Return an array of numpy, or a number out of one, as one that is far."""
    return FarArray(value) if isinstance(value, np.ndarray | np.generic) else value


def there(function):
    """Return the function as it works on arrays that are far."""
    return lambda *given, **options: far(function(*near(given), **{name: near(one) for name, one in options.items()}))


class FarArray(NDArrayOperatorsMixin):
    """An array on something like a card."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    def __dlpack_device__(self):
        return (2, 0)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return there(ufunc)(*inputs, **options) if method == "__call__" else NotImplemented

    def astype(self, kind, **options):
        """CuPy's kernels take floats of 32 bits that are too small to have all digits for zeros."""
        tiny = self.values.dtype == np.float32 and np.abs(self.values) < np.finfo(np.float32).smallest_normal
        return FarArray(np.where(tiny, 0, self.values).astype(kind, **options))

    def __array_function__(self, function, types, given, options):
        return there(function)(*given, **options)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.values, name)
        return there(value) if callable(value) else far(value)

    def __getitem__(self, place):
        return far(self.values[near(place)])

    def __setitem__(self, place, value):
        self.values[near(place)] = near(value)

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return map(far, self.values)

    def __bool__(self):
        return bool(self.values)

    def __float__(self):
        return float(self.values)

    def __int__(self):
        return int(self.values)

    def __index__(self):
        raise TypeError("Implicit conversion of a far array is not allowed.")


class FarArrays:
    """The module of such arrays."""

    def asarray(self, values, dtype=None):
        return values if isinstance(values, FarArray) else FarArray(np.array(values, dtype=dtype))

    def from_dlpack(self, values):
        if not isinstance(values, FarArray):
            raise BufferError("not on the card")
        return values

    def __getattr__(self, name):
        return there(getattr(np, name))
