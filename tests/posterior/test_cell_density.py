"""Log densities of observed values against SciPy's, constants included."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from manifill.base.arrays import Array, Vector
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian, custom_likelihood
from manifill.posterior import Draws
from manifill.posterior.cell_density import CellDensity
from manifill.posterior.cell_draws import at_cells
from tests.posterior.runs import ALL_KINDS, EFFECT_VARIABLES, KINDS, N, dense_draws, random_run

ROWS, COLS = np.array([0, 5, 2, 2, 0]), np.array([3, 0, 1, 1, 3])
VALUES = np.array([0.0, 1.5, 3.5, 5.0, 0.5])
SCALES = np.array([0.001, 1.0, 10.0, 500.0])

LogDensity = Callable[[Array, Array, Array], Array]

# log p(y | x, σ), by SciPy.
CASES: dict[str, tuple[Likelihood, LogDensity]] = {
    "gaussian": (Gaussian(), lambda y, x, sigma: stats.norm.logpdf(y, x, sigma)),
    "softplus": (SoftplusGaussian(), lambda y, x, sigma: stats.norm.logpdf(y, np.log1p(np.exp(x)), sigma)),
    "half stars": (Binomial(10, 0.5), lambda y, x, sigma: stats.binom.logpmf(np.rint(2.0 * y), 10, expit(x))),
    "one of a thousand": (Binomial(1000, 0.5), lambda y, x, _: stats.binom.logpmf(np.rint(2.0 * y), 1000, expit(x))),
}


def scaled(draws: Draws) -> Draws:
    return replace(draws, attributes={**draws.attributes, "column_scales": SCALES.tolist()})


def log_densities(draws: Draws, likelihood: Likelihood, values: Vector = VALUES) -> Array:
    """Return log p(y | draw), (draw, cell)."""
    density = CellDensity.of(draws, likelihood, COLS, values)
    return np.array([density.at(x, parameters) for x, parameters in at_cells(draws, likelihood, ROWS, COLS)])


def dense_log_densities(draws: Draws, log_density: LogDensity, values: Vector = VALUES) -> Array:
    X, sigma = dense_draws(draws)
    by_column = np.broadcast_to(sigma if sigma.ndim == 2 else sigma[:, None], (len(X), N))
    return log_density(values, X[:, ROWS, COLS], by_column[:, COLS])


@pytest.mark.parametrize(
    ("case", "kind"),
    [(case, kind) for case in CASES for kind in (KINDS if CASES[case][0].has_noise else ALL_KINDS)],
)
def test_log_densities_are_scipys(case: str, kind: str) -> None:
    likelihood, log_density = CASES[case]
    draws = random_run([5, 5], variables=ALL_KINDS[kind])
    np.testing.assert_allclose(log_densities(draws, likelihood), dense_log_densities(draws, log_density), rtol=1e-11)


@pytest.mark.parametrize("case", ["gaussian", "softplus"])
def test_log_densities_are_in_the_units_of_the_data(case: str) -> None:
    """y = scale · z, with SciPy's own location and scale."""
    likelihood, _ = CASES[case]
    link: Callable[[Array], Array] = (lambda x: x) if case == "gaussian" else (lambda x: np.log1p(np.exp(x)))
    draws = scaled(random_run([5, 5], variables=EFFECT_VARIABLES))
    values, scales = VALUES * SCALES[COLS], SCALES[COLS]
    theirs = dense_log_densities(
        draws, lambda y, x, sigma: stats.norm.logpdf(y, scales * link(x), scales * sigma), values
    )
    np.testing.assert_allclose(log_densities(draws, likelihood, values), theirs, rtol=1e-11)


def test_a_likelihood_of_ones_own_is_taken_at_its_word() -> None:
    laplace = custom_likelihood(
        "laplace", log_density=lambda y, x: -abs(y - x), derivative=lambda y, x: 1.0 if y > x else -1.0
    )
    draws = random_run([5, 5])
    theirs = dense_log_densities(draws, lambda y, x, _: stats.laplace.logpdf(y, x) + np.log(2.0))
    np.testing.assert_allclose(log_densities(draws, laplace), theirs, rtol=1e-11)


def test_a_value_that_cannot_occur_is_refused() -> None:
    with pytest.raises(ValueError, match="which a Binomial likelihood cannot produce"):
        log_densities(random_run([2]), Binomial(4))


def test_some_draws_at_cells() -> None:
    draws = random_run([4, 4])
    X, _ = dense_draws(draws)
    kept = np.array([1, 0, 0, 1, 0, 0, 1, 0], dtype=bool)
    found = np.array([x.copy() for x, _ in at_cells(draws, Gaussian(), ROWS, COLS, kept)])
    np.testing.assert_allclose(found, X[kept][:, ROWS, COLS], rtol=1e-12)
