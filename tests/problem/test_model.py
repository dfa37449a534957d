"""The model: its joint density against SciPy, its conjugate draws against closed forms."""

import numpy as np
import pytest
from scipy import stats

from manifill.base.arrays import Matrix, Vector
from manifill.base.priors import Gamma, Marginal, ScaledF
from manifill.likelihoods import Binomial, Gaussian, NoiseState, WithNoise
from manifill.problem import Model, Observations
from manifill.unknowns import Effects, EffectsPrior, Unknowns
from manifill.unknowns.effects import draw_precision

NOISE, RATE, SHARED = Gamma(3.0, 2.0), Gamma(2.0, 5.0), ScaledF(2.0, 3.0, 1.5, 0.4)


def check_gamma_draws(draws: Vector, shape: float, rate: float) -> None:
    """Mean and variance of a Gamma by z-scores, bound 5: false-alarm rate 1e-6."""
    mean, variance = shape / rate, shape / rate**2
    for samples, expected in ((draws, mean), ((draws - mean) ** 2, variance)):
        assert abs(samples.mean() - expected) < 5.0 * samples.std() / np.sqrt(len(samples))


def test_gamma_prior_draws() -> None:
    rng = np.random.default_rng(1)
    check_gamma_draws(np.array([NOISE.draw(rng) for _ in range(20_000)]), 3.0, 2.0)


def noise_draws(model: Model, seed: int, counts: list[float], sse: list[float]) -> Matrix:
    """Return 20,000 draws of γ for groups of cells with these squared residuals."""
    rng, unit = np.random.default_rng(seed), -0.5 * np.array(sse)
    before = model.noise.start()
    return np.array([model.noise.draw(rng, np.array(counts), unit, before).precision for _ in range(20_000)])


def test_precision_given_the_rest() -> None:
    """γ | rest ~ Gamma(α + N/2, β + SSE/2), one for all cells or one for each column."""
    model = Model(1, Gaussian(), 1.0, WithNoise(NOISE))
    check_gamma_draws(noise_draws(model, 2, [11.0], [7.0])[:, 0], 3.0 + 5.5, 2.0 + 3.5)
    two = noise_draws(model, 3, [11.0, 0.0], [7.0, 0.0])
    check_gamma_draws(two[:, 0], 3.0 + 5.5, 2.0 + 3.5)
    check_gamma_draws(two[:, 1], 3.0, 2.0)


def test_noise_and_its_rate_are_drawn_from_their_joint_conditional() -> None:
    """A chain of draws on one column's residuals: means of γ and of the rate against quadrature, |z| < 5."""
    model, (count, sse) = Model(1, Gaussian(), 1.0, WithNoise(SHARED)), (3.0, 2.0)
    gamma, rate = np.meshgrid(np.geomspace(1e-4, 40.0, 600), np.geomspace(1e-4, 60.0, 600), indexing="ij")
    log_p = (2.0 - 1.0 + 0.5 * count) * np.log(gamma) - (rate + 0.4 + 0.5 * sse) * gamma
    log_p += (2.0 + 3.0 - 1.0) * np.log(rate) - 1.5 * rate
    weights = np.exp(log_p) * gamma * rate  # the grid is even in the logarithms
    rng, noise, draws = np.random.default_rng(4), model.noise.start(), []
    for _ in range(5_000):
        noise = model.noise.draw(rng, np.array([count]), np.array([-0.5 * sse]), noise)
        draws.append((noise.precision[0], noise.rate))
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
    model = Model(1, Gaussian(), rate=0.3, noise=WithNoise(4.0))
    rng = np.random.default_rng(4)
    drawn = model.noise.draw(rng, np.array([5.0, 2.0]), np.array([-1.0, -3.0]), model.noise.start())
    assert drawn.precision.tolist() == [4.0, 4.0]
    assert model.draw_rate(rng, np.ones(1)) == 0.3


@pytest.mark.parametrize("before", [None, NoiseState(np.array([4.0]), 0.0), NoiseState(np.array([2.0, 3.0]), 0.7)])
def test_a_likelihood_without_noise_has_unit_precision(before: NoiseState | None) -> None:
    model = Model(1, Binomial(5), 1.0)
    state = model.noise.start() if before is None else before
    noise = model.noise.draw(np.random.default_rng(5), np.array([5.0]), np.array([-1.0]), state)
    assert noise.precision.tolist() == [1.0]
    weights, marginal = model.noise.marginal(state, 5)
    assert (weights.size, marginal) == (0, Marginal.over(1.0, 0.0))


ROW = Gamma(2.0, 3.0)
EFFECTS = EffectsPrior(0.5, 0.1, ROW, 0.8)


def log_gamma(value: float, prior: Gamma) -> float:
    return float(stats.gamma.logpdf(value, prior.shape, scale=1 / prior.rate))


def unknowns_of(s: Vector, effects: Effects) -> Unknowns:
    """Return unknowns with these; U and V are uniform under the prior, and do not matter here."""
    nothing = np.empty((0, len(s)))
    return Unknowns(nothing, s, nothing, effects, np.empty(0))


def joint_log_density(residuals: list[Vector], s: Vector, noise: NoiseState, rate: float, effects: Effects) -> float:
    """Return log p(y, s, γ, λ, effects) with all constants: a precision for each list of residuals."""
    total = stats.expon.logpdf(s, scale=1 / rate).sum() + log_gamma(rate, RATE)
    for own, precision in zip(residuals, noise.precision, strict=True):
        total += stats.norm.logpdf(own, scale=precision**-0.5).sum() + log_gamma(precision, NOISE)
    total += stats.norm.logpdf(effects.mean, 0.5, 0.1**-0.5) + log_gamma(effects.row_precision, ROW)
    total += stats.norm.logpdf(effects.row, 0.0, effects.row_precision**-0.5).sum()
    return float(total + stats.norm.logpdf(effects.column, 0.0, 0.8**-0.5).sum())


@pytest.mark.parametrize("groups", [[7], [4, 0, 3]], ids=["shared noise", "noise by column"])
def test_joint_log_density_differs_from_scipy_by_a_constant_only(groups: list[int]) -> None:
    model = Model(2, Gaussian(), RATE, WithNoise(NOISE, by_column=len(groups) > 1), effects=EFFECTS)
    rng = np.random.default_rng(6)
    gaps = []
    for _ in range(5):
        residuals, s, (rate, row_precision) = (
            [rng.standard_normal(k) for k in groups],
            rng.exponential(size=2),
            (rng.gamma(2.0, size=2)),
        )
        noise = NoiseState(rng.gamma(2.0, size=len(groups)), 0.0)
        effects = Effects(rng.normal(), rng.normal(size=4), rng.normal(size=3), row_precision, 0.8)
        unit = np.array([-0.5 * float(own @ own) for own in residuals])
        ours = model.log_density(np.array(groups, dtype=float), unit, noise, unknowns_of(s, effects), rate)
        gaps.append(ours - joint_log_density(residuals, s, noise, rate, effects))
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-12)


def test_without_effects_they_do_not_enter_the_density() -> None:
    model, noise = Model(2, Gaussian(), RATE, WithNoise(NOISE)), NoiseState(np.ones(1), 0.0)
    some = Effects(3.0, np.ones(4), np.ones(3), 2.0, 5.0)
    with_some, without = (
        model.log_density(np.array([7.0]), np.array([-2.0]), noise, unknowns_of(np.ones(2), effects), 1.0)
        for effects in (some, Effects.none())
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
