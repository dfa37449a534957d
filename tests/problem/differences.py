"""Targets against differences of their density, and against another density."""

from collections.abc import Callable

import numpy as np

from manifill.base.arrays import Matrix, Vector
from manifill.sampling.system import Target


def evaluate(target: Target, position: Vector) -> tuple[float, Vector]:
    gradient = np.full_like(position, np.nan)
    return target.log_density_gradient(position, gradient), gradient


def check_gradient(target: Target, position: Vector) -> None:
    h = 1e-5
    differences = [
        (evaluate(target, position + h * e)[0] - evaluate(target, position - h * e)[0]) / (2 * h)
        for e in np.eye(position.size)
    ]
    np.testing.assert_allclose(evaluate(target, position)[1], differences, rtol=1e-6, atol=1e-7)


def check_differences(target: Target, log_density: Callable[[Vector], float], positions: Matrix) -> None:
    """The target and ``log_density`` may differ by a constant."""
    ours = np.array([evaluate(target, position)[0] for position in positions])
    theirs = np.array([log_density(position) for position in positions])
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-9, atol=1e-9)
