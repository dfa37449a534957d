"""What is kept of a fit: how far its predictions are off, how it mixes, what it cost."""

from importlib import import_module
from typing import Any

import numpy as np

from manifill.estimator import MatrixCompletion
from manifill.paper.results import Result
from manifill.posterior import Draws, identified_quantities
from manifill.problem import Observations
from manifill.types import Array

__all__ = ["summary"]

QUANTILES = (0.01, 0.5, 0.99)
POINTS, ENTRIES = 400, 20

# A step that takes this many times as long as others has done something else besides.
LOADING = 20.0


def summary(model: MatrixCompletion, held_out: Observations) -> Result:
    """Judge a fit by cells that it has not seen."""
    rows, cols, values = held_out.triples()
    deviations = np.abs(model.predict(rows, cols).mean - values)
    score = model.score(rows, cols, values)
    figures = {
        "deviations": np.quantile(deviations, QUANTILES).tolist(),
        "deviations_from_zero": np.quantile(np.abs(values), QUANTILES).tolist(),
        "rmse": score.rmse,
        "log_density": score.log_density,
        "crps": score.crps,
        "coverage": score.coverage,
        **_mixing(model),
        **_cost(model.posterior_),
    }
    series = identified_quantities(np.random.default_rng(0), model.posterior_)
    arrays = {
        "deviations": deviations.astype(np.float32),
        "autocorrelation": _autocorrelation(model),
        "singular_values": _singular_values(series),
        **_traces(series),
    }
    return Result(figures, arrays)


def _mixing(model: MatrixCompletion) -> dict[str, Any]:
    """Return R-hat and effective sample sizes of what is identified, and of entries of A and B as they were drawn."""
    found = model.diagnostics_
    # What has no R-hat, since it did not move or is not finite, is worst of all.
    worst = max(found.quantities, key=lambda quantity: np.inf if np.isnan(quantity.rhat) else quantity.rhat)
    figures = {
        "rhat": worst.rhat,
        "worst": worst.name,
        "ess": float(np.min([quantity.ess_bulk for quantity in found.quantities])),
        "converged": found.converged,
        "divergences": found.divergences,
        "chains": found.chains,
        "draws": found.draws,
    }
    entries = _entries(model.posterior_)
    return figures if entries is None else figures | {"rhat_of_factors": _largest_rhat(entries)}


def _entries(draws: Draws) -> Array | None:
    """Return some entries of A, (entry, chain, draw), which the data determine up to a rotation alone."""
    if "A" not in draws.posterior:
        return None
    m, r = draws.posterior["A"].shape[2:]
    cells = np.random.default_rng(0).choice(m * r, min(ENTRIES, m * r), replace=False)
    chains = [np.array([A.ravel()[cells] for A in draws.each("A", chain)]) for chain in range(draws.chains)]
    return np.moveaxis(np.array(chains), -1, 0)


def _largest_rhat(entries: Array) -> float:
    array_stats: Any = import_module("arviz_stats.base").array_stats
    return float(np.max(array_stats.rhat(entries, chain_axis=1, draw_axis=2)))


def _cost(draws: Draws) -> dict[str, Any]:
    seconds = draws.statistics["process_time_diff"]
    steps = draws.statistics.get("n_steps")
    usual = seconds[seconds <= LOADING * np.median(seconds)]  # a process loads compiled code within its first step
    return {
        "milliseconds": 1000.0 * float(np.mean(usual)),
        "gradients": None if steps is None else float(np.mean(steps)),
    }


def _autocorrelation(model: MatrixCompletion) -> Array:
    """Return the mean and the standard deviation over entries of X, (2, lag)."""
    found = model.diagnostics_.autocorrelation
    entries = np.array([values for name, values in found.items() if name.startswith("X[")])
    return np.stack([entries.mean(axis=0), entries.std(axis=0)])


def _singular_values(series: dict[str, Array]) -> Array:
    """Return 10 %, 50 % and 90 % quantiles of the singular values of X, (3, r), largest first."""
    values = np.stack([values for name, values in series.items() if name.startswith("singular_value[")])
    return np.asarray(np.quantile(values, (0.1, 0.5, 0.9), axis=(1, 2)))


def _traces(series: dict[str, Array]) -> dict[str, Array]:
    """Return the log density and one entry of X, thinned to be drawn."""
    cell = next(name for name in series if name.startswith("X["))
    step = max(series[cell].shape[1] // POINTS, 1)
    return {f"trace {name}": series[name][:, ::step] for name in ("lp", cell)}
