"""Manifill itself, with default settings."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from accuracy import scores
from accuracy.methods.method import Method
from accuracy.predicted import Prediction, Scored, Units
from accuracy.tables import Split
from manifill import ConvergenceWarning, MatrixCompletion
from manifill.base.arrays import Vector

NAME = "manifill"
SEED = 0
QUICK = {"chains": 2, "warmup": 50, "draws": 50}
DEFAULTS: Mapping[str, Any] = {}

# Samples of y that scores come from.  For stars each draw gives several, so that the masses of bins have small errors.
DRAWS, REPEATS_FOR_STARS = 2000, 5
SAMPLES_AT_ONCE = 40_000_000

PAIRS = 100_000  # cells whose prediction is timed


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model and its means at the test cells."""

    model: MatrixCompletion
    folder: TemporaryDirectory[str]  # of the draws
    mean: Vector

    def scored(self, split: Split, units: Units) -> Scored:
        log_score, crps, position = self._scores_of_samples(split)
        if not split.stars:
            log_score = self._log_density(split)
        diagnostics = self.model.diagnostics_
        notes = {
            "verdict": diagnostics.verdict,
            "divergences": diagnostics.divergences,
            "seconds_to_predict": self._seconds_to_predict(split.shape),
        }
        return Scored(self.mean, log_score, crps, position, notes)

    def _log_density(self, split: Split) -> float:
        """Return the mean log density, per unit of the column."""
        found = self.model.score(*split.test)
        return float(found.log_density + np.mean(np.log(split.test_units)))

    def _scores_of_samples(self, split: Split) -> tuple[float, float, Vector]:
        """Return the mean log mass of half-star bins, the mean CRPS, and positions."""
        posterior = self.model.posterior_
        draws = min(DRAWS, posterior.chains * posterior.draws)
        repeats = REPEATS_FOR_STARS if split.stars else 1
        block = max(SAMPLES_AT_ONCE // (draws * repeats), 1)
        parts = []
        for first in range(0, split.test.y.size, block):
            rows, cols, values = (part[first : first + block] for part in split.test)
            unit = split.units[cols]
            # A cell that is given several times gets a sample each, from the same draw of X.
            cells = np.tile(rows, repeats), np.tile(cols, repeats)
            samples = self.model.sample_posterior_predictive(*cells, draws=draws)
            samples = samples.reshape(draws * repeats, values.size) / unit
            functions = scores.sample_log_mass, scores.sample_crps, scores.sample_position
            parts.append([function(samples, values / unit) for function in functions])
        log_mass, crps, position = (np.concatenate(figures) for figures in zip(*parts, strict=True))
        return float(np.mean(log_mass)), float(np.mean(crps)), position

    def _seconds_to_predict(self, shape: tuple[int, int]) -> float:
        """Return the time to predict many cells with intervals."""
        rng = np.random.default_rng(SEED)
        begin = time.perf_counter()
        self.model.predict(rng.integers(shape[0], size=PAIRS), rng.integers(shape[1], size=PAIRS), interval=0.9)
        return time.perf_counter() - begin


def completion(split: Split, quick: bool, settings: Mapping[str, Any] = DEFAULTS) -> Prediction:
    """Fit and predict."""
    folder = TemporaryDirectory()
    model = fitted(split, quick, Path(folder.name) / "run", settings)
    return Fitted(model, folder, model.predict(split.test.rows, split.test.cols).mean)


def fitted(split: Split, quick: bool, path: Path, settings: Mapping[str, Any] = DEFAULTS) -> MatrixCompletion:
    """Fit with the draws on disk, so that their number does not count as memory."""
    model = MatrixCompletion(likelihood=split.likelihood, seed=SEED, path=path, progress=False, **settings)
    if quick:
        model.set_params(**{**QUICK, **settings})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict is recorded
        model.fit(*split.train, shape=split.shape)
    return model


def compile_kernels() -> None:
    """Fit a small table, after which the kernels are in the cache: their compilation is not measured here."""
    rng = np.random.default_rng(SEED)
    table = np.outer(rng.normal(size=30), rng.normal(size=20)) + rng.normal(size=(30, 20))
    table[rng.random(table.shape) < 0.3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        MatrixCompletion(seed=SEED, chains=2, warmup=20, draws=20, progress=False).fit(table)


METHODS = {NAME: Method(completion, "manifill", scalable=False, single_thread=False, prepare=compile_kernels)}
