"""The ways in which a run is read; each returns its answer in parts that can be compared."""

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import manifill
from manifill.run import chains_to_draws
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from manifill.run.resume import attributes_to_resume
from manifill.run.split import divided_as_before
from manifill.run.verification import verify_run
from manifill.sampling.chains import found_checkpoint
from tests.fuzz.case import Case
from tests.fuzz.trials import SCRATCH, write
from tests.fuzz.valid_runs import valid_run

__all__ = ["READINGS", "Answer", "whole_answer"]

Answer = dict[Any, Any]


def _predictions(path: Path, _: str) -> Answer:
    """Predict a few cells, and all of them."""
    model = manifill.load(path)
    rows, columns = (size if labels is None else labels for labels, size in _labels(model))
    found = model.predict(rows[:3], columns[1:4], interval=0.8)
    mean, sd = model.complete()
    some = found.mean, found.sd, found.lower, found.upper
    return _comparable({"some": some, "all": (np.array(mean), np.array(sd))})


def _labels(model: manifill.MatrixCompletion) -> list[tuple[Any, Any]]:
    observations = model.observations_
    numbers = map(np.arange, observations.shape)
    return list(zip((observations.row_labels, observations.column_labels), numbers, strict=True))


def _diagnostics(path: Path, _: str) -> Answer:
    found = manifill.load(path).diagnostics_
    return _comparable({"text": str(found), "quantities": found.quantities})


def _chains(path: Path, _: str) -> Answer:
    """Leave damaged chains out, and return the draws of the others by number."""
    draws = manifill.load(path, skip_damaged=True).posterior_
    left_out = draws.attributes.get("left_out_chains", [])
    kept = [chain for chain in range(draws.chains + len(left_out)) if chain not in left_out]
    arrays = {**draws.posterior, **draws.statistics}
    return _comparable({chain: [array[k] for array in arrays.values()] for k, chain in enumerate(kept)})


def _verification(path: Path, _: str) -> Answer:
    found = verify_run(path)
    for one in found.damage:
        assert one.file.is_relative_to(path), one
        assert "\n" not in str(one), one
    return {one.file: one.problem for one in found.damage}


def _continuation(path: Path, name: str) -> Answer:
    """Read what a continuation starts from; the store is not extended."""
    run, request = RunFolder(path), valid_run(name).request
    before = attributes_to_resume(run)
    assert before is not None  # a run is never begun again
    divided_as_before(run, before, valid_run(name).table)
    with patch.object(chains_to_draws, "extend"):
        _, plan = chains_to_draws._resumed(request, run, before)
    sampler = plan.build()
    found = {chain: found_checkpoint(plan, chain, sampler) for chain in range(plan.chains)}
    checkpoints = {chain: one for chain, one in found.items() if one is not None}  # others start again from their seeds
    return _comparable({"attributes": before, **checkpoints})


def _held_out(path: Path, name: str) -> Answer:
    """Load the run, and then its held-out cells, as the report does."""
    manifill.load(path)
    if "held_out.npz" not in valid_run(name).files:
        return {}
    return _comparable({"cells": load_observations(RunFolder(path).held_out).triples()})


class Reading(NamedTuple):
    """A way to read a run."""

    answer: Callable[[Path, str], Answer]  # to a path and the name of the undamaged run
    weight: int  # how often it is chosen


READINGS = {
    "predictions": Reading(_predictions, 4),
    "diagnostics": Reading(_diagnostics, 1),
    "chains": Reading(_chains, 3),
    "verification": Reading(_verification, 3),
    "continuation": Reading(_continuation, 3),
    "held-out cells": Reading(_held_out, 1),
}


@cache
def whole_answer(name: str, reading: str) -> Answer:
    """Return the answer of an undamaged run."""
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=SCRATCH) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(Case(valid_run(name).files, {}), Path(folder))
        return READINGS[reading].answer(Path(folder), name)


def _comparable(parts: Answer) -> Answer:
    return {key: _plain(part) for key, part in parts.items()}


def _plain(value: Any) -> Any:
    """Return a value with arrays replaced by their bytes, so that NaN equals NaN."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return repr(value)
