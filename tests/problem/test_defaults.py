"""Default priors follow the units of the data: another scale or another origin changes nothing but the units."""

import numpy as np
import pytest

from manifill.base.priors import Gamma
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.problem import Observations, scaled_effects_prior, scaled_noise_prior, scaled_rate_prior
from manifill.problem.additive_fit import fit_additive
from tests.problem.cells import ragged_observations

SCALE, SHIFT = 1000.0, 40.0


def changed(scale: float, shift: float) -> Observations:
    observations = ragged_observations(np.random.default_rng(7))
    rows, cols, values = observations.triples()
    return Observations.from_triples(rows, cols, scale * values + shift, observations.shape)


PLAIN, SCALED, SHIFTED = changed(1.0, 0.0), changed(SCALE, 0.0), changed(1.0, SHIFT)


@pytest.mark.parametrize("effects", [False, True])
def test_rate_is_one_over_the_size_of_a_singular_value(effects: bool) -> None:
    """√(mn/r) times the size of an entry: the spread that effects leave, its root mean square without them."""
    values, (m, n) = PLAIN.by_row.values, PLAIN.shape
    prior, scaled, shifted = (
        scaled_rate_prior(3, data, Gaussian(), effects=effects) for data in (PLAIN, SCALED, SHIFTED)
    )
    size = np.sqrt(fit_additive(PLAIN, values).residual_of_both if effects else np.mean(values**2))
    assert prior.rate == pytest.approx(size * np.sqrt(m * n / 3))
    assert scaled.rate == pytest.approx(SCALE * prior.rate)
    assert prior.shape == scaled.shape == shifted.shape == 1.0
    assert (shifted.rate == pytest.approx(prior.rate)) == effects


def test_noise_is_in_units_of_the_spread() -> None:
    prior, scaled, shifted = (scaled_noise_prior(data, effects=True) for data in (PLAIN, SCALED, SHIFTED))
    assert scaled.scale == pytest.approx(prior.scale / SCALE**2)
    assert scaled.floor == pytest.approx(prior.floor * SCALE**2)
    np.testing.assert_allclose(shifted, prior, rtol=1e-10)
    assert scaled[:2] == prior[:2]


def test_noise_prior_weighs_the_same_whatever_the_number_of_cells() -> None:
    """Where each column has a noise of its own, each has this prior, and few of the cells."""
    rows, cols = np.nonzero(np.ones((400, 25)))
    many = Observations.from_triples(rows, cols, np.random.default_rng(1).normal(size=10_000))
    assert scaled_noise_prior(many, effects=True)[:2] == scaled_noise_prior(PLAIN, effects=True)[:2]


def test_effects_are_about_the_mean_in_units_of_the_spread() -> None:
    prior, scaled, shifted = (scaled_effects_prior(data, Gaussian()) for data in (PLAIN, SCALED, SHIFTED))
    assert prior.mean == pytest.approx(PLAIN.by_row.values.mean())
    assert scaled.mean == pytest.approx(SCALE * prior.mean)
    assert shifted.mean == pytest.approx(prior.mean + SHIFT)
    assert scaled.mean_precision == pytest.approx(prior.mean_precision / SCALE**2)
    assert shifted.mean_precision == pytest.approx(prior.mean_precision)
    for ours, theirs in ((prior.row, scaled.row), (prior.column, scaled.column)):
        assert isinstance(ours, Gamma)
        assert isinstance(theirs, Gamma)
        assert theirs.rate == pytest.approx(SCALE**2 * ours.rate)
        assert theirs.shape == ours.shape


@pytest.mark.parametrize("axis", [0, 1])
def test_levels_of_columns_say_nothing_of_rows_nor_of_the_low_rank_part(axis: int) -> None:
    """And the other way round."""
    lines = PLAIN.triples()[axis]
    rows, cols, values = PLAIN.triples()
    levels = Observations.from_triples(rows, cols, values + 1000.0 * lines, PLAIN.shape)
    before, after = (scaled_effects_prior(data, Gaussian()) for data in (PLAIN, levels))
    own, other = ("row", "column") if axis == 0 else ("column", "row")
    assert getattr(after, other).rate == pytest.approx(getattr(before, other).rate, rel=1e-6)
    assert getattr(after, own).rate > 1e4 * getattr(before, own).rate
    rates = [scaled_rate_prior(3, data, Gaussian(), effects=True).rate for data in (PLAIN, levels)]
    assert rates[1] == pytest.approx(rates[0], rel=1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_levels_far_apart_say_nothing_of_the_noise(axis: int) -> None:
    """They move the prior by a factor of ten at most, however far apart they are, unless there are no effects."""
    rows, cols, values = PLAIN.triples()

    def scales(level: float, *, effects: bool) -> float:
        moved = values + level * PLAIN.triples()[axis]
        return scaled_noise_prior(Observations.from_triples(rows, cols, moved, PLAIN.shape), effects=effects).scale

    near, far, farther = (scales(level, effects=True) for level in (0.0, 1e4, 1e8))
    assert farther == pytest.approx(far, rel=1e-6)
    assert 1e-3 * near < far < near
    assert scales(1e8, effects=False) < 1e-6 * scales(1e4, effects=False)


@pytest.mark.parametrize("likelihood", [Gaussian(), SoftplusGaussian(), Binomial(5, 0.1)])
@pytest.mark.parametrize("value", [0.0, 0.3, 0.1])
def test_priors_of_constant_data_are_proper(likelihood: Likelihood, value: float) -> None:
    """The variance of twenty times 0.1 is not zero: it is that of rounding errors."""
    constant = Observations.from_triples(np.arange(20), np.arange(20) % 2, np.full(20, value))
    rates = [scaled_rate_prior(1, constant, likelihood, effects=effects) for effects in (False, True)]
    effects, noise = scaled_effects_prior(constant, likelihood), scaled_noise_prior(constant, effects=True)
    assert isinstance(effects.row, Gamma)
    assert isinstance(effects.column, Gamma)
    numbers = np.array([*rates[0], *rates[1], effects.mean_precision, *effects.row, *effects.column, *noise])
    assert np.isfinite(effects.mean)
    assert np.isfinite(numbers).all()
    assert (numbers > 0).all()
    assert noise.scale * (value**2 or 1.0) == pytest.approx(25.0)
