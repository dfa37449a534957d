"""Noise by row, by column, or with Student's tails at a known γ: what is learned of it is integrated out.

Given the shape a of their prior, factors of rows or columns are integrated out in closed form, and given the degrees of
freedom ν so are the mixing variables of cells.  log a or log ν takes Gauss's rule between the bounds of its prior.
"""

from collections.abc import Iterator

import numpy as np
from numpy.polynomial import legendre
from scipy.special import gammaln

from manifill.base.arrays import Matrix, Vector
from manifill.likelihoods import WithNoise
from manifill.problem import Model, Observations

NODES = 20
LOG_SHAPES, LOG_DEGREES = (np.log(4.0), np.log(1e6)), (np.log(2.0), np.log(400.0))


def log_marginal(model: Model, counts: Vector, unit: Matrix) -> Matrix:
    """Return log p(y | X) from log likelihoods at unit noise of rows, columns or cells, (G, R, K)."""
    total = np.full(unit.shape[1:], -np.inf)
    for _, log_weight in _nodes(model, counts, unit):
        np.logaddexp(total, log_weight, out=total)
    return total


def learned(model: Model, counts: Vector, unit: Matrix) -> dict[str, Matrix]:
    """Return the means given X of the width and of the first factor, or of 1/ν, each (R, K)."""
    noise, of_data = _noise(model), log_marginal(model, counts, unit)
    name = "row_noise" if noise.rows is not None else "column_noise"
    means: dict[str, Matrix] = {}
    for value, log_weight in _nodes(model, counts, unit):
        share = np.exp(log_weight - of_data)
        if noise.tails is not None:
            found = {"1/nu": share / value}
        else:
            shape, rate = value + 0.5 * counts[0], value - _precision(model) * unit[0]
            first = np.sqrt(rate) * np.exp(gammaln(shape - 0.5) - gammaln(shape))
            found = {f"{name}_width": share * value**-0.5, f"{name}[0]": share * first}
        for key, part in found.items():
            means[key] = means.get(key, 0.0) + part
    return means


def _nodes(model: Model, counts: Vector, unit: Matrix) -> Iterator[tuple[float, Matrix]]:
    """Yield values of a or ν, and the log of their weight times p(y | X, value)."""
    noise, precision = _noise(model), _precision(model)
    low, high = LOG_SHAPES if noise.tails is None else LOG_DEGREES
    t, weights = legendre.leggauss(NODES)
    for log_value, weight in zip(low + 0.5 * (high - low) * (t + 1.0), weights, strict=True):
        value = float(np.exp(log_value))
        total = np.full(unit.shape[1:], np.log(weight) + _log_prior(noise, value))
        for count, part in zip(counts, unit, strict=True):
            if noise.tails is not None:
                total += gammaln(0.5 * (value + 1.0)) - gammaln(0.5 * value) - 0.5 * np.log(value)
                total -= 0.5 * (value + 1.0) * np.log1p(-2.0 * precision * part / value)
            else:
                shape = value + 0.5 * count
                total += value * np.log(value) - gammaln(value) + gammaln(shape)
                total -= shape * np.log(value - precision * part)
        yield value, total


def _log_prior(noise: WithNoise, value: float) -> float:
    """Return the log density of the logarithm of a or ν."""
    if noise.tails is not None:
        above = value - 2.0
        return float((noise.tails.shape - 1.0) * np.log(above) - noise.tails.rate * above + np.log(value))
    spread = noise.rows if noise.rows is not None else noise.columns
    assert spread is not None
    width = value**-0.5
    return float(np.log(width) - np.log(1.0 + (width / spread.scale) ** 2))


def _noise(model: Model) -> WithNoise:
    assert isinstance(model.noise, WithNoise)
    return model.noise


def _precision(model: Model) -> float:
    precision = _noise(model).precision
    assert isinstance(precision, float)
    return precision


def groups(noise: WithNoise, observations: Observations) -> list[int]:
    """Return the row, the column, or the number of each cell: what its own part of the noise goes by."""
    rows, cols, _ = observations.triples()
    if noise.tails is not None:
        return list(range(observations.size))
    return [int(k) for k in (rows if noise.rows is not None else cols)]
