"""Matrix Market files.

SciPy's own reader may crash the process where a value is malformed, cut, or has more than 21 digits, so only the header
is left to it.
"""

import io

import numpy as np
import pandas as pd
import scipy.io

from manifill.problem import Duplicates, Observations, from_array
from manifill.tables.sheet import EXACT
from manifill.types import Matrix

__all__ = ["read_market"]


def read_market(data: bytes, duplicates: Duplicates) -> Observations:
    """Return the stored cells of a Matrix Market file; symmetric matrices store one half and stand for both."""
    m, n, cells, form, field, symmetry = scipy.io.mminfo(io.BytesIO(data))
    if field not in ("real", "integer", "double", "unsigned-integer"):
        raise ValueError(f"its entries are of the kind {field!r}; give real numbers")
    is_dense = form == "array"
    if is_dense and symmetry != "general":
        raise ValueError(f"it is dense and {symmetry}; write it with symmetry='general'")
    table = _numbers(data, 2 if is_dense else 3)[1:]  # the first line holds the sizes
    if len(table) != cells:
        raise ValueError(f"it holds {len(table)} of {cells} cells; make or fetch it again")
    if is_dense:
        if not np.isnan(table[:, 1]).all():
            raise ValueError("a line of it holds two values; a dense matrix has one a line")
        return from_array(table[:, 0].reshape((m, n), order="F"))
    rows, cols, values = table.T
    if symmetry != "general":
        other = rows != cols
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        rows, cols = np.append(rows, cols[other]), np.append(cols, rows[other])
        values = np.append(values, sign * values[other])
    return Observations.from_triples(rows - 1, cols - 1, values, (m, n), duplicates=duplicates)


def _numbers(data: bytes, width: int) -> Matrix:
    """Return the numbers in all lines but comments, NaN where a line is short."""
    frame = pd.read_csv(
        io.BytesIO(data),
        sep=r"\s+",
        comment="%",
        header=None,
        names=range(width),
        dtype=np.float64,
        encoding="latin-1",
        **EXACT,
    )
    return frame.to_numpy()  # type: ignore[no-any-return]
