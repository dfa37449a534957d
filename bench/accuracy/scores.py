"""Scores of predictive distributions: log score, CRPS and the position of the value within the distribution.

Log scores of continuous data are log densities in the table's units.  Those of stars are log masses of the half-star
bin around the value, open at the ends, for all methods.  All functions work cell by cell, (k,).
"""

import numpy as np
from scipy.special import logsumexp, ndtr

from manifill.base.arrays import Array, Matrix, Vector

STARS = np.arange(0.5, 5.01, 0.5)
HALF_STEP = 0.25

# The least mass of a bin, for which Monte Carlo may give none at all.
LEAST_MASS = 1e-10

# Pairs of components in the CRPS of a mixture: with all, time would be quadratic in the number of components.
PAIRED, PARTNERS = 60, 12


def star_bins(values: Vector) -> tuple[Vector, Vector]:
    """Return the edges of the half-star bins around values; the outermost bins are open."""
    lower = np.where(values <= STARS[0], -np.inf, values - HALF_STEP)
    upper = np.where(values >= STARS[-1], np.inf, values + HALF_STEP)
    return lower, upper


def mixture_log_density(means: Array, sds: Array, values: Vector) -> Vector:
    """Return the log density of an even mixture of normal distributions, (T, k) each."""
    terms = -0.5 * ((values - means) / sds) ** 2 - np.log(sds)
    return np.asarray(logsumexp(terms, axis=0) - np.log(len(means)) - 0.5 * np.log(2.0 * np.pi))


def mixture_log_mass(means: Array, sds: Array, values: Vector) -> Vector:
    """Return the log mass of the half-star bins."""
    lower, upper = ((edge - means) / sds for edge in star_bins(values))
    right = lower > 0.0  # where the difference of upper tails does not cancel
    mass = ndtr(np.where(right, -lower, upper)) - ndtr(np.where(right, -upper, lower))
    return np.asarray(np.log(np.maximum(mass.mean(axis=0), LEAST_MASS)))


def mixture_position(means: Array, sds: Array, values: Vector) -> Vector:
    """Return the distribution function at the values."""
    return np.asarray(ndtr((values - means) / sds).mean(axis=0))


def mixture_crps(means: Array, sds: Array, values: Vector) -> Vector:
    """Return E|y − v| − ½ E|y − y′|, of few components in closed form.

    Of many, E|y − y′| is the mean over random pairs of them, PARTNERS for each of PAIRED components.
    """
    total = len(means)
    order = np.random.default_rng(0).permutation(total)  # neighbours in a chain are alike
    first, lags = order[:PAIRED], range(1, min(PARTNERS + 1, total))
    apart = _mean_distance(np.zeros_like(means[first]), np.sqrt(2.0) * sds[first]).mean(axis=0) / total
    for lag in lags:
        partner = np.roll(order, -lag)[:PAIRED]
        distance = _mean_distance(means[first] - means[partner], np.hypot(sds[first], sds[partner])).mean(axis=0)
        apart += (1.0 - 1.0 / total) / len(lags) * distance
    return np.asarray(_mean_distance(values - means, sds).mean(axis=0) - 0.5 * apart)


def _mean_distance(shift: Array, sd: Array) -> Array:
    """Return E|z| of z ~ N(shift, sd²)."""
    ratio = shift / sd
    density = np.exp(-0.5 * ratio**2) / np.sqrt(2.0 * np.pi)
    return np.asarray(sd * (ratio * (2.0 * ndtr(ratio) - 1.0) + 2.0 * density))


def class_log_mass(probabilities: Matrix, values: Vector) -> Vector:
    """Return the log probability of the star given, from those of all stars, (k, 10)."""
    chosen = probabilities[np.arange(values.size), star_number(values)]
    return np.log(np.maximum(chosen, LEAST_MASS))


def class_crps(probabilities: Matrix, values: Vector) -> Vector:
    """Return the integral of (F(z) − 1[z ≥ v])² of the step function F."""
    below = np.cumsum(probabilities, axis=1)[:, :-1]
    return np.asarray(2.0 * HALF_STEP * np.sum((below - (STARS[:-1] >= values[:, None])) ** 2, axis=1))


def class_position(rng: np.random.Generator, probabilities: Matrix, values: Vector) -> Vector:
    """Return a point drawn evenly from the step of the distribution function at the value.

    It is uniform if the probabilities are right, as the distribution function of a continuous value is.
    """
    number = star_number(values)
    upper = np.cumsum(probabilities, axis=1)[np.arange(values.size), number]
    return np.asarray(upper - rng.random(values.size) * probabilities[np.arange(values.size), number])


def star_number(values: Vector) -> Array:
    """Return the numbers of half stars less one: 0 to 9."""
    return np.rint(values / (2.0 * HALF_STEP)).astype(int) - 1


def sample_log_mass(samples: Matrix, values: Vector) -> Vector:
    """Return the log share of samples, (T, k), in the half-star bins.

    Half a sample is added to each of the ten bins.  The expectation is low by about 9 / 2T.
    """
    lower, upper = star_bins(values)
    count = np.sum((samples >= lower) & (samples < upper), axis=0)
    return np.asarray(np.log((count + 0.5) / (len(samples) + 0.5 * len(STARS))))


def sample_crps(samples: Matrix, values: Vector) -> Vector:
    """Return E|y − v| − ½ E|y − y′| over distinct samples, whose expectation does not depend on their number."""
    total = len(samples)
    ordered = np.sort(samples - values, axis=0)
    weights = (2.0 * np.arange(total) - (total - 1)) / (total * (total - 1))
    return np.asarray(np.abs(ordered).mean(axis=0) - weights @ ordered)


def sample_position(samples: Matrix, values: Vector) -> Vector:
    """Return the share of samples below the values, and a random part of those that equal them, as counts do."""
    share = np.random.default_rng(0).random(values.size)
    return np.asarray(np.mean(samples < values, axis=0) + share * np.mean(samples == values, axis=0))
