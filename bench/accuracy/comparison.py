"""Paired comparison of two methods over splits."""

import numpy as np
from numpy.typing import ArrayLike


def paired_z(first: ArrayLike, second: ArrayLike) -> float:
    """Return the mean difference first − second over its standard error, from the differences by split.

    NaN for fewer than two splits, and if there is no difference at all.
    """
    differences = np.subtract(first, second)
    if differences.size < 2:
        return float("nan")
    error = float(np.std(differences, ddof=1) / np.sqrt(differences.size))
    mean = float(np.mean(differences))
    if error == 0.0:
        return float("nan") if mean == 0.0 else float(np.copysign(np.inf, mean))
    return mean / error
