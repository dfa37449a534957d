"""The result of a fit: errors of its predictions, mixing, and cost."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

from manifill.base.arrays import Array
from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.paper.tasks import Result
from manifill.posterior import Draws, identified_quantities
from manifill.posterior.quantities import LARGEST_LAG
from manifill.problem import Observations

__all__ = ["fit_summary"]

QUANTILES = (0.01, 0.5, 0.99)
TRACE_POINTS, ENTRIES = 400, 20

# How the names of the quantities start whose mixing is compared with the paper's.
COMPARED = ("lp", "sigma", "singular_value", "X")

# A draw with a time per gradient above this multiple of the median is left out: it included the loading of compiled
# code, which happens within the first draw of a process.
LOADING = 20.0


def fit_summary(model: MatrixCompletion, held_out: Observations) -> Result:
    """Evaluate a fit on held-out cells."""
    rows, cols, values = held_out.triples()
    deviations = np.abs(model.predict(rows, cols).mean - values)
    score = model.score(rows, cols, values)
    metrics = {
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
        metrics |= {"rhat_of_factors": _largest_rhat(entries.values())}
        arrays |= {"autocorrelation_of_factors": _autocorrelation(entries.values()), **_traces(_first(entries))}
    return Result(metrics, arrays)


def _mixing(model: MatrixCompletion) -> dict[str, Any]:
    """Return R-hat and the effective sample size of the identified quantities."""
    diagnostics = model.diagnostics_
    quantities = [q for q in diagnostics.quantities if q.name.startswith(COMPARED)]
    # R-hat is NaN for a quantity that did not move or is not finite, which is the worst case.
    worst = max(quantities, key=lambda quantity: np.inf if np.isnan(quantity.rhat) else quantity.rhat)
    return {
        "rhat": worst.rhat,
        "worst": worst.name,
        "ess": float(np.min([quantity.ess_bulk for quantity in quantities])),
        "converged": diagnostics.all_converged,
        "divergences": diagnostics.divergences,
        "chains": diagnostics.chains,
        "draws": diagnostics.draws,
    }


def _entries(draws: Draws) -> dict[str, Array]:
    """Return some entries of A, (chain, draw) each, which the data determine only up to a rotation."""
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
    per_gradient = seconds if steps is None else seconds / steps
    usual = seconds[per_gradient <= LOADING * np.median(per_gradient)]
    return {
        "milliseconds": 1000.0 * float(np.mean(usual)),
        "gradients": None if steps is None else float(np.mean(steps)),
    }


def _autocorrelation(series: Iterable[Array]) -> Array:
    """Return the mean and the standard deviation over series of their autocorrelation, (2, lag)."""
    with np.errstate(all="ignore"):  # a constant series has no autocorrelation
        by_lag = _array_stats().autocorr(np.stack(list(series)), axis=-1).mean(axis=1)[:, : LARGEST_LAG + 1]
    return np.stack([by_lag.mean(axis=0), by_lag.std(axis=0)])


def _singular_values(series: dict[str, Array]) -> Array:
    """Return 10 %, 50 % and 90 % quantiles of the singular values of X, (3, r), largest first."""
    values = np.stack([values for name, values in series.items() if name.startswith("singular_value[")])
    return np.asarray(np.quantile(values, (0.1, 0.5, 0.9), axis=(1, 2)))


def _traces(series: dict[str, Array]) -> dict[str, Array]:
    """Return series thinned for plotting."""
    return {f"trace {name}": values[:, :: max(values.shape[1] // TRACE_POINTS, 1)] for name, values in series.items()}
