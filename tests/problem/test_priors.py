"""Priors: a mixture against its integral, a marginal against its integral, conditional draws against closed forms."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad

from manifill.base.priors import Gamma, Marginal, ScaledF

PRIORS = (ScaledF(2.0, 3.0, 1.5, 0.0), ScaledF(0.7, 0.5, 20.0, 0.3), ScaledF(8.0, 8.0, 0.01, 2.0))
GRID = np.geomspace(1e-3, 1e3, 13)


def log_integral(log_density: Callable[[float], float]) -> float:
    """Return log ∫ exp(log_density(v)) dv over v > 0, on a logarithmic axis about the largest value."""
    axis = np.linspace(-40.0, 40.0, 8001)
    center = axis[np.argmax([log_density(np.exp(t)) + t for t in axis])]
    top = log_density(np.exp(center)) + center
    area, _ = quad(lambda t: np.exp(log_density(np.exp(t)) + t - top), center - 60.0, center + 60.0, points=[center],
                   epsabs=0.0, epsrel=1e-11, limit=500)  # fmt: skip
    return float(np.log(area) + top)


def check_constant(differences: list[float]) -> None:
    np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("prior", PRIORS)
def test_a_precision_has_the_stated_density_once_its_rate_is_integrated_out(prior: ScaledF) -> None:
    def stated(gamma: float) -> float:
        power = -(prior.shape + prior.tail) * np.log(gamma + prior.scale)
        return float((prior.shape - 1.0) * np.log(gamma) + power - prior.floor * gamma)

    def integrated(gamma: float) -> float:
        return log_integral(lambda rate: prior.log_density(np.array([gamma]), rate))

    check_constant([integrated(gamma) - stated(gamma) for gamma in GRID[:10]])


@pytest.mark.parametrize("prior", PRIORS)
def test_conditionals_are_those_of_the_joint_density(prior: ScaledF) -> None:
    """Of a precision given the rate, and of the rate given three precisions: the same up to a constant."""
    others = np.array([0.3, 2.0])
    check_constant([prior.log_density(np.append(others, g), 0.8) - prior.given_rate(0.8).log_density(g) for g in GRID])
    three = np.array([0.3, 2.0, 0.1])
    conditional = Gamma(prior.tail + 3 * prior.shape, prior.scale + three.sum())
    check_constant([prior.log_density(three, rate) - conditional.log_density(rate) for rate in GRID])


def test_a_sweep_draws_precisions_and_their_rate_from_their_conditionals() -> None:
    """Mean and variance of four Gamma variables once their rates are divided out, |z| < 5: false-alarm rate 5e-6.

    A precision is Gamma(shape + its own, rate + floor + total) and the rate Gamma(tail + k·shape, scale + Σγ).
    """
    prior, shapes, totals = ScaledF(2.0, 3.0, 1.5, 0.4), np.array([0.0, 2.0, 5.5]), np.array([0.0, 1.0, 0.3])
    rng, draws = np.random.default_rng(1), []
    for _ in range(20_000):
        precisions = np.empty(3)
        rate = prior.sweep(rng, shapes, totals, precisions, 0.8, 1)
        draws.append([*(precisions * (0.8 + 0.4 + totals)), rate * (1.5 + precisions.sum())])
    for samples, shape in zip(np.transpose(draws), (2.0, 4.0, 7.5, 3.0 + 3 * 2.0), strict=True):
        for values in (samples, (samples - shape) ** 2):
            assert abs(values.mean() - shape) < 5.0 * values.std() / np.sqrt(len(values))


@pytest.mark.parametrize("prior", PRIORS[1:])
def test_a_typical_rate_puts_sigma_in_the_middle(prior: ScaledF) -> None:
    """Without the floor, γ given that rate has the mean ``scale``."""
    given = prior._replace(floor=0.0).given_rate(prior.typical_rate())
    assert given.shape / given.rate == pytest.approx(prior.scale)


@pytest.mark.parametrize("count", [1.5, 40.0])
@pytest.mark.parametrize("prior", [Gamma(3.0, 2.0), Gamma(0.5, 0.1)])
def test_a_marginal_is_the_integral_over_the_prior(prior: Gamma, count: float) -> None:
    marginal = Marginal.over(prior, count)

    def integrated(total: float) -> float:
        return log_integral(lambda v: prior.log_density(v) + count * np.log(v) - v * total)

    check_constant([integrated(total) - marginal.log_marginal(total)[0] for total in GRID])


@pytest.mark.parametrize("marginal", [Marginal.over(Gamma(3.0, 2.0), 4.5), Marginal.over(0.7, 4.5)])
def test_the_slope_of_a_marginal_is_its_derivative(marginal: Marginal) -> None:
    for total in GRID:
        h = 1e-5 * total
        ahead, behind = marginal.log_marginal(total + h)[0], marginal.log_marginal(total - h)[0]
        assert marginal.log_marginal(total)[1] == pytest.approx((ahead - behind) / (2.0 * h), rel=1e-7)


def test_a_known_value_stays_in_its_factor() -> None:
    assert Marginal.over(0.7, 4.5).log_marginal(2.0) == (-1.4, -0.7)
