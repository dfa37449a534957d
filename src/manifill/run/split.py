"""The held-out cells of a run: chosen once, stored before the first iteration, and read back on resume."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from manifill.base.argument_words import Wording, message_of
from manifill.base.arrays import IntVector
from manifill.base.errors import CannotResumeError
from manifill.problem import Observations
from manifill.problem.hold_out import HoldOutBy, cells_to_hold_out
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from manifill.run.seeds import Stream, generator

__all__ = ["LEAST_TO_HOLD_OUT", "check_held_out", "choose_held_out", "divided_as_before"]

# With fewer observed cells than this, none are held out by default.
LEAST_TO_HOLD_OUT = 200


def choose_held_out(
    observations: Observations, amount: float, seed: int, by: HoldOutBy = "cell", least: int = LEAST_TO_HOLD_OUT
) -> tuple[Observations, Observations | None]:
    """Return the training cells and random ones to evaluate the fit on.

    No cells are held out, and None is returned for them, if ``amount`` is 0 or fewer than ``least`` cells are observed.
    """
    if amount == 0.0 or observations.size < least:
        return observations, None
    is_held_out = cells_to_hold_out(generator(seed, Stream.HELD_OUT), observations, amount, by)
    return observations.subset(~is_held_out), observations.subset(is_held_out)


def divided_as_before(
    run: RunFolder, attributes: Mapping[str, Any], observations: Observations
) -> tuple[Observations, Observations | None]:
    """Return the training cells and the held-out cells as stored in the run, or raise a CannotResumeError."""
    if attributes["held_out"] is None:
        return observations, None
    try:
        held_out = load_observations(run.held_out)
    except ValueError as error:
        without = f"{run.path} cannot be resumed without its held-out cells: "
        raise CannotResumeError(Wording(without, message_of(error))) from None
    is_held_out = np.isin(_keys(observations), _keys(held_out), assume_unique=True)
    same_shape = observations.shape == held_out.shape
    if not (same_shape and np.array_equal(observations.by_row.values[is_held_out], held_out.by_row.values)):
        raise CannotResumeError(
            f"{run.path} cannot be resumed, the held-out cells differ: of those in {run.held_out.name}, "
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
        is_in = "cell of held_out is" if shared == 1 else "cells of held_out are"
        raise ValueError(f"{shared} {is_in} also in the data; remove what is held out from the data.")


def _keys(observations: Observations) -> IntVector:
    """Return a unique key per cell, in the order of ``triples``."""
    rows, cols, _ = observations.triples()
    return rows.astype(np.int64) * observations.shape[1] + cols
