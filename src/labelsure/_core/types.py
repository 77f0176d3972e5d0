"""Names for the arrays that travel between the rooms."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Int32Array: TypeAlias = NDArray[np.int32]
BoolArray: TypeAlias = NDArray[np.bool_]
LabelMatrix: TypeAlias = NDArray[np.int8]
"""Zeros and ones of shape (n, q): row i holds the labels of object i."""

MatrixLike: TypeAlias = Any
"""What scikit-learn accepts as X: array, sparse matrix, DataFrame, list of rows."""

LabelMatrixLike: TypeAlias = Any
"""What users hold as Y: array, sparse matrix, DataFrame, nested list; zeros and ones."""
