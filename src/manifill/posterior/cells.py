"""A low-rank matrix at single cells."""

from manifill.compiled import compiled
from manifill.types import IntVector, Matrix, Vector

__all__ = ["product_at_cells"]


@compiled
def product_at_cells(left: Matrix, right: Matrix, rows: IntVector, cols: IntVector, out: Vector) -> None:
    """Write left_i · right_j to ``out`` for each pair of ``rows`` and ``cols``, which are not checked."""
    for k in range(rows.size):
        i, j, x = rows[k], cols[k], 0.0
        for c in range(left.shape[1]):
            x += left[i, c] * right[j, c]
        out[k] = x
