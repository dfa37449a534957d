"""What is kept of a fit: how far its predictions are off, how it mixes, what it cost."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from manifill.estimator import MatrixCompletion
from manifill.paper.results import Result
from manifill.posterior import Draws, identified_quantities
from manifill.posterior.diagnostics import LARGEST_LAG
from manifill.problem import Observations
from manifill.types import Array

__all__ = ["summary"]

QUANTILES = (0.01, 0.5, 0.99)
POINTS, ENTRIES = 400, 20

# A draw whose gradients took this many times as long as those of others has done something else besides.
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
    cells = {name: values for name, values in series.items() if name.startswith("X[")}
    arrays = {
        "deviations": deviations.astype(np.float32),
        "autocorrelation": _autocorrelation(cells.values()),
        "singular_values": _singular_values(series),
        **_traces({"lp": series["lp"]} | _first(cells)),
    }
    entries = _entries(model.posterior_)
    if entries:
        figures |= {"rhat_of_factors": _largest_rhat(entries.values())}
        arrays |= {"autocorrelation_of_factors": _autocorrelation(entries.values()), **_traces(_first(entries))}
    return Result(figures, arrays)


def _mixing(model: MatrixCompletion) -> dict[str, Any]:
    """Return R-hat and the effective sample size of what is identified."""
    found = model.diagnostics_
    # What has no R-hat, since it did not move or is not finite, is worst of all.
    worst = max(found.quantities, key=lambda quantity: np.inf if np.isnan(quantity.rhat) else quantity.rhat)
    return {
        "rhat": worst.rhat,
        "worst": worst.name,
        "ess": float(np.min([quantity.ess_bulk for quantity in found.quantities])),
        "converged": found.converged,
        "divergences": found.divergences,
        "chains": found.chains,
        "draws": found.draws,
    }


def _entries(draws: Draws) -> dict[str, Array]:
    """Return some entries of A, (chain, draw) each, which the data determine up to a rotation alone."""
    if "A" not in draws.posterior:
        return {}
    m, r = draws.posterior["A"].shape[2:]
    chosen = np.random.default_rng(0).choice(m * r, min(ENTRIES, m * r), replace=False)
    chains = [np.array([A.ravel()[chosen] for A in draws.each("A", chain)]) for chain in range(draws.chains)]
    names = (f"A[{k // r},{k % r}]" for k in chosen)
    return dict(zip(names, np.moveaxis(np.array(chains), -1, 0), strict=True))


def _first(series: dict[str, Array]) -> dict[str, Array]:
    return dict(list(series.items())[:1])


def _largest_rhat(series: Iterable[Array]) -> float:
    return float(np.max(_array_stats().rhat(np.stack(list(series)), chain_axis=1, draw_axis=2)))


def _array_stats() -> Any:
    return import_module("arviz_stats.base").array_stats


def _cost(draws: Draws) -> dict[str, Any]:
    seconds, steps = draws.statistics["process_time_diff"], draws.statistics.get("n_steps")
    each = seconds if steps is None else seconds / steps
    usual = seconds[each <= LOADING * np.median(each)]  # a process loads compiled code within its first draw
    return {
        "milliseconds": 1000.0 * float(np.mean(usual)),
        "gradients": None if steps is None else float(np.mean(steps)),
    }


def _autocorrelation(series: Iterable[Array]) -> Array:
    """Return the mean and the standard deviation over series of their autocorrelation, (2, lag)."""
    with np.errstate(all="ignore"):  # what never moved has none
        found = _array_stats().autocorr(np.stack(list(series)), axis=-1).mean(axis=1)[:, : LARGEST_LAG + 1]
    return np.stack([found.mean(axis=0), found.std(axis=0)])


def _singular_values(series: dict[str, Array]) -> Array:
    """Return 10 %, 50 % and 90 % quantiles of the singular values of X, (3, r), largest first."""
    values = np.stack([values for name, values in series.items() if name.startswith("singular_value[")])
    return np.asarray(np.quantile(values, (0.1, 0.5, 0.9), axis=(1, 2)))


def _traces(series: dict[str, Array]) -> dict[str, Array]:
    """Return series thinned to be drawn."""
    return {f"trace {name}": values[:, :: max(values.shape[1] // POINTS, 1)] for name, values in series.items()}
