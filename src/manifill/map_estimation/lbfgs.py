"""Limited-memory BFGS that continues when function values differ by rounding errors only."""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy

from manifill.base import progress
from manifill.base.arrays import Vector

__all__ = ["Minimum", "minimise"]

Function = Callable[[Vector], tuple[float, Vector]]

MEMORY = 10
LARGEST_SEARCH = 30

# The constants of Wolfe's conditions, and the relative rise of a value that is within rounding errors.  Within it the
# slopes alone decide (Hager and Zhang's approximate condition), which doubles the number of accurate digits.
DECREASE, CURVATURE = 1e-4, 0.9
ROUNDING = 1e-13

# The search is stuck if the gradient has not halved within this many steps without a decrease of the value.
MOST_LEVEL_STEPS = 100


class Minimum(NamedTuple):
    """The final position, the number of steps, and whether the search ended because no step made progress."""

    position: Vector
    steps: int
    stuck: bool


class _Trial(NamedTuple):
    position: Vector
    value: float
    gradient: Vector


class _Pair(NamedTuple):
    """A step, the change of the gradient along it, and their inner product."""

    move: Vector
    change: Vector
    product: float


def minimise(function: Function, start: Vector, is_done: Callable[[Vector], bool], most_steps: int) -> Minimum:
    """Minimise a function that returns its value and gradient, until ``is_done(gradient)``.

    The variables should be scaled so that second derivatives are about 1: the first step is the negative gradient.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a step that is too long is rejected because of its value
        return _minimise(function, start, is_done, most_steps)


def _minimise(function: Function, start: Vector, is_done: Callable[[Vector], bool], most_steps: int) -> Minimum:
    here = _Trial(start, *function(start))
    history: deque[_Pair] = deque(maxlen=MEMORY)
    steps, level_steps, reference = 0, 0, here
    while steps < most_steps and not is_done(here.gradient):
        there = _search(function, here, _direction(history, here.gradient))
        progress.advance()
        if there is None and history:  # the history may not apply to this region
            history.clear()
            there = _search(function, here, -here.gradient)
        if there is None:
            return Minimum(here.position, steps, stuck=True)
        _remember(history, there.position - here.position, there.gradient - here.gradient)
        here, steps, level_steps = there, steps + 1, level_steps + 1
        if _is_progress(reference, here):
            level_steps, reference = 0, here
        elif level_steps > MOST_LEVEL_STEPS:
            return Minimum(here.position, steps, stuck=True)
    return Minimum(here.position, steps, stuck=False)


def _is_progress(before: _Trial, now: _Trial) -> bool:
    """Return whether the value has decreased by more than rounding errors, or the gradient has halved."""
    falls = now.value < before.value - ROUNDING * abs(before.value)
    return falls or bool(np.linalg.norm(now.gradient) < 0.5 * np.linalg.norm(before.gradient))


def _remember(history: deque[_Pair], move: Vector, change: Vector) -> None:
    product = float(move @ change)
    if product > 1e-12 * np.sqrt((move @ move) * (change @ change)):  # otherwise the curvature is not positive
        history.append(_Pair(move, change, product))


def _direction(history: deque[_Pair], gradient: Vector) -> Vector:
    """Return −H · gradient, with H the approximate inverse Hessian from the history (two-loop recursion)."""
    d = -gradient
    shares = []
    for move, change, product in reversed(history):
        shares.append((move @ d) / product)
        daxpy(change, d, a=-shares[-1])  # d += a · change, in place: these vectors are too long for temporaries
    if history:
        last = history[-1]
        d *= last.product / (last.change @ last.change)
    for (move, change, product), share in zip(history, reversed(shares), strict=True):
        daxpy(move, d, a=share - (change @ d) / product)
    return d


def _search(function: Function, here: _Trial, direction: Vector) -> _Trial | None:
    """Return a point along the direction that meets Wolfe's conditions, exact or approximate, by bisection."""
    slope = float(here.gradient @ direction)
    if not slope < 0.0:
        return None
    slack = ROUNDING * abs(here.value)
    shortest, longest, length = 0.0, np.inf, 1.0
    for _ in range(LARGEST_SEARCH):
        position = here.position + length * direction
        there = _Trial(position, *function(position))
        rise, slope_there = there.value - here.value, float(there.gradient @ direction)
        falls = rise <= DECREASE * length * slope  # False for NaN
        level = rise <= slack and slope_there <= (2.0 * DECREASE - 1.0) * slope
        if not (falls or level):
            longest = length
        elif slope_there < CURVATURE * slope:
            shortest = length
        else:
            return there
        length = 2.0 * length if longest == np.inf else 0.5 * (shortest + longest)
    return None
