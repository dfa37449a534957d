"""Two-dimensional marginals of a factor: A rotates freely, U does not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manifill.base.arrays import Array, Matrix
from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.paper.fit_task import fit_or_resume, fraction_done
from manifill.paper.page_section import Figure, Section
from manifill.paper.plotting import COLOURS, saved_figure
from manifill.paper.protocol import Protocol, Size
from manifill.paper.tasks import Result
from manifill.paper.verdict import Answer, Verdict
from manifill.problem import from_array

__all__ = ["FactorMarginals", "factor_marginals", "fig_posterior"]

SHAPE, NOISE, OBSERVED, ROWS = (30, 20), 0.5, 0.6, 2

# Gibbs draws are cheap, but a chain needs many of them to rotate once about the origin.
GIBBS_DRAWS_FACTOR = 50
POINTS = 1000  # plotted per chain

CHAIN_COLOURS = (*COLOURS.values(), "#CC79A7")
TITLE = "Two-dimensional marginals"
PAPER = "ABᵀ rotates about the origin, the SVD does not"

TEXT = f"""
A {SHAPE[0]}×{SHAPE[1]} matrix of rank 2 with noise {NOISE}, {OBSERVED:.0%} of it observed, four chains. For two rows,
the draws of both entries of A (left) and of U (right), the latter after alignment of the order and the signs of its
columns. Each colour is a chain. The posterior of A is invariant under rotation, and the Gibbs sampler moves slowly
around the resulting ring.
"""


@dataclass(frozen=True)
class FactorMarginals:
    """The task of drawing two rows of the left factor."""

    sampler: str
    size: Size

    @property
    def key(self) -> str:
        return f"marginals_{self.sampler}_{self.size}"

    @property
    def cost(self) -> float:
        return 0.5 * self.size.total

    def fraction_done(self, scratch: Path) -> float:
        return fraction_done(scratch / self.key, self.size)

    def run(self, scratch: Path) -> Result:
        settings = {"rank": 2, "sampler": self.sampler, "effects": None, **self.size.iterations()}
        model = fit_or_resume(settings, 0, from_array(_table()), scratch / self.key)
        return Result({}, {"left": _left(model)})


def _table() -> Matrix:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((SHAPE[0], 2)), rng.standard_normal((SHAPE[1], 2))
    A[0], A[1] = (1.5, 0.5), (-0.6, 1.4)  # far enough from the origin for their draws to form a ring
    B[:, 0] *= 1.6  # separates the two singular values
    table = A @ B.T + NOISE * rng.standard_normal(SHAPE)
    return np.where(rng.random(SHAPE) < OBSERVED, table, np.nan)


def _left(model: MatrixCompletion) -> Array:
    """Return rows of A or of the aligned U, (chain, draw, row, 2)."""
    draws = model.posterior_
    if "A" in draws.posterior:
        return np.asarray(draws.posterior["A"][:, :, :ROWS])
    rows = [components.U[:ROWS] for components in draws.aligned()]
    return np.array(rows).reshape(draws.chains, draws.draws, ROWS, 2)


def factor_marginals(protocol: Protocol) -> list[FactorMarginals]:
    """Return the two tasks: A by Gibbs and U by ``joint``."""
    size = protocol.synthetic._replace(chains=len(CHAIN_COLOURS))
    gibbs_size = size._replace(draws=GIBBS_DRAWS_FACTOR * size.draws)
    return [FactorMarginals("factors", gibbs_size), FactorMarginals("joint", size)]


def fig_posterior(tasks: Sequence[FactorMarginals], results: Mapping[str, Result], folder: Path) -> Section:
    """Plot the draws, and judge whether they rotate about the origin."""
    if len(tasks) < 2:
        return Section("fig-posterior", TITLE, "One of the two fits is not finished yet.", [])
    A, U = (results[task.key].arrays["left"] for task in tasks)
    with saved_figure(folder, "fig-posterior", ROWS, 2, (7.0, 6.4)) as axes:
        for k in range(ROWS):
            _scatter(axes[k, 0], A[:, :, k], f"A, row {k + 1}")
            _scatter(axes[k, 1], U[:, :, k], f"U, row {k + 1}, aligned")
    length_A, length_U = _resultant_length(A), _resultant_length(U)
    here = f"mean resultant length of a chain's directions {length_A:.2f} for A, {length_U:.2f} for U"
    answer = Answer.REPRODUCED if length_A < 0.5 < length_U else Answer.DIFFERENT
    why = "1: all draws in one direction; 0: directions spread evenly."
    if length_A >= 0.5:
        why += " The Gibbs chains have not rotated far enough."
    if length_U <= 0.5:
        why += " The components of U are not separated."
    verdict = Verdict("Marginals", "two rows of A and of U", PAPER, here, answer, why)
    figure = Figure("fig-posterior", "Draws of two rows of A and of U")
    return Section("fig-posterior", TITLE, TEXT, [verdict], figures=[figure])


def _scatter(axis: Any, draws: Array, name: str) -> None:
    for chain, colour in zip(draws, CHAIN_COLOURS, strict=True):
        thinned = chain[:: max(len(chain) // POINTS, 1)]
        axis.plot(thinned[:, 0], thinned[:, 1], ".", color=colour, markersize=2, alpha=0.5)
    axis.axhline(0.0, color="0.6", linewidth=0.6)
    axis.axvline(0.0, color="0.6", linewidth=0.6)
    largest = 1.1 * float(np.abs(draws).max())
    axis.set(xlim=(-largest, largest), ylim=(-largest, largest), aspect="equal", title=name)


def _resultant_length(draws: Array) -> float:
    """Return the mean resultant length of a row's directions in a chain, averaged over rows and chains.

    It is 1 if no chain rotates, and 0 if the directions are spread evenly over the circle.
    """
    unit = draws / np.linalg.norm(draws, axis=-1, keepdims=True)
    return float(np.mean(np.linalg.norm(unit.mean(axis=1), axis=-1)))
