"""A run read from disk, with the draws made so far."""

from pathlib import Path
from typing import NamedTuple

from manifill.likelihoods import Likelihood
from manifill.posterior import FORMAT, Draws, store_format
from manifill.problem import Model, Observations
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from manifill.run.resolved import model_from_json

__all__ = ["StoredRun", "read_run"]


class StoredRun(NamedTuple):
    """The contents of a run directory."""

    draws: Draws
    observations: Observations
    model: Model | None  # None for a run of an older format, which does not store it


def read_run(path: str | Path, likelihood: Likelihood | None) -> StoredRun:
    """Read a run; ``likelihood`` is the code of a custom likelihood.

    A ValueError is raised if the folder is not a run, or if its format is unknown.
    """
    run = RunFolder(path)
    if not run.draws.exists():
        raise ValueError(f"{path} is not a manifill run; give the folder that a fit was written to.")
    draws, observations = Draws.open(run.draws), load_observations(run.data)
    if store_format(run.draws) != FORMAT:
        return StoredRun(draws, observations, None)
    try:
        return StoredRun(draws, observations, model_from_json(draws.attributes.get("model"), likelihood))
    except ValueError as error:
        raise ValueError(f"the model of {path} cannot be read: {error}") from None
