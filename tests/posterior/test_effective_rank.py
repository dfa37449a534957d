"""The effective rank, of draws whose singular values are known."""

import numpy as np
import pytest

from manifill.posterior import Draws
from manifill.posterior.effective_rank import effective_rank
from tests.posterior.runs import FACTOR_VARIABLES, VARIABLES, M, N, random_run


def with_values(values: list[float], kind: str) -> Draws:
    """Return draws whose low-rank part has these two singular values."""
    draws = random_run([30, 30], variables=VARIABLES if kind == "U s V" else FACTOR_VARIABLES)
    if kind == "U s V":
        draws.posterior["s"][:] = values
        return draws
    U, V = (np.linalg.qr(np.random.default_rng(size).normal(size=(size, 2)))[0] for size in (M, N))
    draws.posterior["A"][:], draws.posterior["B"][:] = 4.0 * U * values, V / 4.0
    return draws


@pytest.mark.parametrize("kind", ["U s V", "A B"])
@pytest.mark.parametrize(("values", "expected"), [([3.0, 3.0], 2.0), ([3.0, 0.0], 1.0), ([3.0, 1.0], 1.7548)])
def test_effective_rank_of_known_values(kind: str, values: list[float], expected: float) -> None:
    """Of shares ¾ and ¼: exp(¾ log 4/3 + ¼ log 4) = 4/3^¾."""
    found = effective_rank(with_values(values, kind))
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert str(found).startswith(f"{expected:.1f} (90 % interval ")


def test_a_matrix_of_zeros_has_rank_zero() -> None:
    assert effective_rank(with_values([0.0, 0.0], "U s V")) == (0.0, 0.0, 0.0)
