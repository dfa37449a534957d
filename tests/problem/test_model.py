"""The model: its joint density against SciPy, its conjugate draws against closed forms."""

import numpy as np
import pytest
from scipy import stats

from manifill.base.arrays import Vector
from manifill.base.priors import Gamma, Marginal, ScaledF
from manifill.likelihoods import Binomial, Gaussian, NoiseState, WithNoise
from manifill.problem import Model, Observations
from manifill.sampling.noise_draws import draw_shared
from manifill.unknowns import Effects, EffectsPrior, Unknowns
from manifill.unknowns.effects import draw_precision
from tests.problem.likelihoods import TAILS, noise_of

NOISE, RATE, SHARED = Gamma(3.0, 2.0), Gamma(2.0, 5.0), ScaledF(2.0, 3.0, 1.5, 0.4)


def check_gamma_draws(draws: Vector, shape: float, rate: float) -> None:
    """Mean and variance of a Gamma by z-scores, bound 5: false-alarm rate 1e-6."""
    mean, variance = shape / rate, shape / rate**2
    for samples, expected in ((draws, mean), ((draws - mean) ** 2, variance)):
        assert abs(samples.mean() - expected) < 5.0 * samples.std() / np.sqrt(len(samples))


def test_gamma_prior_draws() -> None:
    rng = np.random.default_rng(1)
    check_gamma_draws(np.array([NOISE.draw(rng) for _ in range(20_000)]), 3.0, 2.0)


def test_precision_given_the_rest() -> None:
    """γ | rest ~ Gamma(α + N/2, β + SSE/2)."""
    noise, rng = WithNoise(NOISE), np.random.default_rng(2)
    before = noise.start((1, 1))
    draws = np.array([draw_shared(rng, noise, 11, 3.5, before).precision for _ in range(20_000)])
    check_gamma_draws(draws, 3.0 + 5.5, 2.0 + 3.5)


def test_noise_and_its_rate_are_drawn_from_their_joint_conditional() -> None:
    """A chain of draws on one column's residuals: means of γ and of the rate against quadrature, |z| < 5."""
    model, (count, sse) = WithNoise(SHARED), (3, 2.0)
    gamma, rate = np.meshgrid(np.geomspace(1e-4, 40.0, 600), np.geomspace(1e-4, 60.0, 600), indexing="ij")
    log_p = (2.0 - 1.0 + 0.5 * count) * np.log(gamma) - (rate + 0.4 + 0.5 * sse) * gamma
    log_p += (2.0 + 3.0 - 1.0) * np.log(rate) - 1.5 * rate
    weights = np.exp(log_p) * gamma * rate  # the grid is even in the logarithms
    rng, noise, draws = np.random.default_rng(4), model.start((1, 1)), []
    for _ in range(5_000):
        noise = draw_shared(rng, model, count, 0.5 * sse, noise)
        draws.append((noise.precision, noise.rate))
    for samples, values in zip(np.log(draws).T, (np.log(gamma), np.log(rate)), strict=True):
        batches = samples.reshape(100, -1).mean(axis=1)
        assert abs(samples.mean() - np.average(values, weights=weights)) < 5.0 * batches.std() / 10.0


def test_rate_given_the_singular_values() -> None:
    """λ | s ~ Gamma(a + r, b + Σ s)."""
    model = Model(2, Gaussian(), RATE, WithNoise())
    rng = np.random.default_rng(3)
    draws = np.array([model.draw_rate(rng, np.array([1.5, 0.5])) for _ in range(20_000)])
    check_gamma_draws(draws, 2.0 + 2, 5.0 + 2.0)


def test_precision_of_effects_given_them() -> None:
    """1/variance of n effects ~ Gamma(α + n/2, β + Σ/2), or as given."""
    rng, values = np.random.default_rng(8), np.array([1.0, -2.0, 0.5])
    draws = np.array([draw_precision(rng, NOISE, values) for _ in range(20_000)])
    check_gamma_draws(draws, 3.0 + 1.5, 2.0 + 0.5 * 5.25)
    assert draw_precision(rng, 0.7, values) == 0.7


def test_a_number_in_place_of_a_prior_fixes_the_quantity() -> None:
    noise = WithNoise(4.0)
    model = Model(1, Gaussian(), rate=0.3, noise=noise)
    rng = np.random.default_rng(4)
    assert draw_shared(rng, noise, 7, 2.0, noise.start((1, 1))).precision == 4.0
    assert model.draw_rate(rng, np.ones(1)) == 0.3


def test_a_likelihood_without_noise_has_unit_precision() -> None:
    noise = Model(1, Binomial(5), 1.0).noise
    state = noise.start((4, 3))
    assert (state.precision, noise.variables((4, 3)), noise.log_prior(state)) == (1.0, (), 0.0)
    assert noise.marginal(state, 5) == Marginal.over(1.0, 0.0)


ROW = Gamma(2.0, 3.0)
EFFECTS = EffectsPrior(0.5, 0.1, ROW, 0.8)


def log_gamma(value: float, prior: Gamma) -> float:
    return float(stats.gamma.logpdf(value, prior.shape, scale=1 / prior.rate))


def unknowns_of(s: Vector, effects: Effects) -> Unknowns:
    """Return unknowns with these; U and V are uniform under the prior, and do not matter here."""
    nothing = np.empty((0, len(s)))
    return Unknowns(nothing, s, nothing, effects, np.empty(0))


def joint_log_density(log_likelihood: float, s: Vector, noise: NoiseState, rate: float, effects: Effects) -> float:
    """Return log p(y, s, noise, λ, effects) with all constants."""
    total = log_likelihood + stats.expon.logpdf(s, scale=1 / rate).sum() + log_gamma(rate, RATE)
    total += log_gamma(noise.precision, NOISE)
    for factors, shape in ((noise.row, noise.row_shape), (noise.column, noise.column_shape)):
        if factors.size:
            # The density of log a, where a^(−½) is half-Cauchy.
            total += stats.halfcauchy.logpdf(shape**-0.5, scale=0.4) - 0.5 * np.log(shape)
            total += sum(log_gamma(value, Gamma(shape, shape)) for value in factors)
    if np.isfinite(noise.degrees):
        total += log_gamma(noise.degrees - 2.0, Gamma(*TAILS)) + np.log(noise.degrees)
    total += stats.norm.logpdf(effects.mean, 0.5, 0.1**-0.5) + log_gamma(effects.row_precision, ROW)
    total += stats.norm.logpdf(effects.row, 0.0, effects.row_precision**-0.5).sum()
    return float(total + stats.norm.logpdf(effects.column, 0.0, 0.8**-0.5).sum())


@pytest.mark.parametrize("by", ["shared", "row", "both", "all"])
def test_joint_log_density_differs_from_scipy_by_a_constant_only(by: str) -> None:
    model = Model(2, Gaussian(), RATE, noise_of(Gaussian(), NOISE, by), effects=EFFECTS)
    rng, gaps = np.random.default_rng(6), []
    for _ in range(5):
        s, (rate, row_precision) = rng.exponential(size=2), rng.gamma(2.0, size=2)
        start = model.noise.start((4, 3))
        noise = start._replace(
            precision=rng.gamma(2.0),
            row=rng.gamma(2.0, size=start.row.size),
            row_shape=4.0 + rng.exponential() if start.row.size else np.inf,
            column=rng.gamma(2.0, size=start.column.size),
            column_shape=4.0 + rng.exponential() if start.column.size else np.inf,
            degrees=2.0 + rng.exponential() if np.isfinite(start.degrees) else np.inf,
        )
        effects = Effects(rng.normal(), rng.normal(size=4), rng.normal(size=3), row_precision, 0.8)
        log_likelihood = float(rng.normal())
        ours = model.log_density(log_likelihood, noise, unknowns_of(s, effects), rate)
        gaps.append(ours - joint_log_density(log_likelihood, s, noise, rate, effects))
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-12)


def test_without_effects_they_do_not_enter_the_density() -> None:
    model, noise = Model(2, Gaussian(), RATE, WithNoise(NOISE)), NoiseState.shared(1.0)
    some = Effects(3.0, np.ones(4), np.ones(3), 2.0, 5.0)
    with_some, without = (
        model.log_density(-2.0, noise, unknowns_of(np.ones(2), effects), 1.0) for effects in (some, Effects.none())
    )
    assert with_some == without


def test_centred_effects_have_the_same_sums() -> None:
    rng = np.random.default_rng(7)
    effects = Effects(rng.normal(), rng.normal(1.0, size=4), rng.normal(-2.0, size=3), 1.0, 1.0)
    centered = effects.centered()
    assert abs(centered.row.mean()) < 1e-15
    assert abs(centered.column.mean()) < 1e-15
    before, after = (e.mean + e.row[:, None] + e.column for e in (effects, centered))
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-14)


def test_rank_must_fit_the_matrix() -> None:
    observations = Observations.from_triples([0, 1], [0, 1], [1.0, 2.0], (4, 3))
    Model(3, Gaussian(), 1.0).check(observations)
    with pytest.raises(ValueError, match=r"rank=4 is above min\(m, n\) = 3"):
        Model(4, Gaussian(), 1.0).check(observations)
