"""Array types for annotations."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Generator", "IntVector", "Matrix", "Vector"]

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
IntVector: TypeAlias = NDArray[np.integer[Any]]
Array: TypeAlias = NDArray[Any]
Generator: TypeAlias = np.random.Generator
