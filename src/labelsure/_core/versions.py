"""The versions of what numbers depend on, here and on the workers of a cluster."""

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version

from labelsure._version import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@cache
def versions() -> dict[str, str]:
    """Return what results are kept with: the versions of everything that numbers may depend on."""
    packages = {package: version(package) for package in PACKAGES}
    return {"labelsure": __version__, "python": platform.python_version(), **packages}


def find_difference(ours: Mapping[str, str]) -> str | None:
    """Return what this process, a worker say, has in another version than the one that asks, which may have any Python.

    Parameters
    ----------
    ours : mapping
        The :func:`versions` of the process that asks, "here" in what is returned.

    Returns
    -------
    str or None
        The first difference and what to do, to be put after "worker ... has"; None where there is none.

    Examples
    --------
    >>> find_difference(versions()) is None
    True
    >>> find_difference(versions() | {"scipy": "0.1"})
    'scipy ..., and there is 0.1 here; results could differ. Install the same version.'
    """
    for package, there in versions().items():
        here = ours[package]
        if package != "python" and there != here:
            return f"{package} {there}, and there is {here} here; results could differ. Install the same version."
    return None
