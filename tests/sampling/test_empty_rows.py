"""Rows and columns without cells: the rest of a chain does not depend on how many there are.

They are drawn last: from the same point, a step with the same random numbers leads to the same point but for them.
"""

from typing import Any

import numpy as np
import pytest

from manifill.base.arrays import Array, Vector
from manifill.base.priors import ComponentGamma, Gamma
from manifill.likelihoods import NoiseState
from manifill.problem import Model, Observations
from manifill.problem.joint_density import JointDensity
from manifill.sampling.data import Data
from manifill.sampling.effect_scale import rescale_effects
from manifill.sampling.factor_gibbs import Factors, FactorsState
from manifill.sampling.observed_part import ObservedPart
from manifill.sampling.state import State, draw_hyperparameters, layout_of
from manifill.unknowns import Effects, EffectsPrior, Unknowns, view
from tests.exact.prior import draw_factors, draw_state
from tests.problem.likelihoods import noise_of
from tests.sampling.problems import LIKELIHOODS

GAUSSIAN, RANK, SEED = LIKELIHOODS["gaussian"], 2, 7
ROWS, COLUMNS, SHAPE, LARGE = np.array([1, 4, 5, 20]), np.array([0, 3, 9]), (4, 3), (23, 11)
EFFECTS = EffectsPrior(0.5, 1.0, Gamma(3.0, 3.0), Gamma(6.0, 24.0))
AT_ROWS, AT_COLUMNS = np.nonzero(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]]))
VALUES = np.random.default_rng(1).standard_normal(len(AT_ROWS))
SMALL = Observations.from_triples(AT_ROWS, AT_COLUMNS, VALUES, SHAPE)
PADDED = Observations.from_triples(ROWS[AT_ROWS], COLUMNS[AT_COLUMNS], VALUES, LARGE)


def model_of(by: str, effects: EffectsPrior | None = EFFECTS) -> Model:
    noise = noise_of(GAUSSIAN, Gamma(8.0, 8.0), by)
    return Model(RANK, GAUSSIAN, Gamma(2.0, 2.0), noise, ComponentGamma(2.0, 3.0), effects)


def padded(values: Array, index: Array, size: int) -> Array:
    """Return an array of all rows (or columns), with odd values where there are no cells."""
    out = np.full((size, *values.shape[1:]), 30.0)
    out[index] = values
    return out


def padded_effects(effects: Effects) -> Effects:
    row, column = padded(effects.row, ROWS, LARGE[0]), padded(effects.column, COLUMNS, LARGE[1])
    return effects._replace(row=row, column=column) if effects.exist else effects


def padded_noise(noise: NoiseState) -> NoiseState:
    row = padded(noise.row, ROWS, LARGE[0]) if noise.row.size else noise.row
    column = padded(noise.column, COLUMNS, LARGE[1]) if noise.column.size else noise.column
    return noise._replace(row=row, column=column)


def observed(values: Any) -> Vector:
    """Return all numbers of a state that belong to rows and columns with cells."""
    found = []
    for value in values:
        if isinstance(value, tuple):
            found.append(observed(value))
        elif np.ndim(value) and len(value) in LARGE:
            found.append(np.ravel(value[ROWS if len(value) == LARGE[0] else COLUMNS]))
        else:
            found.append(np.ravel(value))
    return np.concatenate(found)


@pytest.mark.parametrize("by", ["shared", "all"])
def test_a_sweep_over_factors(by: str) -> None:
    model = model_of(by)
    state = draw_factors(np.random.default_rng(2), model, SHAPE)
    A, B = padded(state.A, ROWS, LARGE[0]), padded(state.B, COLUMNS, LARGE[1])
    more = state._replace(A=A, B=B, effects=padded_effects(state.effects), noise=padded_noise(state.noise))
    expected, _ = Factors(model, SMALL).step(np.random.default_rng(SEED), state, None)
    found, _ = Factors(model, PADDED).step(np.random.default_rng(SEED), more, None)
    np.testing.assert_array_equal(observed(found), observed(expected))
    assert np.abs(np.delete(found.A, ROWS, axis=0)).max() < 30.0, "others are drawn"


@pytest.mark.parametrize("by", ["shared", "all"])
def test_draws_of_precisions_and_levels(by: str) -> None:
    model, results = model_of(by), []
    state = draw_state(np.random.default_rng(3), model, SHAPE)
    for observations in (SMALL, PADDED):
        unknowns, noise = state.unknowns, state.noise
        if observations is PADDED:
            U, V = padded(unknowns.U, ROWS, LARGE[0]), padded(unknowns.V, COLUMNS, LARGE[1])
            unknowns = unknowns._replace(U=U, V=V, effects=padded_effects(unknowns.effects))
            noise = padded_noise(noise)
        part = ObservedPart.of(Data.encoded(model, observations))
        results.append(draw_hyperparameters(np.random.default_rng(SEED), model, part, unknowns, noise))
    np.testing.assert_array_equal(observed(results[1]), observed(results[0]))


def densities() -> list[tuple[JointDensity, Vector]]:
    """Return the density and the same point of both tables; U and V are 0 in rows without cells."""
    model, found = model_of("shared"), []
    unknowns = draw_state(np.random.default_rng(4), model, SHAPE).unknowns
    for observations in (SMALL, PADDED):
        layout = layout_of(model, observations)
        at = unknowns
        if observations is PADDED:
            U, V = np.zeros((LARGE[0], RANK)), np.zeros((LARGE[1], RANK))
            U[ROWS], V[COLUMNS] = unknowns.U, unknowns.V
            at = Unknowns(U, unknowns.s, V, padded_effects(unknowns.effects), unknowns.coordinates)
        found.append((JointDensity.of(model, observations.by_row, layout), at.pack(layout)))
    return found


def test_the_joint_density_and_its_gradient() -> None:
    (small, point), (large, more) = densities()
    gradient, wide = np.empty_like(point), np.full_like(more, np.nan)
    assert large.log_density_gradient(more, wide) == pytest.approx(
        small.log_density_gradient(point, gradient), rel=1e-13
    )
    np.testing.assert_allclose(view(large.layout, wide).rest, view(small.layout, gradient).rest, rtol=1e-12)
    assert np.isfinite(wide).all()


def test_rescaled_effects() -> None:
    (small, point), (large, more) = densities()
    before = point.copy()
    rescale_effects(np.random.default_rng(SEED), small, point, 1.0)
    rescale_effects(np.random.default_rng(SEED), large, more, 1.0)
    np.testing.assert_allclose(view(large.layout, more).rest, view(small.layout, point).rest, rtol=1e-12)
    assert not np.allclose(point, before, rtol=1e-3)


def drawn_without_cells(state: State | FactorsState) -> tuple[Vector, Vector]:
    """Return effects without cells in units of their standard deviations, and noise factors there."""
    effects = state.effects if isinstance(state, FactorsState) else state.unknowns.effects
    row = np.delete(effects.row, ROWS) * effects.row_precision**0.5
    column = np.delete(effects.column, COLUMNS) * effects.column_precision**0.5
    return np.concatenate([row, column]), np.delete(state.noise.row, ROWS)


def test_others_have_their_prior() -> None:
    """Mean and variance of effects, mean of noise factors: three z-scores, one beyond 4.5 once in 49,000 runs."""
    model, rng, effects, factors = model_of("both"), np.random.default_rng(5), [], []
    state = draw_state(rng, model, LARGE)
    part = ObservedPart.of(Data.encoded(model, PADDED))
    for _ in range(2000):
        state = draw_hyperparameters(rng, model, part, state.unknowns, state.noise)
        of_effects, of_noise = drawn_without_cells(state)
        effects.append(of_effects)
        factors.append((of_noise - 1.0) * state.noise.row_shape**0.5)  # of variance one
    z = [np.mean(x) * np.sqrt(np.size(x)) for x in (effects, factors)]
    z.append((np.mean(np.square(effects)) - 1.0) * np.sqrt(np.size(effects) / 2.0))
    assert np.abs(z).max() < 4.5, z
