"""The model: its joint density against SciPy, its conjugate draws against closed forms."""

import numpy as np
import pytest
from scipy import stats

from manifill.problem import Binomial, Gamma, Gaussian, Model, Observations, scaled_rate_prior
from tests.problem.cells import ragged_observations

NOISE, RATE = Gamma(3.0, 2.0), Gamma(2.0, 5.0)


def check_gamma_draws(draws: np.ndarray, shape: float, rate: float) -> None:
    """Mean and variance of a Gamma by z-scores, bound 5: false-alarm rate 1e-6."""
    mean, variance = shape / rate, shape / rate**2
    for samples, expected in ((draws, mean), ((draws - mean) ** 2, variance)):
        assert abs(samples.mean() - expected) < 5.0 * samples.std() / np.sqrt(len(samples))


def test_gamma_prior_draws() -> None:
    rng = np.random.default_rng(1)
    check_gamma_draws(np.array([NOISE.draw(rng) for _ in range(20_000)]), 3.0, 2.0)


def test_precision_given_the_rest() -> None:
    """γ | rest ~ Gamma(α + N/2, β + SSE/2)."""
    model = Model(1, Gaussian(), 1.0, NOISE)
    rng = np.random.default_rng(2)
    sse, cells = 7.0, 11
    draws = np.array([model.draw_precision(rng, cells, -0.5 * sse) for _ in range(20_000)])
    check_gamma_draws(draws, 3.0 + 5.5, 2.0 + 3.5)


def test_rate_given_the_singular_values() -> None:
    """λ | s ~ Gamma(a + r, b + Σ s)."""
    model = Model(2, Gaussian(), RATE)
    rng = np.random.default_rng(3)
    draws = np.array([model.draw_rate(rng, np.array([1.5, 0.5])) for _ in range(20_000)])
    check_gamma_draws(draws, 2.0 + 2, 5.0 + 2.0)


def test_a_number_in_place_of_a_prior_fixes_the_quantity() -> None:
    model = Model(1, Gaussian(), rate=0.3, precision=4.0)
    rng = np.random.default_rng(4)
    assert model.draw_precision(rng, 5, -1.0) == 4.0
    assert model.draw_rate(rng, np.ones(1)) == 0.3


def test_a_likelihood_without_noise_has_unit_precision() -> None:
    assert Model(1, Binomial(5), 1.0, NOISE).draw_precision(np.random.default_rng(5), 5, -1.0) == 1.0


def joint_log_density(residuals: np.ndarray, s: np.ndarray, precision: float, rate: float) -> float:
    """Return log p(y, s, γ, λ) with all constants."""
    return float(
        stats.norm.logpdf(residuals, scale=precision**-0.5).sum()
        + stats.expon.logpdf(s, scale=1 / rate).sum()
        + stats.gamma.logpdf(precision, NOISE.shape, scale=1 / NOISE.rate)
        + stats.gamma.logpdf(rate, RATE.shape, scale=1 / RATE.rate)
    )


def test_joint_log_density_differs_from_scipy_by_a_constant_only() -> None:
    model = Model(2, Gaussian(), RATE, NOISE)
    rng = np.random.default_rng(6)
    gaps = []
    for _ in range(5):
        residuals, s, (precision, rate) = rng.standard_normal(7), rng.exponential(size=2), rng.gamma(2.0, size=2)
        ours = model.log_density(7, -0.5 * float(residuals @ residuals), s, precision, rate)
        gaps.append(ours - joint_log_density(residuals, s, precision, rate))
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-12)


def test_rank_must_fit_the_matrix() -> None:
    observations = Observations.from_triples([0, 1], [0, 1], [1.0, 2.0], (4, 3))
    Model(3, Gaussian(), 1.0).check(observations)
    with pytest.raises(ValueError, match=r"rank=4 is above min\(m, n\) = 3"):
        Model(4, Gaussian(), 1.0).check(observations)


def test_scaled_rate_prior_follows_the_units_of_the_data() -> None:
    """1/λ has the size of a singular value: √(mn/r) times the size of an entry."""
    observations = ragged_observations(np.random.default_rng(7))
    rows, cols, values = observations.triples()
    thousandfold = Observations.from_triples(rows, cols, 1000.0 * values, observations.shape)
    prior = scaled_rate_prior(3, observations, Gaussian())
    m, n = observations.shape
    assert prior.rate == pytest.approx(np.sqrt(np.mean(values**2) * m * n / 3))
    assert scaled_rate_prior(3, thousandfold, Gaussian()).rate == pytest.approx(1000.0 * prior.rate)


def test_scaled_rate_prior_of_zero_data_is_proper() -> None:
    zeros = Observations.from_triples([0, 1], [0, 1], [0.0, 0.0])
    prior = scaled_rate_prior(1, zeros, Gaussian())
    assert min(prior) > 0
    assert np.isfinite(prior).all()
