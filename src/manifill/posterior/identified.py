"""Identified quantities, which can be compared between chains.

U, V, A and B are determined only up to signs, order or rotation, so chains that agree in X may differ in them.
Identified are X itself (at some cells, and its singular values), the other variables of a draw, and the log density.
"""

from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from manifill.base import progress
from manifill.base.arrays import Array, Generator, IntVector, Matrix, Vector
from manifill.likelihoods import Likelihood
from manifill.likelihoods.noise import NOISE_FACTORS
from manifill.posterior.cell_draws import product_at_cells
from manifill.posterior.cell_parameters import variables_needed
from manifill.posterior.diagnosed_cells import Cells, diagnosed_cells
from manifill.posterior.draws import Draws
from manifill.posterior.interval_series import below_bounds
from manifill.posterior.quantities import is_constant
from manifill.problem import Observations
from manifill.problem.cell_names import CellNames

__all__ = ["CELL", "Series", "diagnosed_series", "identified_quantities", "singular_values"]

# How the names of cells start if they contain labels.
CELL = "X at "

# Variables that are not identified, or that X or σ at cells stand for.
FACTORS = ("U", "s", "V", "A", "B", "row_effect", "column_effect", *NOISE_FACTORS.values())

OF_INTERVALS = ("sigma", "nu")  # which intervals stand for, if they are looked at

MOST_LEVELS = 20  # rows or columns whose parameters are diagnosed one by one


class Series(NamedTuple):
    """What is diagnosed, by use and name, (chain, draw) each."""

    predictions: dict[str, Array]
    global_quantities: dict[str, Array]
    averages: frozenset[str] = frozenset()  # the predictions of which only the mean matters


def diagnosed_series(
    rng: Generator,
    draws: Draws,
    likelihood: Likelihood,
    names: CellNames | None = None,
    observed: Observations | None = None,
) -> Series:
    """Return what predictions are made of, and what describes the matrix or the model as a whole.

    Predictions are made of X and of the likelihood's parameters at the same cells, which ``rng`` chooses; if the noise
    has factors of rows or columns, intervals stand for the spread of X and for σ (``interval_series``).  A variable
    that never changes in any chain was fixed by the user and is left out.  ``names`` are those of rows and columns;
    without them, cells have indices.
    """
    cells = diagnosed_cells(rng, draws, observed)
    at_cells, singular = _of_matrix(draws, cells)
    intervals, whole = _intervals_at(draws, likelihood, cells, names), _log_density(draws)
    predictions = dict(intervals)
    parameters = variables_needed(draws, likelihood)
    for variable in draws.variables:
        if variable.name in FACTORS:
            continue
        values = np.asarray(draws.posterior[variable.name][:], dtype=np.float64)
        if is_constant(values):
            continue
        if variable.name not in parameters or (variable.name in OF_INTERVALS and intervals):
            whole |= _summarised(variable.name, values)
        elif values.ndim == 2:
            predictions[variable.name] = values
        else:
            whole |= _summarised(variable.name, values)
            index = np.unique(cells.rows if variable.dims[0] == "row" else cells.cols)
            predictions |= _levels(variable.name, variable.dims[0], values, index, names)
    of_cells = _named_cells(cells, at_cells, names)
    # Predictions are averages over draws: the means of X, and intervals if these stand for the spread of X and σ.
    averages = frozenset(intervals | of_cells) if intervals else frozenset()
    return Series(predictions | of_cells, whole | _named_values(singular), averages)


def identified_quantities(rng: Generator, draws: Draws, cells: int = 50) -> dict[str, Array]:
    """Return ``lp``, the singular values of X, and X at random cells, ``X[i,j]``, (chain, draw) each."""
    m, n = draws.shape
    chosen = Cells(*np.divmod(np.sort(rng.choice(m * n, size=min(cells, m * n), replace=False)), n))
    at_cells, singular = _of_matrix(draws, chosen)
    return _log_density(draws) | _named_values(singular) | _named_cells(chosen, at_cells, None)


def singular_values(left: Matrix, right: Matrix) -> Vector:
    """Return the singular values of left · rightᵀ, largest first, from an r×r matrix."""
    triangles = [np.asarray(np.linalg.qr(side, mode="r")) for side in (left, right)]
    return np.linalg.svd(triangles[0] @ triangles[1].T, compute_uv=False)


def _of_matrix(draws: Draws, cells: Cells) -> tuple[Array, Array]:
    """Return X at the cells and its singular values, (chain, draw, …) each; the draws are read once."""
    at_cells = np.empty((draws.total, cells.rows.size))
    singular = []
    # Effects can be exchanged with the low-rank part, so with effects s is not identified.
    has_values = "s" in draws.posterior and not draws.has_effects
    with threadpool_limits(1, "blas"):  # for matrices this narrow, threads cost more than they save
        counted_factors = progress.counted(draws.factors(), "diagnosing", draws.total, "draws")
        for x, factors in zip(at_cells, counted_factors, strict=True):
            product_at_cells(factors.left, factors.right, *cells, x)
            if not has_values:
                singular.append(singular_values(factors.left, factors.right))
    # U and V are orthonormal, so s holds the singular values, in any order.
    values = -np.sort(-draws.posterior["s"][:], axis=-1) if has_values else np.array(singular)
    shape = draws.chains, draws.draws, -1
    return at_cells.reshape(shape), np.asarray(values, dtype=np.float64).reshape(shape)


def _log_density(draws: Draws) -> dict[str, Array]:
    return {"lp": np.asarray(draws.statistics["lp"], dtype=np.float64)} if "lp" in draws.statistics else {}


def _named_values(singular: Array) -> dict[str, Array]:
    return {f"singular_value[{c}]": singular[..., c] for c in range(singular.shape[-1])}


def _named_cells(cells: Cells, at_cells: Array, names: CellNames | None) -> dict[str, Array]:
    if names is None:
        found = [f"X[{i},{j}]" for i, j in zip(*cells, strict=True)]
    else:
        found = [f"{CELL}{name}" for name in names.cells(*cells)]
    return dict(zip(found, np.moveaxis(at_cells, -1, 0), strict=True))


def _intervals_at(draws: Draws, likelihood: Likelihood, cells: Cells, names: CellNames | None) -> dict[str, Array]:
    """Return intervals at the cells if noise has factors of rows or columns, and otherwise nothing.

    They stand for the spread of X, so every cell whose X is looked at has them.
    """
    if not any(name in draws.posterior for name in NOISE_FACTORS.values()):
        return {}
    found: dict[str, Array] = {}
    for bound, below in zip(("lower", "upper"), below_bounds(draws, likelihood, *cells), strict=True):
        at_cells = _named_cells(cells, below, names)
        found |= {f"{bound} bound at {name.removeprefix(CELL)}": series for name, series in at_cells.items()}
    return found


def _spread(size: int) -> IntVector:
    """Return at most MOST_LEVELS of the numbers below ``size``, evenly spread."""
    return np.unique(np.linspace(0, size - 1, min(MOST_LEVELS, size)).round().astype(np.int64))


def _summarised(name: str, values: Array) -> dict[str, Array]:
    """Return a scalar variable, or three summaries of one with many values."""
    if values.ndim == 2:
        return {name: values}
    flat = values.reshape(*values.shape[:2], -1)
    return {
        f"root mean square of {name}": np.sqrt(np.mean(flat**2, axis=-1)),
        f"smallest {name}": flat.min(axis=-1),
        f"largest {name}": flat.max(axis=-1),
    }


def _levels(name: str, side: str, values: Array, index: IntVector, names: CellNames | None) -> dict[str, Array]:
    """Return a parameter at some rows or columns, evenly spread over ``index``, by their names."""
    kept = index[_spread(index.size)]
    labels = (
        [f"{name}[{k}]" for k in kept] if names is None else [f"{name} of {each}" for each in names.levels(side, kept)]
    )
    return dict(zip(labels, np.moveaxis(values[..., kept], -1, 0), strict=True))
