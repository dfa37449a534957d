"""Factors in one order and with one sign: the same whatever order and signs the draws have."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill.base.arrays import Array, Generator, Matrix
from manifill.posterior import Draws, Variable
from manifill.posterior.alignment import aligned
from manifill.unknowns import Components
from tests.posterior.runs import ATTRIBUTES, FACTOR_VARIABLES, KINDS, dense_draws, random_run

CHAINS, DRAWS, ROWS, COLUMNS, RANK = 2, 30, 12, 9, 3
SINGULAR = np.array([9.0, 6.0, 4.0])


def near(rng: Generator, matrix: Matrix, distance: float) -> Matrix:
    """Return a matrix with orthonormal columns near another."""
    Q, R = np.linalg.qr(matrix + distance * rng.standard_normal(matrix.shape))
    return Q * np.sign(np.diag(R))


def draws_near(truth: Components, distance: float = 0.02) -> Draws:
    """Return draws about a truth, all in its order and with its signs."""
    rng = np.random.default_rng(1)
    posterior = {
        "U": np.array([[near(rng, truth.U, distance) for _ in range(DRAWS)] for _ in range(CHAINS)]),
        "s": truth.s + distance * rng.standard_normal((CHAINS, DRAWS, RANK)),
        "V": np.array([[near(rng, truth.V, distance) for _ in range(DRAWS)] for _ in range(CHAINS)]),
    }
    dims = {"U": ("row", "component"), "s": ("component",), "V": ("column", "component")}
    variables = tuple(Variable(name, dims[name], value.shape[2:]) for name, value in posterior.items())
    return Draws(variables, posterior, {}, {}, ATTRIBUTES)


def random_truth() -> Components:
    """Return components in the order of s, the largest entry of each column of V positive."""
    rng = np.random.default_rng(2)
    U, V = (np.linalg.qr(rng.standard_normal((size, RANK)))[0] for size in (ROWS, COLUMNS))
    V *= np.sign(V[np.argmax(np.abs(V), axis=0), np.arange(RANK)])
    return Components(U, SINGULAR, V)


def shuffled(draws: Draws, seed: int) -> Draws:
    """Return the same matrices with components in a random order and with random signs, draw by draw."""
    rng = np.random.default_rng(seed)
    posterior = {name: np.array(value) for name, value in draws.posterior.items()}
    for place in np.ndindex(draws.chains, draws.draws):
        rank = posterior["s"].shape[-1]
        order, signs = rng.permutation(rank), rng.choice([-1.0, 1.0], rank)
        posterior["s"][place] = posterior["s"][place][order]
        for name in "UV":
            posterior[name][place] = posterior[name][place][:, order] * signs
    return replace(draws, posterior=posterior)


def turned(draws: Draws, seed: int) -> Draws:
    """Return the same matrices A Bᵀ with both factors turned, draw by draw."""
    rng = np.random.default_rng(seed)
    posterior = {name: np.array(value) for name, value in draws.posterior.items()}
    for place in np.ndindex(draws.chains, draws.draws):
        turn = np.linalg.qr(rng.standard_normal((posterior["A"].shape[-1],) * 2))[0]
        for name in "AB":
            posterior[name][place] = posterior[name][place] @ turn
    return replace(draws, posterior=posterior)


def parts(ours: Components, theirs: Components) -> Iterator[tuple[Array, Array]]:
    return zip(ours, theirs, strict=True)


def assert_same_factors(ours: Any, theirs: Any) -> None:
    for left, right in ((ours.mean, theirs.mean), (ours.sd, theirs.sd), *zip(ours, theirs, strict=True)):
        for part, other in parts(left, right):
            np.testing.assert_allclose(part, other, atol=1e-10)


def test_order_and_signs_of_draws_do_not_show() -> None:
    draws = draws_near(random_truth(), distance=0.2)
    for seed in (1, 2):
        assert_same_factors(aligned(shuffled(draws, seed)), aligned(draws))


def test_turns_of_factors_do_not_show() -> None:
    rng = np.random.default_rng(4)
    draws = random_run([10, 10], variables=FACTOR_VARIABLES)
    shifted = {name: value + 2.0 * rng.standard_normal(value.shape[2:]) for name, value in draws.posterior.items()}
    draws = replace(draws, posterior=shifted)
    assert_same_factors(aligned(turned(draws, 3)), aligned(draws))


def test_draws_about_a_truth_are_read_as_the_truth() -> None:
    """Entries are off by 0.02: means of 60 by 0.0026 and the bound is 5 of these."""
    truth = random_truth()
    found = aligned(shuffled(draws_near(truth), 5))
    for part, exact in parts(found.mean, truth):
        np.testing.assert_allclose(part, exact, atol=0.013)
    for part in found.sd:
        assert 0.0 < part.max() < 0.04


def test_components_keep_together_where_singular_values_change_places() -> None:
    """Directions tell two components apart whose s are often in the other order."""
    truth = random_truth()
    draws = draws_near(truth)
    s = np.array(draws.s)
    s[:, ::3, 0], s[:, ::3, 1] = 5.5, 6.5
    found = aligned(shuffled(replace(draws, posterior={**draws.posterior, "s": s}), 6))
    np.testing.assert_allclose(found.mean.U, truth.U, atol=0.013)
    assert found.sd.s[0] > 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_every_draw_is_the_same_matrix(kind: str) -> None:
    """Without effects, the low-rank part is X."""
    draws = random_run([5, 5], variables=KINDS[kind])
    X, _ = dense_draws(draws)
    if draws.has_effects:
        X = X - (draws.mu[..., None, None] + draws.row_effect[..., None] + draws.column_effect[..., None, :]).reshape(
            X.shape
        )
    matrices = [U * s @ V.T for U, s, V in aligned(draws)]
    np.testing.assert_allclose(matrices, X, atol=1e-12)


def test_moments_are_those_of_the_aligned_draws() -> None:
    found = aligned(random_run([5, 5]))
    each = [np.array(part) for part in zip(*found, strict=True)]
    for part, mean, sd in zip(each, found.mean, found.sd, strict=True):
        np.testing.assert_allclose(mean, part.mean(axis=0), atol=1e-13)
        np.testing.assert_allclose(sd, part.std(axis=0), atol=1e-12)


def test_components_are_in_the_order_of_their_mean_singular_value() -> None:
    """Also where the largest is not so in the mean of X, since its v is one of three at right angles."""
    draws = draws_near(random_truth(), distance=0.0)
    V = np.array(draws.V)
    others = np.linalg.svd(V[0, 0])[0][:, RANK:]  # at right angles to all of V
    V[:, 1::3, :, 0], V[:, 2::3, :, 0] = others[:, 0], others[:, 1]
    found = aligned(shuffled(replace(draws, posterior={**draws.posterior, "V": V}), 8))
    np.testing.assert_allclose(found.mean.s, SINGULAR, rtol=1e-12)
    assert found.reference.s[0] < found.reference.s[1]


def test_the_reference_is_the_leading_part_of_the_mean() -> None:
    draws = shuffled(draws_near(random_truth()), 7)
    X, _ = dense_draws(replace(draws, posterior={**draws.posterior, "sigma": np.ones((CHAINS, DRAWS))}))
    U, s, Vt = np.linalg.svd(X.mean(axis=0))
    leading = (U[:, :RANK] * s[:RANK]) @ Vt[:RANK]
    reference = aligned(draws).reference
    np.testing.assert_allclose((reference.U * reference.s) @ reference.V.T, leading, atol=2e-3)
    np.testing.assert_allclose(reference.s, s[:RANK], rtol=1e-4)


def test_a_run_on_disk_aligns_as_one_in_memory(tmp_path: Path) -> None:
    draws = random_run([7, 7])
    draws.save(tmp_path / "run")
    ours, theirs = Draws.open(tmp_path / "run").aligned(), draws.aligned()
    for part, other in parts(ours.mean, theirs.mean):
        np.testing.assert_allclose(part, other, atol=1e-5)
