"""Two entries of a factor at a time: A turns freely, U does not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manifill.estimator import MatrixCompletion
from manifill.paper.fits import fitted, share_done
from manifill.paper.pictures import COLOURS, figure
from manifill.paper.protocol import Protocol, Size
from manifill.paper.results import Result
from manifill.paper.section import Answer, Picture, Section, Verdict
from manifill.problem import from_array
from manifill.types import Array, Matrix

__all__ = ["Marginals", "fig_posterior", "marginals"]

SHAPE, NOISE, OBSERVED, ROWS = (30, 20), 0.5, 0.6, 2

# Gibbs draws are cheap, and it takes many of them to come round.
ROUNDS = 50
POINTS = 1000  # of a chain that are drawn

CHAIN_COLOURS = (*COLOURS.values(), "#CC79A7")
TITLE = "Two-dimensional marginals"
PAPER = "ABᵀ turns about the origin, the SVD does not"

TEXT = f"""
A {SHAPE[0]}×{SHAPE[1]} matrix of rank 2 with noise {NOISE}, {OBSERVED:.0%} of it observed, four chains. For two rows,
the draws of both entries of A (left) and, in the order and signs that are nearest to their mean, of U (right); a
colour a chain. The posterior of A is the same in every direction about the origin, and Gibbs crawls around the ring
that this makes.
"""


@dataclass(frozen=True)
class Marginals:
    """Draws of two rows of the left factor."""

    sampler: str
    size: Size

    @property
    def key(self) -> str:
        return f"marginals_{self.sampler}_{self.size}"

    @property
    def cost(self) -> float:
        return 0.5 * self.size.total

    def share_done(self, scratch: Path) -> float:
        return share_done(scratch / self.key, self.size)

    def run(self, scratch: Path) -> Result:
        settings = {"rank": 2, "sampler": self.sampler, "effects": None, **self.size.iterations()}
        model = fitted(settings, 0, from_array(_table()), scratch / self.key)
        return Result({}, {"left": _left(model)})


def _table() -> Matrix:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((SHAPE[0], 2)), rng.standard_normal((SHAPE[1], 2))
    A[0], A[1] = (1.5, 0.5), (-0.6, 1.4)  # rows whose draws are far enough from the origin to make a ring
    B[:, 0] *= 1.6  # and components that are told apart
    table = A @ B.T + NOISE * rng.standard_normal(SHAPE)
    return np.where(rng.random(SHAPE) < OBSERVED, table, np.nan)


def _left(model: MatrixCompletion) -> Array:
    """Return rows of A or of the aligned U, (chain, draw, row, 2)."""
    draws = model.posterior_
    if "A" in draws.posterior:
        return np.asarray(draws.posterior["A"][:, :, :ROWS])
    rows = [components.U[:ROWS] for components in draws.aligned()]
    return np.array(rows).reshape(draws.chains, draws.draws, ROWS, 2)


def marginals(protocol: Protocol) -> list[Marginals]:
    """Return the two fits."""
    size = protocol.synthetic._replace(chains=len(CHAIN_COLOURS))
    return [Marginals("factors", size._replace(draws=ROUNDS * size.draws)), Marginals("joint", size)]


def fig_posterior(tasks: Sequence[Marginals], results: Mapping[str, Result], folder: Path) -> Section:
    """Draw both, and judge how far round the origin the draws go."""
    if len(tasks) < 2:
        return Section("fig-posterior", TITLE, "One of the two fits is not finished yet.", [])
    A, U = (results[task.key].arrays["left"] for task in tasks)
    with figure(folder, "fig-posterior", ROWS, 2, (7.0, 6.4)) as axes:
        for k in range(ROWS):
            _scatter(axes[k, 0], A[:, :, k], f"A, row {k + 1}")
            _scatter(axes[k, 1], U[:, :, k], f"U, row {k + 1}, aligned")
    turned, still = _resultant_length(A), _resultant_length(U)
    here = f"mean resultant length of a chain's directions {turned:.2f} for A, {still:.2f} for U"
    answer = Answer.REPRODUCED if turned < 0.5 < still else Answer.DIFFERENT
    why = "1 is one direction, 0 all of them alike."
    if turned >= 0.5:
        why += " Gibbs has not come round far enough yet."
    if still <= 0.5:
        why += " The components of U are not told apart."
    verdict = Verdict("Marginals", "two rows of A and of U", PAPER, here, answer, why)
    picture = Picture("fig-posterior", "Draws of two rows of A and of U")
    return Section("fig-posterior", TITLE, TEXT, [verdict], pictures=[picture])


def _scatter(axis: Any, draws: Array, name: str) -> None:
    for chain, colour in zip(draws, CHAIN_COLOURS, strict=True):
        some = chain[:: max(len(chain) // POINTS, 1)]
        axis.plot(some[:, 0], some[:, 1], ".", color=colour, markersize=2, alpha=0.5)
    axis.axhline(0.0, color="0.6", linewidth=0.6)
    axis.axvline(0.0, color="0.6", linewidth=0.6)
    largest = 1.1 * float(np.abs(draws).max())
    axis.set(xlim=(-largest, largest), ylim=(-largest, largest), aspect="equal", title=name)


def _resultant_length(draws: Array) -> float:
    """Return the length of the mean direction of a row in a chain, averaged over rows and chains: 1 if none turns."""
    unit = draws / np.linalg.norm(draws, axis=-1, keepdims=True)
    return float(np.mean(np.linalg.norm(unit.mean(axis=1), axis=-1)))
