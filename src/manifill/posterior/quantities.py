"""Summaries of the series of draws that are diagnosed."""

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array, Vector

__all__ = ["Quantity", "autocorrelations", "is_constant", "summaries"]

TAIL = (0.05, 0.95)
LARGEST_LAG = 50


class Quantity(NamedTuple):
    """Summary of a scalar quantity over all draws."""

    name: str
    mean: float
    sd: float
    rhat: float
    ess_bulk: float  # of the ranks; of the mean if only that matters, as is ess_tail then
    ess_tail: float

    @property
    def monte_carlo_error(self) -> float:
        """The standard error of the mean: how much it would change in another run of the same length."""
        return self.sd / float(np.sqrt(self.ess_bulk))


def summaries(series: Mapping[str, Array], averages: Collection[str] = ()) -> tuple[Quantity, ...]:
    """Return the summaries of these series, (chain, draw) each; of those in ``averages`` only the mean matters."""
    array_stats = _array_stats()
    values, averaged = np.stack(list(series.values())), np.array([name in averages for name in series])
    several, of_draws = _at_least_two_chains(values), {"chain_axis": 1, "draw_axis": 2}
    with np.errstate(all="ignore"):  # quantities that are not finite are reported later
        rhat = array_stats.rhat(several, method="rank", **of_draws)
        bulk = array_stats.ess(values, method="bulk", **of_draws)
        tail = array_stats.ess(values, method="tail", prob=TAIL, **of_draws)
        if averaged.any():
            rhat[averaged] = array_stats.rhat(several[averaged], method="split", **of_draws)
            bulk[averaged] = tail[averaged] = array_stats.ess(values[averaged], method="mean", **of_draws)
        figures = values.mean(axis=(1, 2)), values.std(axis=(1, 2)), rhat, bulk, tail
    return tuple(Quantity(name, *map(float, of_one)) for name, *of_one in zip(series, *figures, strict=True))


def autocorrelations(series: Mapping[str, Array]) -> dict[str, Vector]:
    """Return the autocorrelation of each series at lags 0, 1, …, the mean over chains."""
    array_stats = _array_stats()
    with np.errstate(all="ignore"):
        return {
            name: np.asarray(array_stats.autocorr(values, axis=-1).mean(axis=0)[: LARGEST_LAG + 1])
            for name, values in series.items()
        }


def is_constant(values: Array) -> bool:
    """Whether all values are the same."""
    return bool(np.all(values == values.flat[0]))


def _array_stats() -> Any:
    """Return ArviZ's statistics of arrays; importing them takes two seconds, so it is done only when needed."""
    return import_module("arviz_stats.base").array_stats


def _at_least_two_chains(values: Array) -> Array:
    """Return a single chain as its two halves, since ArviZ requires at least two chains before it splits them again."""
    if values.shape[1] > 1:
        return values
    half = values.shape[2] // 2
    return np.concatenate([values[:, :, :half], values[:, :, -half:]], axis=1) if half else values
