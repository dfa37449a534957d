"""The density of all unknowns together: against SciPy's densities of the model, its gradient against differences."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import gammaln

from manifill.problem import Compressed, Effects, EffectsPrior, Gamma, Model, Observations
from manifill.problem.joint import EffectsGivenRest, JointDensity, fold_signs, pack, rows_in_block, unpack
from manifill.problem.passes import factor_gradient, places_in_blocks
from manifill.types import Generator, Vector
from tests.problem.cells import ragged_observations
from tests.problem.differences import check_differences, check_gradient, evaluate
from tests.problem.likelihoods import CASES, Case, for_each_case

RANK = 2


class Setting(NamedTuple):
    """What is known, what is integrated out, and what is there at all."""

    precision: float | Gamma
    rate: float | Gamma
    effects: EffectsPrior | None = None
    by_column: bool = False


LEARNED_EFFECTS = EffectsPrior(0.4, 0.2, Gamma(2.0, 1.0), Gamma(3.0, 2.0))
SETTINGS = {
    "all known": Setting(1.7, 0.6),
    "all learned": Setting(Gamma(2.0, 3.0), Gamma(1.5, 0.5)),
    "noise by column": Setting(1.0, 0.6, by_column=True),
    "effects, all known": Setting(1.7, 0.6, EffectsPrior(0.4, 0.2, 1.5, 2.5)),
    "effects, all learned": Setting(Gamma(2.0, 3.0), Gamma(1.5, 0.5), LEARNED_EFFECTS),
    "effects, noise by column": Setting(1.0, 0.6, LEARNED_EFFECTS, by_column=True),
}

in_each_setting = pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS.keys())


def weights_of(setting: Setting, columns: int) -> Vector:
    """Return the precisions of the columns, or nothing."""
    return np.random.default_rng(2).exponential(size=columns) if setting.by_column else np.empty(0)


def problem(case: Case, setting: Setting, block_rows: int = 0) -> tuple[Observations, Compressed, JointDensity]:
    """Return observations, their encoded cells, and the density under test, by cells or by blocks of rows."""
    given = ragged_observations(np.random.default_rng(1), np.array(case.values))
    cells = given.by_row._replace(values=case.likelihood.encode(given.by_row.values))
    model = Model(RANK, case.likelihood, setting.rate, setting.precision, effects=setting.effects)
    density = JointDensity.of(model, cells, given.shape)
    n = given.shape[1]
    places = places_in_blocks(cells, n, block_rows) if block_rows else density.places[:0]
    block = np.empty((2, block_rows, n))
    return given, cells, density._replace(weights=weights_of(setting, n), places=places, block=block)


def some_position(rng: Generator, setting: Setting, shape: tuple[int, int]) -> Vector:
    (m, n), U, V = shape, rng.standard_normal((shape[0], RANK)), rng.standard_normal((shape[1], RANK))
    effects = Effects(rng.normal(), rng.normal(size=m), rng.normal(size=n), 1.0, 1.0)
    return pack(U, rng.exponential(size=RANK) * [1.0, -1.0], V, None if setting.effects is None else effects)


def log_factor(prior: float | Gamma, count: float, total: float) -> float:
    """Return log ∫ v^count exp(−v·total) dGamma(v), or its integrand at the known v."""
    if not isinstance(prior, Gamma):
        return count * np.log(prior) - prior * total
    a, b = prior
    return float(a * np.log(b) - gammaln(a) + gammaln(a + count) - (a + count) * np.log(b + total))


def log_density(case: Case, setting: Setting, given: Observations, position: Vector) -> float:
    """Return log p(y, U, V, s, effects) by the model's own words; at unit noise the likelihood is SciPy's."""
    U, s, V, effects = unpack(position, given.shape, RANK)
    (m, n), X, prior = given.shape, U * s @ V.T, setting.effects
    total = log_factor(setting.rate, RANK, np.abs(s).sum())
    if prior is not None:
        mean, a, b = effects[0], effects[1 : 1 + m], effects[1 + m :]
        X = X + mean + a[:, None] + b
        total += -0.5 * prior.mean_precision * (mean - prior.mean) ** 2
        total += log_factor(prior.row, m / 2, a @ a / 2) + log_factor(prior.column, n / 2, b @ b / 2)
    cells = list(zip(*given.triples(), strict=True))
    if setting.by_column:
        weights = weights_of(setting, n)
        return float(total + sum(weights[j] * case.log_density(y, X[i, j]) for i, j, y in cells))
    if not case.likelihood.has_noise:
        return float(total + sum(case.log_density(y, X[i, j]) for i, j, y in cells))
    # The Gaussian's log density at unit noise has a constant, −½ log 2π, which does not go with the precision.
    half_sse = -sum(case.log_density(y, X[i, j]) + 0.5 * np.log(2.0 * np.pi) for i, j, y in cells)
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
    U, s, V, _ = unpack(position, given.shape, RANK)
    expected = np.empty_like(U)
    precision = setting.precision if case.likelihood.has_noise else 1.0
    factor_gradient(cells, case.likelihood, precision, U, V * s, expected)
    np.testing.assert_allclose(evaluate(density, position)[1][: U.size], expected.ravel(), rtol=1e-12, atol=1e-12)


@for_each_case
def test_effects_given_the_rest_are_the_same_density(case: Case) -> None:
    setting = SETTINGS["effects, all learned"]
    given, _, density = problem(case, setting)
    position = some_position(np.random.default_rng(5), setting, given.shape)
    first = position.size - sum(given.shape) - 1
    units = np.random.default_rng(9).exponential(size=position.size - first)
    target = EffectsGivenRest(density, units, position.copy(), np.empty_like(position))
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
    U, s, V, effects = unpack(position, (4, 3), RANK)
    again = pack(U, s, V, Effects(effects[0], effects[1:5], effects[5:], 1.0, 1.0) if effects.size else None)
    np.testing.assert_array_equal(again, position)


@for_each_case
def test_folding_signs_changes_neither_the_matrix_nor_the_density(case: Case) -> None:
    given, _, density = problem(case, SETTINGS["effects, all learned"])
    position = some_position(np.random.default_rng(8), SETTINGS["effects, all learned"], given.shape)
    folded = position.copy()
    fold_signs(folded, given.shape, RANK)
    (U, s, V, _), (U_folded, s_folded, V_folded, _) = (unpack(x, given.shape, RANK) for x in (position, folded))
    np.testing.assert_array_equal(s_folded, np.abs(s))
    np.testing.assert_array_equal(U_folded * s_folded @ V_folded.T, U * s @ V.T)
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


@pytest.mark.parametrize(("cells", "expected"), [(25, 0), (26, 40)])
def test_a_density_takes_as_many_rows(cells: int, expected: int) -> None:
    given = Observations.from_triples(np.arange(cells) // 40, np.arange(cells) % 40, np.ones(cells), (40, 40))
    density = JointDensity.of(Model(RANK, CASES["gaussian"].likelihood, 1.0), given.by_row, (40, 40))
    assert density.block.shape == (2, expected, 40)


@pytest.mark.parametrize("rows", [128, 129, 300])
def test_several_blocks_give_what_single_cells_give(rows: int) -> None:
    """Blocks of 128 rows, the last of them not full."""
    rng = np.random.default_rng(9)
    cells = np.flatnonzero(rng.random(rows * 5) < 0.7)
    given = Observations.from_triples(cells // 5, cells % 5, rng.standard_normal(cells.size), (rows, 5))
    dense = JointDensity.of(Model(RANK, CASES["gaussian"].likelihood, 1.0), given.by_row, (rows, 5))
    assert dense.block.shape[1] == 128
    sparse = dense._replace(places=dense.places[:0], block=np.empty((2, 0, 5)))
    position = rng.standard_normal((rows + 5 + 1) * RANK)
    (value, gradient), (expected, expected_gradient) = evaluate(dense, position), evaluate(sparse, position)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=1e-9, atol=1e-12)
