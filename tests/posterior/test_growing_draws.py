"""Draws in memory that get longer block by block."""

from collections.abc import Sequence

import numpy as np
import pytest

from manifill.base.variables import Variable
from manifill.posterior import ChainRecord, Draws, MemoryRecorder
from manifill.posterior.growing_draws import GrowingDraws

VARIABLES = (Variable("A", ("row", "component"), (3, 1)), Variable("B", ("column", "component"), (2, 1)))


def record(chain: int, begin: int, end: int, warmup: int = 0) -> ChainRecord:
    """Return a stretch of a chain whose draws are numbered."""
    recorder = MemoryRecorder(VARIABLES, end - begin)
    for k in range(warmup):
        recorder.warm({"lp": 100.0 * chain - k})
    for k in range(begin, end):
        value = 100.0 * chain + k
        recorder.append({"A": np.full((3, 1), value), "B": np.full((2, 1), value)}, {"lp": value})
    return recorder.finish()


def assert_same(found: Draws, expected: Draws) -> None:
    assert found.variables == expected.variables
    assert found.posterior.keys() == expected.posterior.keys()
    for name in ("posterior", "statistics", "warmup_statistics"):
        for key, values in getattr(expected, name).items():
            np.testing.assert_array_equal(getattr(found, name)[key], values)


@pytest.mark.parametrize("stops", [[9], [2, 9], [0, 2, 5, 9]], ids=str)
@pytest.mark.parametrize("looks", [(), (0, 1, 2)])
def test_blocks_are_one_run(stops: Sequence[int], looks: Sequence[int]) -> None:
    expected = Draws.from_records([record(chain, 0, 9, warmup=3) for chain in range(2)], {})
    growing, begin = GrowingDraws(), 0
    for k, end in enumerate(stops):
        growing.add([record(chain, begin, end, 0 if k else 3) for chain in range(2)])
        if k in looks and end:
            assert growing.draws({}).draws == end
        begin = end
    assert_same(growing.draws({}), expected)


def test_draws_that_were_returned_stay_as_they_are() -> None:
    growing = GrowingDraws()
    growing.add([record(chain, 0, 4) for chain in range(2)])
    first = growing.draws({"look": 1})
    growing.add([record(chain, 4, 7) for chain in range(2)])
    assert growing.draws({"look": 2}).draws == 7
    assert_same(first, Draws.from_records([record(chain, 0, 4) for chain in range(2)], {}))
    assert first.attributes == {"look": 1}


@pytest.mark.parametrize(
    ("ends", "kept", "length"), [((7, 7, 5), (0, 1, 2), 5), ((9, 9, 2), (0, 1), 9), ((2, 2, 2), (0, 1, 2), 2)]
)
def test_a_block_that_was_stopped(ends: tuple[int, ...], kept: tuple[int, ...], length: int) -> None:
    """A chain that was stopped before its first iteration has a record without arrays."""
    growing = GrowingDraws()
    growing.add([record(chain, 0, 2, warmup=3) for chain in range(3)])
    growing.draws({})
    empty = ChainRecord(VARIABLES, 0, {}, {}, {})
    growing.add([record(chain, 2, end) if end > 2 else empty for chain, end in enumerate(ends)])
    expected = Draws.from_records([record(chain, 0, length, warmup=3) for chain in kept], {})
    assert_same(growing.draws({}), expected)


def test_chains_that_were_stopped_before_a_block_add_nothing() -> None:
    growing = GrowingDraws()
    growing.add([record(chain, 0, 4) for chain in range(2)])
    growing.add([])
    assert growing.draws({}).draws == 4
    growing.add([])
    assert growing.draws({}).draws == 4
