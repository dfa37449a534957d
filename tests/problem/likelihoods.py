"""The table of likelihoods that every conformance test runs over, with SciPy's word on each."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from manifill.base.arrays import Array, Vector
from manifill.base.priors import Gamma, ScaledF
from manifill.likelihoods import (
    WITHOUT_NOISE,
    Binomial,
    Evaluation,
    Gaussian,
    Likelihood,
    NoiseModel,
    SoftplusGaussian,
    Spread,
    Tails,
    WithNoise,
)
from manifill.likelihoods.likelihood import evaluate_values
from manifill.likelihoods.poisson import Poisson


class Case(NamedTuple):
    """A likelihood, values it can produce, and log p(value | x) at unit noise."""

    likelihood: Likelihood
    values: tuple[float, ...]
    log_density: Callable[[float, Array], Array]


def _binomial(trials: int, step: float, offset: float = 0.0) -> Callable[[float, Array], Array]:
    return lambda value, x: stats.binom.logpmf(round((value - offset) / step), trials, expit(x))


CASES = {
    "gaussian": Case(Gaussian(), (-2.5, 0.0, 3.0), lambda y, x: stats.norm.logpdf(y, x)),
    "softplus": Case(SoftplusGaussian(), (-0.5, 0.1, 4.0), lambda y, x: stats.norm.logpdf(y, np.log1p(np.exp(x)))),
    "binomial": Case(Binomial(5), (0.0, 2.0, 5.0), _binomial(5, 1.0)),
    "half stars": Case(Binomial(10, 0.5), (0.0, 3.5, 5.0), _binomial(10, 0.5)),
    "half stars from a half": Case(Binomial(9, 0.5, 0.5), (0.5, 3.5, 5.0), _binomial(9, 0.5, 0.5)),
    "poisson": Case(Poisson(), (0.0, 2.0, 9.0), lambda y, x: stats.poisson.logpmf(y, np.exp(x))),
}


def evaluate_cells(likelihood: Likelihood, encoded: Vector, x: Vector) -> tuple[Vector, Vector]:
    """Return log densities at unit noise of encoded values, as compiled code sees them, and their slopes in x."""
    out = Evaluation(np.full(x.size, np.nan), np.full(x.size, np.nan), np.empty((likelihood.coordinates, x.size)))
    evaluate_values(likelihood.compiled(), encoded, x, out)
    return out.log_density, out.slopes


SPREAD, TAILS = Spread(0.4), Tails(3.0, 0.3)


def noise_of(likelihood: Likelihood, precision: float | Gamma | ScaledF, by: str = "shared") -> NoiseModel:
    """Return the noise of a likelihood that has one, and otherwise none.

    ``by`` is "shared", "row", "column", "both", "student", or "all" for both and Student's tails.
    """
    if not likelihood.has_noise:
        return WITHOUT_NOISE
    rows, columns, tails = by in ("row", "both", "all"), by in ("column", "both", "all"), by in ("student", "all")
    return WithNoise(precision, SPREAD if rows else None, SPREAD if columns else None, TAILS if tails else None)


def precision_of(noise: NoiseModel) -> float | Gamma | ScaledF:
    """Return the precision of a noise that there is, or its prior."""
    assert isinstance(noise, WithNoise)
    return noise.precision


for_each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
