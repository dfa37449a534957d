"""Matrix Market files.

SciPy reads only the header, since its reader may crash the process if a value is malformed, truncated, or longer than
21 digits.
"""

import io

import numpy as np
import pandas as pd
import scipy.io

from manifill.base.arrays import Matrix
from manifill.problem import Duplicates, Observations, from_array
from manifill.tables.raw_table import EXACT_FLOATS

__all__ = ["read_matrix_market"]


def read_matrix_market(data: bytes, duplicates: Duplicates) -> Observations:
    """Return the stored cells of a Matrix Market file; a symmetric matrix stores one half, and both are returned."""
    m, n, cells, form, field, symmetry = scipy.io.mminfo(io.BytesIO(data))
    if field not in ("real", "integer", "double", "unsigned-integer"):
        raise ValueError(f"its entries have the type {field!r}; give real numbers")
    is_dense = form == "array"
    if is_dense and symmetry != "general":
        raise ValueError(f"it is dense and {symmetry}; write it with symmetry='general'")
    table = _numbers(data, 2 if is_dense else 3)[1:]  # the first line contains the sizes
    if len(table) != cells:
        raise ValueError(f"it contains {len(table)} of {cells} cells; create or download it again")
    if is_dense:
        if not np.isnan(table[:, 1]).all():
            raise ValueError("one of its lines contains two values; a dense matrix has one value per line")
        return from_array(table[:, 0].reshape((m, n), order="F"))
    rows, cols, values = table.T
    if symmetry != "general":
        other = rows != cols
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        rows, cols = np.append(rows, cols[other]), np.append(cols, rows[other])
        values = np.append(values, sign * values[other])
    return Observations.from_triples(rows - 1, cols - 1, values, (m, n), duplicates=duplicates)


def _numbers(data: bytes, width: int) -> Matrix:
    """Return the numbers in all lines except comments, (lines, width); NaN if a line has fewer numbers."""
    frame = pd.read_csv(
        io.BytesIO(data),
        sep=r"\s+",
        comment="%",
        header=None,
        names=range(width),
        dtype=np.float64,
        encoding="latin-1",
        **EXACT_FLOATS,
    )
    return frame.to_numpy()  # type: ignore[no-any-return]
