"""The machine and the versions that figures come from."""

import os
import platform
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("labelsure", "numpy", "scipy", "scikit-learn", "numba")


def describe_machine() -> dict[str, str]:
    """Return the processor, the number of cores, the system, and the versions of the packages."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **describe_packages(PACKAGES),
        "BLAS": _blas(),
    }


def describe_packages(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of packages."""
    return {package: version(package) for package in packages}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _blas() -> str:
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    found = {
        f"{info['internal_api']} {info['version']} ({info.get('architecture', 'unknown')})"
        for info in threadpool_info()
        if info["user_api"] == "blas"
    }
    return ", ".join(sorted(found))
