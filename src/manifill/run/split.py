"""The held-out cells of a run: chosen once, stored before the first iteration, and read back on resume."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from manifill.base.arrays import IntVector
from manifill.base.errors import CannotResumeError
from manifill.problem import Observations
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations, save_observations
from manifill.run.seeds import Stream, generator

__all__ = ["LEAST_TO_HOLD_OUT", "check_held_out", "choose_held_out", "divided_as_before", "write_held_out"]

# With fewer observed cells than this, none are held out by default.
LEAST_TO_HOLD_OUT = 200


def choose_held_out(observations: Observations, share: float, seed: int) -> tuple[Observations, Observations | None]:
    """Return the training cells and a random fraction to evaluate the fit on, None if there are too few cells."""
    if share == 0.0 or observations.size < LEAST_TO_HOLD_OUT:
        return observations, None
    return observations.split(generator(seed, Stream.HELD_OUT), share)


def divided_as_before(
    run: RunFolder, attributes: Mapping[str, Any], observations: Observations
) -> tuple[Observations, Observations | None]:
    """Return the training cells and the held-out cells as stored in the run, or raise a CannotResumeError."""
    if attributes["held_out"] is None:
        return observations, None
    try:
        held_out = load_observations(run.held_out)
    except ValueError as error:
        raise CannotResumeError(f"{run.path} cannot be resumed without its held-out cells: {error}") from None
    is_held_out = np.isin(_keys(observations), _keys(held_out), assume_unique=True)
    same_shape = observations.shape == held_out.shape
    if not (same_shape and np.array_equal(observations.by_row.values[is_held_out], held_out.by_row.values)):
        raise CannotResumeError(
            f"{run.path} cannot be resumed, the held-out cells differ: of the {held_out.size} in {run.held_out.name}, "
            "some are not in the data, or have other values there; give the data that the run was started with."
        )
    return observations.subset(~is_held_out), held_out


def check_held_out(held_out: Observations, observations: Observations) -> None:
    """Raise a ValueError if held-out cells are also observed in the fit, or belong to a matrix of another shape."""
    if held_out.shape != observations.shape:
        raise ValueError(
            f"held_out has the shape {held_out.shape}, the data {observations.shape}; both must be of the same matrix."
        )
    shared = np.intersect1d(_keys(held_out), _keys(observations), assume_unique=True).size
    if shared:
        raise ValueError(f"{shared} cells of held_out are also in the data; remove them from the data.")


def write_held_out(run: RunFolder, held_out: Observations | None) -> None:
    """Write the held-out cells to the run, replacing those of an interrupted attempt."""
    if held_out is None:
        run.held_out.unlink(missing_ok=True)
    else:
        save_observations(run.held_out, held_out)


def _keys(observations: Observations) -> IntVector:
    """Return a unique key per cell, in the order of ``triples``."""
    rows, cols, _ = observations.triples()
    return rows.astype(np.int64) * observations.shape[1] + cols
