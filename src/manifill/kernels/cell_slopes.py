"""Slopes and curvatures of the likelihood at every observed cell."""

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import compiled, compiled_internal
from manifill.kernels.cell_chunks import CHUNK, Buffers, allocate_buffers, evaluate_chunk, major_of, write_products
from manifill.kernels.compressed import Compressed
from manifill.likelihoods.likelihood import CompiledLikelihood

__all__ = ["slopes_and_curvatures"]


@compiled
def slopes_and_curvatures(
    cells: Compressed,
    likelihood: CompiledLikelihood,
    left: Matrix,
    right: Matrix,
    bounds: tuple[float, float],
    difference: float,
    x: Vector,
    slopes: Vector,
    curvatures: Vector,
) -> None:
    """Write x = left_i · right_j within ``bounds``, and the slope and the negative second derivative of log p(y | x).

    Likelihoods have no second derivatives; it is found from the slopes at x ± ``difference``.
    """
    buffers = allocate_buffers(likelihood)
    major = 0
    for begin in range(0, cells.values.size, CHUNK):
        end = min(begin + CHUNK, cells.values.size)
        major = major_of(cells, begin, major)
        write_products(cells, begin, end, major, left, right, buffers.x)
        for k in range(end - begin):
            x[begin + k] = min(max(buffers.x[k], bounds[0]), bounds[1])
        _shifted_slopes(cells, begin, end, likelihood, x, -difference, buffers)
        for k in range(end - begin):
            slopes[begin + k] = 0.5 * buffers.slopes[k]
            curvatures[begin + k] = 0.5 * buffers.slopes[k] / difference
        _shifted_slopes(cells, begin, end, likelihood, x, difference, buffers)
        for k in range(end - begin):
            slopes[begin + k] += 0.5 * buffers.slopes[k]
            curvatures[begin + k] -= 0.5 * buffers.slopes[k] / difference


@compiled_internal
def _shifted_slopes(
    cells: Compressed, begin: int, end: int, likelihood: CompiledLikelihood, x: Vector, shift: float, buffers: Buffers
) -> None:
    """Write the slopes at x + ``shift`` of a chunk of cells to the buffers."""
    for k in range(end - begin):
        buffers.x[k] = x[begin + k] + shift
    evaluate_chunk(cells, begin, end - begin, likelihood, buffers)
