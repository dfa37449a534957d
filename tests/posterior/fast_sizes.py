"""ArviZ's effective sample sizes of many quantities at once, for simulations that need them a million times."""

from collections.abc import Collection, Mapping

import numpy as np
from scipy import special, stats

from manifill.base.arrays import Array, Vector
from manifill.posterior.quantities import TAIL, Quantity

__all__ = ["fast_sizes", "fast_summaries"]


def fast_summaries(series: Mapping[str, Array], averages: Collection[str] = ()) -> tuple[Quantity, ...]:
    """Return summaries of these series, (chain, draw) each, with effective sample sizes and nothing else."""
    assert not averages
    bulk, tail = fast_sizes(np.stack(list(series.values())))
    unknown = float("nan"), float("nan"), float("nan")
    return tuple(
        Quantity(name, *unknown, *map(float, of_one)) for name, *of_one in zip(series, bulk, tail, strict=True)
    )


def fast_sizes(values: Array) -> tuple[Vector, Vector]:
    """Return the bulk and tail effective sample sizes of Q quantities, (Q, chain, draw)."""
    half = values.shape[2] // 2
    halves = np.concatenate([values[:, :, :half], values[:, :, -half:]], axis=1)
    bounds = np.quantile(values, TAIL, axis=(1, 2))[..., None, None]
    tails = [_size((halves <= bound).astype(np.float64)) for bound in bounds]
    return _size(_normal_scores(halves)), np.minimum(*tails)


def _normal_scores(values: Array) -> Array:
    flat = values.reshape(len(values), -1)
    ranks = stats.rankdata(flat, axis=1)
    return np.asarray(special.ndtri((ranks - 0.375) / (flat.shape[1] + 0.25))).reshape(values.shape)


def _size(values: Array) -> Vector:
    """Return the effective sample size by Geyer's initial monotone sequence, (Q,)."""
    quantities, chains, draws = values.shape
    means = values.mean(axis=2, keepdims=True)
    spectrum = np.abs(np.fft.rfft(values - means, 2 * draws, axis=2)) ** 2
    covariance = np.fft.irfft(spectrum.mean(axis=1), axis=1)[:, :draws] / draws
    within = covariance[:, 0] * draws / (draws - 1)
    total = covariance[:, 0] + means[..., 0].var(axis=1, ddof=1)
    correlation = 1.0 - (within[:, None] - covariance) / total[:, None]
    correlation[:, 0] = 1.0
    pairs = correlation[:, : (draws - 1) // 2 * 2].reshape(quantities, -1, 2)
    sums = pairs.sum(axis=2)
    sums[:, -1] = -1.0  # the last pair ends the sequence, if none before it does
    positive = np.logical_and.accumulate(sums > 0.0, axis=1)
    monotone = np.minimum.accumulate(np.where(positive, sums, 0.0), axis=1).sum(axis=1)
    after = np.maximum(pairs[np.arange(quantities), positive.sum(axis=1), 0], 0.0)
    size = chains * draws
    return np.asarray(size / np.maximum(2.0 * monotone + after - 1.0, 1.0 / np.log10(size)))
