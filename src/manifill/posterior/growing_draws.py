"""Draws in memory that get longer block by block."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from manifill.base.arrays import Array
from manifill.posterior.draws import Draws
from manifill.posterior.recorders import ChainRecord, largest_rectangle

__all__ = ["GrowingDraws"]


class GrowingDraws:
    """The draws of chains that are run in several stretches.

    A variable is copied when it gets longer, one after the other, so that what is held twice is one variable, if the
    draws returned earlier are no longer in use.
    """

    def __init__(self) -> None:
        self._latest: Sequence[ChainRecord] = ()  # stretches that have not been joined with those before
        self._posterior: dict[str, Array] = {}  # (chain, draw, …) each
        self._statistics: dict[str, Array] = {}
        self._others: dict[str, Any] = {}

    def add(self, records: Sequence[ChainRecord]) -> None:
        """Add the records of the next stretch of each chain, none if the chains were stopped before it."""
        if self._latest and records:
            records = [before.followed_by(after) for before, after in zip(self._latest, records, strict=True)]
        self._latest = records or self._latest

    def draws(self, attributes: dict[str, Any]) -> Draws:
        """Return all draws; if some chains were stopped early, the largest rectangle of chains and draws."""
        latest, self._latest = self._latest, ()
        if not self._posterior:
            first = Draws.from_records(latest, attributes)
            self._posterior, self._statistics = dict(first.posterior), first.statistics
            self._others = {"variables": first.variables, "warmup_statistics": first.warmup_statistics}
        elif latest:
            self._extend(latest)
        return Draws(
            posterior=dict(self._posterior), statistics=dict(self._statistics), attributes=attributes, **self._others
        )

    def _extend(self, records: Sequence[ChainRecord]) -> None:
        before = next(iter(self._statistics.values())).shape[1]
        kept, length = largest_rectangle([before + record.draws for record in records])
        if length == before:
            return
        for name in tuple(self._posterior):
            chains = [records[chain].posterior.pop(name) for chain in kept]
            self._posterior[name] = _lengthened(self._posterior.pop(name), kept, chains, length)
        for name, series in self._statistics.items():
            chains = [records[chain].statistics[name] for chain in kept]
            self._statistics[name] = _lengthened(series, kept, chains, length)
        warmup = {name: series[kept] for name, series in self._others["warmup_statistics"].items()}
        self._others["warmup_statistics"] = warmup


def _lengthened(before: Array, kept: Sequence[int], chains: Sequence[Array], length: int) -> Array:
    """Return the draws of some chains, followed by the first of more, up to this length."""
    longer, drawn = np.empty((len(kept), length, *before.shape[2:])), before.shape[1]
    for row, chain, more in zip(longer, kept, chains, strict=True):
        row[:drawn], row[drawn:] = before[chain], more[: length - drawn]
    return longer
