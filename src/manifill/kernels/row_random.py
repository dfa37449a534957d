"""Random numbers addressed by row: each row of an array has its own stream, derived from one key.

A chain draws one key from its generator for all rows.  The numbers of a row depend only on the key and on the index of
the row, not on which other rows a thread or a process fills, nor on their order.

The stream of a row is SplitMix64 (Steele, Lea and Flood 2014), a counter with a mixing function that passes BigCrush,
seeded with a mix of key and row.
"""

import math

import numpy as np

from manifill.base.arrays import Generator, Matrix, Vector
from manifill.base.jit import compiled, compiled_internal

__all__ = ["draw_key", "fill_normal_entries", "fill_normal_row", "fill_normal_rows"]

INCREMENT = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
FIRST_SHIFT, SECOND_SHIFT, THIRD_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)
SPARE_BITS = np.uint64(11)  # of 64, beyond the 53-bit significand of a double
UNIT = 2.0**-53

# The ziggurat of Marsaglia and Tsang (2000): LAYERS layers of equal area under exp(−x²/2); the lowest includes the
# tail beyond EDGE.
LAYERS, EDGE = 256, 3.6541528853610088


def _ziggurat() -> tuple[Vector, Vector]:
    """Return the right ends of the layers, from the lowest up, and the density there, (LAYERS + 1,) each."""
    tail = math.sqrt(0.5 * math.pi) * math.erfc(EDGE / math.sqrt(2.0))
    area = EDGE * math.exp(-0.5 * EDGE**2) + tail
    ends = np.zeros(LAYERS + 1)
    ends[0], ends[1] = area / math.exp(-0.5 * EDGE**2), EDGE
    for k in range(1, LAYERS - 1):
        ends[k + 1] = math.sqrt(-2.0 * math.log(area / ends[k] + math.exp(-0.5 * ends[k] ** 2)))
    return ends, np.exp(-0.5 * ends**2)


ENDS, HEIGHTS = _ziggurat()
LAYER_BITS, SIGN_BIT = np.uint64(LAYERS - 1), np.uint64(LAYERS)


@compiled
def draw_key(rng: Generator) -> np.uint64:
    """Return 64 random bits."""
    high, low = np.uint64(rng.random() / UNIT), np.uint64(rng.random() / UNIT)
    return (high << SPARE_BITS) ^ low


@compiled_internal
def _mix(bits: np.uint64) -> np.uint64:
    bits = (bits ^ (bits >> FIRST_SHIFT)) * FIRST_FACTOR
    bits = (bits ^ (bits >> SECOND_SHIFT)) * SECOND_FACTOR
    return bits ^ (bits >> THIRD_SHIFT)


@compiled_internal
def _uniform(bits: np.uint64) -> float:
    """Return a number above 0 and below 1 from the upper 53 bits."""
    return (np.float64(bits >> SPARE_BITS) + 0.5) * UNIT


@compiled_internal
def _tail(state: np.uint64) -> tuple[np.uint64, float]:
    """Return the next state of the stream, and a draw from the tail beyond EDGE (Marsaglia 1964)."""
    while True:
        x = -np.log(_uniform(_mix(state + INCREMENT))) / EDGE
        y = -np.log(_uniform(_mix(state + INCREMENT + INCREMENT)))
        state += INCREMENT + INCREMENT
        if 2.0 * y > x * x:
            return state, EDGE + x


@compiled
def fill_normal_row(key: np.uint64, row: int, out: Vector) -> None:
    """Fill ``out`` with the standard normal numbers of a row."""
    state = _mix(key ^ _mix((np.uint64(row) + np.uint64(1)) * INCREMENT))
    for k in range(out.size):
        while True:
            state += INCREMENT
            bits = _mix(state)
            layer = np.int64(bits & LAYER_BITS)
            x = _uniform(bits) * ENDS[layer]
            if x >= ENDS[layer + 1]:  # outside the rectangle that lies entirely under the curve
                if layer == 0:
                    state, x = _tail(state)
                else:
                    state += INCREMENT
                    low, high = HEIGHTS[layer], HEIGHTS[layer + 1]
                    if low + _uniform(_mix(state)) * (high - low) >= np.exp(-0.5 * x * x):
                        continue
            out[k] = -x if bits & SIGN_BIT else x
            break


@compiled
def fill_normal_rows(key: np.uint64, out: Matrix) -> None:
    """Fill a matrix with standard normal numbers, row by row."""
    for i in range(out.shape[0]):
        fill_normal_row(key, i, out[i])


@compiled
def fill_normal_entries(key: np.uint64, out: Vector) -> None:
    """Fill a vector with one standard normal number for each of its rows."""
    for i in range(out.size):
        fill_normal_row(key, i, out[i : i + 1])
