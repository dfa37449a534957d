"""Identified quantities, which can be compared between chains.

U, V, A and B are determined only up to signs, order or rotation, so chains that agree in X may differ in them.
Identified are X itself (at some cells, and its singular values), the parameters of the likelihood, and the log density.
"""

from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.arrays import Array, Generator, Matrix, Vector
from manifill.posterior.cell_draws import product_at_cells
from manifill.posterior.draws import Draws
from manifill.problem.cell_names import CellNames

__all__ = ["CELL", "identified_quantities", "singular_values"]

# How the names of cells start if they contain labels.
CELL = "X at "


def identified_quantities(
    rng: Generator, draws: Draws, parameters: Sequence[str] = (), cells: int = 50, names: CellNames | None = None
) -> dict[str, Array]:
    """Return ``lp``, parameters of the likelihood, singular values of X, and X at random cells, (chain, draw) each.

    A parameter with one value per column is represented by its root mean square.  Cells are called
    ``X at …`` by their names, or ``X[i,j]`` by their indices if there are none.
    """
    m, n = draws.shape
    rows, cols = np.divmod(np.sort(rng.choice(m * n, size=min(cells, m * n), replace=False)), n)
    at_cells = np.empty((draws.chains * draws.draws, rows.size))
    singular = []
    # Effects can be exchanged with the low-rank part, so with effects s is not identified.
    has_values = "s" in draws.posterior and not draws.has_effects
    with threadpool_limits(1, "blas"):  # for matrices this narrow, threads cost more than they save
        progress.begin("diagnosing", len(at_cells), "draws")
        for x, factors in zip(at_cells, draws.factors(), strict=True):
            product_at_cells(factors.left, factors.right, rows, cols, x)
            if not has_values:
                singular.append(singular_values(factors.left, factors.right))
            progress.advance()
    # U and V are orthonormal, so s holds the singular values, in any order.
    sorted_values = -np.sort(-draws.posterior["s"][:], axis=-1) if has_values else np.array(singular)
    quantities = {"lp": draws.statistics["lp"]} if "lp" in draws.statistics else {}
    for name in parameters:
        values = np.asarray(draws.posterior[name][:])
        quantities[name] = values if values.ndim == 2 else np.sqrt(np.mean(values**2, axis=-1))
    quantities |= {f"singular_value[{c}]": sorted_values[..., c] for c in range(sorted_values.shape[-1])}
    if names is None:
        cell_names = [f"X[{i},{j}]" for i, j in zip(rows, cols, strict=True)]
    else:
        cell_names = [f"{CELL}{name}" for name in names.cells(rows, cols)]
    quantities |= dict(zip(cell_names, at_cells.T, strict=True))
    shape = draws.chains, draws.draws
    return {name: np.asarray(values, dtype=np.float64).reshape(shape) for name, values in quantities.items()}


def singular_values(left: Matrix, right: Matrix) -> Vector:
    """Return the singular values of left · rightᵀ, largest first, from an r×r matrix."""
    triangles = [np.asarray(np.linalg.qr(side, mode="r")) for side in (left, right)]
    return np.linalg.svd(triangles[0] @ triangles[1].T, compute_uv=False)
