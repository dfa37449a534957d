"""The density of all unknowns together: against SciPy's densities of the model, its gradient against differences."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import gammaln

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import address_of
from manifill.base.priors import Gamma
from manifill.kernels.cell_passes import factor_gradient, places_in_blocks
from manifill.kernels.compressed import Compressed
from manifill.likelihoods import WithNoise
from manifill.problem import Model, Observations
from manifill.problem.conditional_densities import EffectsGivenFactors
from manifill.problem.joint_density import JointDensity, rows_in_block
from manifill.unknowns import Effects, EffectsPrior, Layout, Unknowns, view
from manifill.unknowns.point import fold_signs
from tests.problem.cells import ragged_observations
from tests.problem.differences import check_differences, check_gradient, evaluate
from tests.problem.likelihoods import CASES, Case, for_each_case, noise_of

RANK = 2


class Setting(NamedTuple):
    """What is known, what is integrated out, and what is there at all."""

    precision: float | Gamma
    rate: float | Gamma
    effects: EffectsPrior | None = None
    weighted: bool = False


LEARNED_EFFECTS = EffectsPrior(0.4, 0.2, Gamma(2.0, 1.0), Gamma(3.0, 2.0))
SETTINGS = {
    "all known": Setting(1.7, 0.6),
    "all learned": Setting(Gamma(2.0, 3.0), Gamma(1.5, 0.5)),
    "weighted": Setting(1.7, 0.6, weighted=True),
    "effects, all known": Setting(1.7, 0.6, EffectsPrior(0.4, 0.2, 1.5, 2.5)),
    "effects, all learned": Setting(Gamma(2.0, 3.0), Gamma(1.5, 0.5), LEARNED_EFFECTS),
    "effects, weighted, all learned": Setting(Gamma(2.0, 3.0), Gamma(1.5, 0.5), LEARNED_EFFECTS, weighted=True),
}

in_each_setting = pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())


def weights_of(setting: Setting, cells: int) -> Vector:
    """Return the weights of the cells, by row, or nothing."""
    return np.random.default_rng(2).exponential(size=cells) if setting.weighted else np.empty(0)


def layout_of(setting: Setting, shape: tuple[int, int]) -> Layout:
    return Layout.whole(*shape, RANK, has_effects=setting.effects is not None, coordinates=0)


def problem(case: Case, setting: Setting, block_rows: int = 0) -> tuple[Observations, Compressed, JointDensity]:
    """Return observations, their encoded cells, and the density under test, by cells or by blocks of rows."""
    given = ragged_observations(np.random.default_rng(1), np.array(case.values))
    cells = given.by_row._replace(values=case.likelihood.encode(given.by_row.values))
    noise = noise_of(case.likelihood, setting.precision)
    model = Model(RANK, case.likelihood, setting.rate, noise, effects=setting.effects)
    density = JointDensity.of(model, cells, layout_of(setting, given.shape))
    density = density._replace(weights=weights_of(setting, given.size))
    return given, cells, in_blocks(density, block_rows)


def in_blocks(density: JointDensity, block_rows: int) -> JointDensity:
    """Return the density with a pass by blocks of so many rows, or by single cells."""
    n = density.layout.columns
    places = places_in_blocks(density.cells, n, block_rows) if block_rows else density.places[:0]
    scratch = density.scratch._replace(block=np.empty((2, block_rows, n)))
    density = density._replace(places=places, scratch=scratch)
    return density._replace(pass_address=address_of(density.cell_pass, *density.pass_arguments()))


def some_unknowns(rng: Generator, setting: Setting, shape: tuple[int, int]) -> Unknowns:
    (m, n), U, V = shape, rng.standard_normal((shape[0], RANK)), rng.standard_normal((shape[1], RANK))
    effects = Effects(rng.normal(), rng.normal(size=m), rng.normal(size=n), 1.0, 1.0)
    s = rng.exponential(size=RANK) * [1.0, -1.0]
    return Unknowns(U, s, V, Effects.none() if setting.effects is None else effects, np.empty(0))


def some_position(rng: Generator, setting: Setting, shape: tuple[int, int]) -> Vector:
    return some_unknowns(rng, setting, shape).pack(layout_of(setting, shape))


def log_factor(prior: float | Gamma, count: float, total: float) -> float:
    """Return log ∫ v^count exp(−v·total) dGamma(v), or its integrand at the known v."""
    if not isinstance(prior, Gamma):
        return float(count * np.log(prior) - prior * total)
    a, b = prior
    return float(a * np.log(b) - gammaln(a) + gammaln(a + count) - (a + count) * np.log(b + total))


def log_density(case: Case, setting: Setting, given: Observations, position: Vector) -> float:
    """Return log p(y, U, V, s, effects) by the model's own words; at unit noise the likelihood is SciPy's."""
    at = view(layout_of(setting, given.shape), position)
    (m, n), X, prior = given.shape, at.U * at.s @ at.V.T, setting.effects
    total = log_factor(setting.rate, RANK, np.abs(at.s).sum())
    if prior is not None:
        mean, a, b = at.mean[0], at.row, at.column
        X = X + mean + a[:, None] + b
        total += -0.5 * prior.mean_precision * (mean - prior.mean) ** 2
        total += log_factor(prior.row, m / 2, float(a @ a) / 2) + log_factor(prior.column, n / 2, float(b @ b) / 2)
    cells = list(zip(*given.triples(), strict=True))
    weights = weights_of(setting, len(cells)) if setting.weighted else np.ones(len(cells))
    # The Gaussian's log density at unit noise has a constant, −½ log 2π, which does not go with the precision.
    constant = 0.5 * np.log(2.0 * np.pi) if case.likelihood.has_noise else 0.0
    each = np.array([case.log_density(y, X[i, j]) + constant for i, j, y in cells])
    half_sse = -float(weights @ each)
    if not case.likelihood.has_noise:
        return float(total - half_sse)
    return float(total + log_factor(setting.precision, len(cells) / 2, half_sse))


@pytest.mark.parametrize("block_rows", [0, 3])
@in_each_setting
@for_each_case
def test_gradient_is_the_derivative(case: Case, setting: Setting, block_rows: int) -> None:
    given, _, density = problem(case, setting, block_rows)
    check_gradient(density, some_position(np.random.default_rng(3), setting, given.shape))


@pytest.mark.parametrize("block_rows", [0, 3])
@in_each_setting
@for_each_case
def test_density_differs_from_scipy_by_a_constant_only(case: Case, setting: Setting, block_rows: int) -> None:
    given, _, density = problem(case, setting, block_rows)
    positions = np.array([some_position(np.random.default_rng(seed), setting, given.shape) for seed in range(4)])
    check_differences(density, lambda x: log_density(case, setting, given, x), positions)


@for_each_case
def test_gradients_in_the_factors_are_those_of_one_factor_given_the_rest(case: Case) -> None:
    """With everything known, the sampler that moves one factor at a time sees the same slopes."""
    setting = SETTINGS["all known"]
    given, cells, density = problem(case, setting)
    position = some_position(np.random.default_rng(4), setting, given.shape)
    at = view(layout_of(setting, given.shape), position)
    expected = np.empty_like(at.U)
    precision = setting.precision if case.likelihood.has_noise else 1.0
    assert isinstance(precision, float)
    factor_gradient(cells, case.likelihood.compiled(), precision, at.U, at.V * at.s, expected)
    np.testing.assert_allclose(evaluate(density, position)[1][: at.U.size], expected.ravel(), rtol=1e-12, atol=1e-12)


@for_each_case
def test_effects_given_the_rest_are_the_same_density(case: Case) -> None:
    setting = SETTINGS["effects, all learned"]
    given, _, density = problem(case, setting)
    position = some_position(np.random.default_rng(5), setting, given.shape)
    first = position.size - sum(given.shape) - 1
    units = np.random.default_rng(9).exponential(size=position.size - first)
    target = EffectsGivenFactors(density, units, position.copy(), np.empty_like(position))
    others = position.copy()
    others[first:] = np.random.default_rng(6).standard_normal(position.size - first)
    for x in (position, others):
        value, gradient = evaluate(target, x[first:] / units)
        expected, whole = evaluate(density, x)
        assert value == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(gradient, whole[first:] * units, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["all learned", "effects, all learned"])
def test_packing_is_undone(name: str) -> None:
    position = some_position(np.random.default_rng(7), SETTINGS[name], (4, 3))
    elsewhere = some_unknowns(np.random.default_rng(10), SETTINGS[name], (4, 3))
    layout = layout_of(SETTINGS[name], (4, 3))
    again = elsewhere.moved_to(layout, position).pack(layout)
    np.testing.assert_array_equal(again, position)


@for_each_case
def test_folding_signs_changes_neither_the_matrix_nor_the_density(case: Case) -> None:
    setting = SETTINGS["effects, all learned"]
    given, _, density = problem(case, setting)
    position, layout = some_position(np.random.default_rng(8), setting, given.shape), layout_of(setting, given.shape)
    folded = position.copy()
    fold_signs(layout, folded)
    before, after = (view(layout, x) for x in (position, folded))
    np.testing.assert_array_equal(after.s, np.abs(before.s))
    np.testing.assert_array_equal(after.U * after.s @ after.V.T, before.U * before.s @ before.V.T)
    assert evaluate(density, folded)[0] == pytest.approx(evaluate(density, position)[0], rel=1e-14)


@pytest.mark.parametrize(
    ("shape", "width", "least"),
    [
        ((40, 40), 2, 0.016),
        ((100, 60), 12, 0.096),
        ((40, 40), 60, 0.4),
        ((400, 200), 2, 0.116),
        ((400, 200), 40, 0.4),
    ],
)
def test_whole_rows_are_taken_where_enough_cells_are_observed(shape: tuple[int, int], width: int, least: float) -> None:
    """From a share on that depends on the width; a large table needs more."""
    cells = round(least * shape[0] * shape[1])
    assert rows_in_block(cells - 1, shape, width) == 0
    assert rows_in_block(cells + 1, shape, width) == min(shape[0], 128)


@pytest.mark.parametrize(("shape", "expected"), [((8, 100_000), 8), ((200, 100_000), 16), ((200, 2048), 32)])
def test_blocks_are_bounded_however_long_rows_are(shape: tuple[int, int], expected: int) -> None:
    assert rows_in_block(shape[0] * shape[1], shape, 10) == expected


def gaussian_density(given: Observations) -> JointDensity:
    model = Model(RANK, CASES["gaussian"].likelihood, 1.0, WithNoise())
    return JointDensity.of(model, given.by_row, Layout.whole(*given.shape, RANK, has_effects=False, coordinates=0))


@pytest.mark.parametrize(("cells", "expected"), [(25, 0), (26, 40)])
def test_a_density_takes_as_many_rows(cells: int, expected: int) -> None:
    given = Observations.from_triples(np.arange(cells) // 40, np.arange(cells) % 40, np.ones(cells), (40, 40))
    density = gaussian_density(given)
    assert density.scratch.block.shape == (2, expected, 40)


@pytest.mark.parametrize("rows", [128, 129, 300])
def test_several_blocks_give_what_single_cells_give(rows: int) -> None:
    """Blocks of 128 rows, the last of them not full."""
    rng = np.random.default_rng(9)
    cells = np.flatnonzero(rng.random(rows * 5) < 0.7)
    given = Observations.from_triples(cells // 5, cells % 5, rng.standard_normal(cells.size), (rows, 5))
    dense = gaussian_density(given)
    assert dense.scratch.block.shape[1] == 128
    sparse = in_blocks(dense, 0)
    position = rng.standard_normal((rows + 5 + 1) * RANK)
    (value, gradient), (expected, expected_gradient) = evaluate(dense, position), evaluate(sparse, position)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-12)
