"""The likelihood's parameters at cells: σ times the noise factors of the cell's row and column."""

from collections.abc import Mapping

from manifill.base.arrays import Array, IntVector
from manifill.likelihoods import Likelihood
from manifill.likelihoods.noise import NOISE_FACTORS
from manifill.posterior.draws import Draws

__all__ = ["of_rows", "parameters_at", "variables_needed"]


def variables_needed(draws: Draws, likelihood: Likelihood) -> tuple[str, ...]:
    """Return the variables of a draw from which the likelihood's parameters are made."""
    optional = (*NOISE_FACTORS.values(), "nu") if likelihood.has_noise else ()
    return (*likelihood.parameter_names, *(name for name in optional if name in draws.posterior))


def parameters_at(variables: Mapping[str, Array], rows: IntVector, cols: IntVector) -> dict[str, Array]:
    """Return the parameters at the cells (rows[k], cols[k]): numbers, or (k,)."""
    found = _without_factors(variables)
    found = {name: value if value.ndim == 0 else value[cols] for name, value in found.items()}
    for dimension, index in (("row", rows), ("column", cols)):
        if NOISE_FACTORS[dimension] in variables:
            found["sigma"] = found["sigma"] * variables[NOISE_FACTORS[dimension]][index]
    return found


def of_rows(variables: Mapping[str, Array], rows: slice) -> dict[str, Array]:
    """Return the parameters at all cells of some rows: numbers, or arrays that broadcast to (k, n)."""
    found = _without_factors(variables)
    if NOISE_FACTORS["column"] in variables:
        found["sigma"] = found["sigma"] * variables[NOISE_FACTORS["column"]]
    if NOISE_FACTORS["row"] in variables:
        found["sigma"] = found["sigma"] * variables[NOISE_FACTORS["row"]][rows, None]
    return found


def _without_factors(variables: Mapping[str, Array]) -> dict[str, Array]:
    return {name: value for name, value in variables.items() if name not in NOISE_FACTORS.values()}
