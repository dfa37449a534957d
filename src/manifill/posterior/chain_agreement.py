"""How far chains are from each other, and how far chance would put them (docs/math.md, section 6.1).

Every quantity is judged by its location, the rank-normalised draws, and by its spread, the rank-normalised distances
from the median, unless only its mean matters.  Chains are cut into batches that are long compared with the
autocorrelation: the means of batches are nearly independent and normal, so that contrasts between chains have t
distributions, whatever the autocorrelation is.
"""

from typing import NamedTuple

import numpy as np
from scipy import special, stats

from manifill.base.arrays import Array, IntVector, Vector

__all__ = ["NEGLIGIBLE", "RELEVANT", "Agreement", "agreement", "needed_ess", "safe_ess"]

# The probability that chance alone makes chains seem to disagree in any of the quantities that are tested together, and
# again that it makes the draws seem too few, for a verdict.  There are two verdicts, so this is 2 % of runs in all.
FALSE_ALARM = 0.005

# A test of a chain that is displaced by RELEVANT posterior standard deviations misses it with the tail probability of
# the normal quantile MISSED; a displacement below NEGLIGIBLE is never reported.
RELEVANT, MISSED = 0.5, 1.3
NEGLIGIBLE = 0.2

# An autocorrelation time that is estimated from M lags of N draws has the relative variance 2 (2 M + 1) / N, which is
# this number, divided by the effective sample size, if M is six autocorrelation times.
WINDOW_VARIANCE = 24.0

# Batches per half of a chain, and the effective draws that a batch needs to be nearly independent of the next one.
FEWEST_BATCHES, MOST_BATCHES = 2, 10
DRAWS_PER_BATCH = 10.0


class Agreement(NamedTuple):
    """How far the chains of Q quantities are apart, in posterior standard deviations, (Q,) each."""

    distance: Vector  # the largest between a chain and the others, or between the two halves of all chains
    allowed: Vector  # the largest distance that chance explains, or that is negligible
    chain: IntVector  # the chain that is farthest from the others, or -1 if the halves differ most

    @property
    def excess(self) -> Vector:
        """The distances as multiples of what is allowed; above 1 the chains disagree."""
        return self.distance / self.allowed


def agreement(values: Array, tested: int, averaged: Array | None = None) -> Agreement:
    """Compare the chains of Q quantities that vary in every chain, (Q, chain, draw), among ``tested`` in all.

    Of those where ``averaged``, (Q,), is true only the mean matters, so their values are compared instead of ranks, and
    their spread is not compared.
    """
    parts = []
    for each in (values, np.abs(values - np.median(values, axis=(1, 2), keepdims=True))):
        scores = _normal_scores(each)
        if averaged is not None:
            scores[averaged] = values[averaged]
        parts.append(_compared(scores, tested))
    worse = np.argmax([part.excess for part in parts], axis=0), np.arange(len(values))
    return Agreement(*(np.stack(fields)[worse] for fields in zip(*parts, strict=True)))


def needed_ess(quantities: int, chains: int) -> float:
    """Return the smallest estimate of the effective sample size of all chains together that is enough.

    With this size a displaced chain is noticed: the mean of a chain with n effective draws differs from that of C − 1
    others with a standard error of √(C / ((C − 1) n)).  A single chain is compared by its halves.
    """
    compared = max(chains, 2)
    critical = _critical_value(np.array(MOST_BATCHES), quantities, chains)
    in_each = float(critical + MISSED) ** 2 / RELEVANT**2 * compared / (compared - 1)
    return compared * in_each


def safe_ess(needed: float, quantities: int) -> float:
    """Return the effective sample size at which chance hardly makes any estimate of it smaller than ``needed``.

    It is the solution of ESS · exp(−z √(WINDOW_VARIANCE / ESS)) = ``needed`` (equation 46), where z is exceeded by none
    of the estimates, of bulk and tail for each quantity, with the probability 1 − ``FALSE_ALARM``.
    """
    quantile = float(stats.norm.isf(FALSE_ALARM / (2 * quantities)))
    half_exponent = special.lambertw(0.5 * quantile * np.sqrt(WINDOW_VARIANCE / needed)).real
    return needed * float(np.exp(2.0 * half_exponent))


def _critical_value(batches: IntVector, quantities: int, chains: int) -> Vector:
    """Return the t value that chance exceeds in one of all tests with the probability ``FALSE_ALARM``."""
    tests = 2 * quantities * (1 if chains == 1 else chains + 1)
    return np.asarray(stats.t.isf(0.5 * FALSE_ALARM / tests, 2 * chains * (batches - 1)))


def _normal_scores(values: Array) -> Array:
    """Return the normal scores of the ranks of all draws of each quantity, (Q, chain, draw)."""
    flat = values.reshape(len(values), -1)
    ranks = stats.rankdata(flat, axis=1)
    return np.asarray(special.ndtri((ranks - 0.375) / (flat.shape[1] + 0.25))).reshape(values.shape)


def _compared(values: Array, tested: int) -> Agreement:
    """Compare each chain with the others, and the second halves of all chains with the first ones."""
    quantities, chains, _ = values.shape
    batches = np.clip(_ess_within(values) / (2 * chains * DRAWS_PER_BATCH), FEWEST_BATCHES, MOST_BATCHES).astype(int)
    halves, variances = np.empty((quantities, chains, 2)), np.empty(quantities)
    for count in np.unique(batches):
        which = batches == count
        halves[which], variances[which] = _half_means(values[which], int(count))
    distances = [np.abs(np.diff(halves.mean(axis=1)))]  # of the halves, over all chains
    errors = [np.sqrt(2.0 / chains * variances)]
    if chains > 1:
        means = halves.mean(axis=2)
        distances.append(np.abs(means - means.mean(axis=1, keepdims=True)) * chains / (chains - 1))
        errors += [np.sqrt(0.5 * variances * chains / (chains - 1))] * chains
    sd = np.sqrt(values.var(axis=2).mean(axis=1))[:, None]
    distance = np.concatenate(distances, axis=1) / sd
    critical = _critical_value(batches, tested, chains)[:, None]
    allowed = np.maximum(critical * np.stack(errors, axis=1) / sd, NEGLIGIBLE)
    worst = np.argmax(distance / allowed, axis=1)
    pick = np.arange(quantities), worst
    return Agreement(distance[pick], allowed[pick], worst - 1)


def _half_means(values: Array, batches: int) -> tuple[Array, Vector]:
    """Return the means of the halves of chains, (Q, chain, 2), and the variance of such a mean, (Q,), from batches."""
    length = values.shape[2] // (2 * batches)
    used = values[:, :, values.shape[2] - 2 * batches * length :]
    means = used.reshape(*values.shape[:2], 2, batches, length).mean(axis=4)
    return means.mean(axis=3), means.var(axis=3, ddof=1).mean(axis=(1, 2)) / batches


def _ess_within(values: Array) -> Vector:
    """Return the effective sample size of all chains, (Q,), each half about its own mean, by Geyer's positive sequence.

    Neither a displaced chain nor a common drift changes it much, as they change the effective size that is reported.
    """
    quantities, chains, draws = values.shape
    half = draws // 2
    halves = values[:, :, draws - 2 * half :].reshape(quantities, 2 * chains, half)
    centred = halves - halves.mean(axis=2, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * half, axis=2)) ** 2
    covariance = np.fft.irfft(spectrum.mean(axis=1), axis=1)[:, : half // 2 * 2]
    pairs = covariance.reshape(quantities, -1, 2).sum(axis=2) / covariance[:, :1]
    positive = np.logical_and.accumulate(pairs > 0.0, axis=1)
    time = 2.0 * np.sum(np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=1), axis=1) - 1.0
    size = chains * draws
    return np.asarray(size / np.maximum(time, 1.0 / np.log10(max(size, 10))))
