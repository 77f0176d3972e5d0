"""How the house is built: no long functions, no long modules, no hidden cycles, a short path from fit to sizes."""

import ast
import re
import statistics
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src" / "labelsure"
MODULES = sorted(SRC.rglob("*.py"))
KERNELS = [path for path in MODULES if path.name.endswith("kernels.py") or path.parent.name == "kernels"]

FUNCTION_LINES, MODULE_LINES, KERNEL_PARAMETERS = 80, 350, 8
ENGINE = ("_core", "conformal", "estimators", "labelsets", "measures")
