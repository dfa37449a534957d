import numpy as np
import pytest
from accuracy import scores
from accuracy.comparison import paired_z
from accuracy.coverage import coverage
from scipy.integrate import quad
from scipy.stats import norm, ttest_rel

from manifill.base.arrays import Matrix, Vector

MEANS = np.array([[3.0, 4.2, 1.0], [3.4, 5.1, 0.2], [2.1, 4.0, -3.0]])
SDS = np.array([[0.5, 0.8, 1.0], [1.1, 0.3, 0.4], [0.2, 0.9, 2.0]])
VALUES = np.array([3.5, 5.0, 0.5])


def cdf(cell: int, y: float) -> float:
    return float(np.mean(norm.cdf(y, MEANS[:, cell], SDS[:, cell])))


def mixture_samples(count: int, cell: int) -> Matrix:
    rng = np.random.default_rng(1)
    component = rng.integers(len(MEANS), size=count)
    return np.asarray(rng.normal(MEANS[component, cell], SDS[component, cell])[:, None])


def test_log_density_of_a_mixture() -> None:
    expected = np.log(np.mean(norm.pdf(VALUES, MEANS, SDS), axis=0))
    np.testing.assert_allclose(scores.mixture_log_density(MEANS, SDS, VALUES), expected, rtol=1e-12)


def test_log_mass_of_half_star_bins_open_at_the_ends() -> None:
    masses = cdf(0, 3.75) - cdf(0, 3.25), 1.0 - cdf(1, 4.75), cdf(2, 0.75)
    np.testing.assert_allclose(scores.mixture_log_mass(MEANS, SDS, VALUES), np.log(masses), rtol=1e-10)


def test_masses_of_all_stars_sum_to_one() -> None:
    stars = scores.STARS
    logs = scores.mixture_log_mass(np.full((1, 10), 4.6), np.full((1, 10), 0.7), stars)
    assert np.sum(np.exp(logs)) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("cell", range(3))
def test_crps_of_a_mixture_by_integration(cell: int) -> None:
    value = VALUES[cell]
    below, _ = quad(lambda y: cdf(cell, y) ** 2, -20.0, value, limit=200)
    above, _ = quad(lambda y: (1.0 - cdf(cell, y)) ** 2, value, 20.0, limit=200)
    found = scores.mixture_crps(MEANS, SDS, VALUES)[cell]
    assert found == pytest.approx(below + above, rel=1e-6)


def test_crps_of_many_components_uses_pairs_that_represent_all_of_a_chain() -> None:
    rng = np.random.default_rng(2)
    means, sds = rng.normal(size=(100, 400)), np.full((100, 400), 0.5)
    for t in range(1, 100):  # neighbours are correlated by 0.8
        means[t] = 0.8 * means[t - 1] + 0.6 * means[t]
    values = rng.normal(size=400)
    found = np.mean(scores.mixture_crps(means, sds, values))
    spread = means[:, None] - means
    apart = np.mean(scores._mean_distance(spread, np.full_like(spread, 0.5**0.5)))
    expected = np.mean(scores._mean_distance(values - means, sds)) - 0.5 * apart
    assert found == pytest.approx(expected, rel=5e-3)


def test_scores_of_samples_agree_with_those_of_their_distribution() -> None:
    for cell in range(3):
        one: tuple[Matrix, Matrix, Vector] = MEANS[:, [cell]], SDS[:, [cell]], VALUES[[cell]]
        samples = mixture_samples(400_000, cell)
        given = samples, VALUES[[cell]]
        assert scores.sample_crps(*given) == pytest.approx(scores.mixture_crps(*one), rel=0.01)
        assert scores.sample_log_mass(*given) == pytest.approx(scores.mixture_log_mass(*one), abs=0.02)
        assert scores.sample_position(*given) == pytest.approx(scores.mixture_position(*one), abs=0.005)


def test_scores_of_classes() -> None:
    probabilities = np.zeros((2, 10))
    probabilities[0, 6:8] = 0.25, 0.75  # 3.5 and 4 stars
    probabilities[1, 9] = 1.0
    values = np.array([4.0, 4.5])
    np.testing.assert_allclose(scores.class_log_mass(probabilities, values), [np.log(0.75), np.log(scores.LEAST_MASS)])
    # Half a star wrong with a probability of 1/4: 0.5 · 0.25²; always half a star wrong: 0.5.
    np.testing.assert_allclose(scores.class_crps(probabilities, values), [0.03125, 0.5])


def test_positions_of_classes_are_uniform_if_the_probabilities_are_right() -> None:
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.ones(10))
    values = rng.choice(scores.STARS, size=20_000, p=shares)
    position = scores.class_position(rng, np.broadcast_to(shares, (values.size, 10)), values)
    quantiles = np.quantile(position, (0.1, 0.5, 0.9))
    np.testing.assert_allclose(quantiles, (0.1, 0.5, 0.9), atol=4.0 * 0.5 / np.sqrt(values.size))


def test_coverage_finds_the_column_that_misses() -> None:
    rng = np.random.default_rng(4)
    cols = np.repeat(np.arange(20), 400)
    position = rng.random(cols.size)
    right = coverage(position, cols)
    assert right.failed == 0
    np.testing.assert_allclose(right.pooled, (0.5, 0.8, 0.9, 0.95), atol=4.0 * 0.5 / np.sqrt(cols.size))
    narrow = np.where(cols == 7, 0.5 + 0.5 * (position - 0.5), position)  # intervals twice as wide as they should be
    wrong = coverage(narrow, cols)
    assert (wrong.failed, wrong.columns) == (1, 20)
    assert wrong.worst.startswith("column 7:")


def test_a_miss_that_chance_explains_among_many_columns_is_not_counted() -> None:
    narrow = np.concatenate([np.linspace(0.26, 0.74, 26), [0.02, 0.1, 0.9, 0.98]])  # 26 of 30 at 50 %: p = 6e-5
    even = (np.arange(30) + 0.5) / 30
    assert coverage(narrow, np.zeros(30, dtype=int)).failed == 1
    position = np.concatenate([narrow, np.tile(even, 99)])
    assert coverage(position, np.repeat(np.arange(100), 30)).failed == 0


def test_paired_z_is_the_paired_t_statistic() -> None:
    first, second = [0.83, 0.84, 0.82, 0.85], [0.84, 0.842, 0.835, 0.851]
    assert paired_z(first, second) == pytest.approx(ttest_rel(first, second).statistic)
    assert np.isnan(paired_z([0.8], [0.9]))
