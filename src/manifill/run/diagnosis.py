"""The diagnostics of a run: the same while it is sampled, after it, and when it is loaded."""

from manifill.likelihoods import Likelihood
from manifill.posterior import Diagnostics, Draws, Series, diagnose, diagnosed_series, held_out_series
from manifill.posterior.cell_parameters import variables_needed
from manifill.problem import Observations
from manifill.run.seeds import Stream, generator
from manifill.run.table_names import cell_names

__all__ = ["diagnosed", "series_to_diagnose"]


def diagnosed(
    draws: Draws, likelihood: Likelihood, observations: Observations, held_out: Observations | None
) -> Diagnostics:
    """Diagnose the draws of a run."""
    return diagnose(draws, series_to_diagnose(draws, likelihood, observations, held_out))


def series_to_diagnose(
    draws: Draws, likelihood: Likelihood, observations: Observations, held_out: Observations | None
) -> Series:
    """Return the quantities that are judged, by use and name, (chain, draw) each."""
    rng = generator(draws.attributes["seed"], Stream.DIAGNOSTICS)
    names = cell_names(observations, draws.attributes)
    series = diagnosed_series(rng, draws, variables_needed(draws, likelihood), names, observations)
    if held_out is None:
        return series
    scores = held_out_series(rng, draws, likelihood, held_out)
    return series._replace(predictions=scores | series.predictions)
