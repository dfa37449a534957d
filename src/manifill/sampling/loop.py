"""The main loop of a chain: warm-up with adaptation, then draws.  Chains, tests and benchmarks share it."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from manifill.base.arrays import Generator
from manifill.sampling.sampler import Sampler

__all__ = ["Iteration", "iterate"]


class Iteration(NamedTuple):
    """The result of one iteration: what the next one needs, and diagnostics."""

    number: int  # iterations done, this one included
    is_warmup: bool
    state: Any
    tuning: Any  # after adaptation
    info: Any
    statistics: dict[str, float]
    seconds: float  # CPU time


def iterate(
    rng: Generator, sampler: Sampler[Any, Any, Any], state: Any, tuning: Any, *, warmup: int, draws: int, done: int = 0
) -> Iterator[Iteration]:
    """Yield the iterations of a chain after the first ``done``; ``tuning`` is frozen at the end of warm-up."""
    for number in range(done + 1, warmup + draws + 1):
        is_warmup = number <= warmup
        begun = time.thread_time()
        state, info = sampler.step(rng, state, tuning)
        statistics = sampler.statistics(state, tuning, info)
        seconds = time.thread_time() - begun
        if is_warmup:
            tuning = sampler.adapt(tuning, info)
        if number == warmup:
            tuning = sampler.freeze(tuning)
        yield Iteration(number, is_warmup, state, tuning, info, statistics, seconds)
