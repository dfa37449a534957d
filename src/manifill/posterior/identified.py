"""Quantities whose chains can be compared.

U, V, A and B are determined only up to signs, order or rotation, so chains that agree in X may differ in them.  What is
left is X itself, at some cells and in its singular values, the noise, and the log density.
"""

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.posterior.cells import product_at_cells
from manifill.posterior.draws import Draws
from manifill.types import Array, Generator, Matrix, Vector

__all__ = ["identified_quantities", "singular_values"]


def identified_quantities(rng: Generator, draws: Draws, cells: int = 50) -> dict[str, Array]:
    """Return ``lp``, ``sigma``, the sorted singular values of X, and X at random cells, (chain, draw) each."""
    m, n = draws.shape
    rows, cols = np.divmod(np.sort(rng.choice(m * n, size=min(cells, m * n), replace=False)), n)
    at_cells = np.empty((draws.chains * draws.draws, rows.size))
    singular = []
    has_values = "s" in draws.posterior and not draws.has_effects  # effects and factors share what both can say
    with threadpool_limits(1, "blas"):  # for matrices this narrow, threads take longer to meet than to work
        for x, factors in zip(at_cells, draws.factors(), strict=True):
            product_at_cells(factors.left, factors.right, rows, cols, x)
            if not has_values:
                singular.append(singular_values(factors.left, factors.right))
    # U and V are orthonormal, so s holds the singular values already; a draw may have them in any order.
    sorted_values = -np.sort(-draws.posterior["s"][:], axis=-1) if has_values else np.array(singular)
    quantities = {"lp": draws.statistics["lp"]} if "lp" in draws.statistics else {}
    if "sigma" in draws.posterior:
        sigma = np.asarray(draws.posterior["sigma"][:])
        quantities["sigma"] = sigma if sigma.ndim == 2 else np.sqrt(np.mean(sigma**2, axis=-1))
    quantities |= {f"singular_value[{c}]": sorted_values[..., c] for c in range(sorted_values.shape[-1])}
    quantities |= {f"X[{i},{j}]": x for i, j, x in zip(rows, cols, at_cells.T, strict=True)}
    shape = draws.chains, draws.draws
    return {name: np.asarray(values, dtype=np.float64).reshape(shape) for name, values in quantities.items()}


def singular_values(left: Matrix, right: Matrix) -> Vector:
    """Return the singular values of left · rightᵀ, largest first, from an r×r matrix."""
    triangles = [np.asarray(np.linalg.qr(side, mode="r")) for side in (left, right)]
    return np.linalg.svd(triangles[0] @ triangles[1].T, compute_uv=False)
