"""Settings of every test."""

import os

from hypothesis import HealthCheck, settings

# No deadline: the first call of a kernel compiles it. In CI the examples are always the same.
settings.register_profile(
    "labelsure", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("labelsure")

# Searching every module for doctests would import all files called conftest under one name.
collect_ignore_glob = ["*conftest.py"]
