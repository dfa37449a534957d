"""From a plan to draws: in memory, or in a run directory that is its own checkpoint."""

import shutil
from dataclasses import replace
from typing import Any

import numpy as np

from manifill.files import locked
from manifill.posterior import Draws, create_store, extend_store, is_store, store_attributes
from manifill.problem import Observations
from manifill.provenance import difference
from manifill.runs import CannotResumeError, RunFolder, save_observations
from manifill.sampling.chains import Plan, run_chains, statistic_names
from manifill.sampling.sampler import Sampler

__all__ = ["sample_in_memory", "sample_to_disk"]


def sample_in_memory(plan: Plan, attributes: dict[str, Any], *, jobs: int, visible: bool) -> Draws:
    """Run the chains and return their draws."""
    plan.build()  # here as well as in the chains' processes: it may refuse
    records = run_chains(plan, np.random.SeedSequence(attributes["seed"]), jobs=jobs, visible=visible)
    return Draws.from_records(records, attributes)


def sample_to_disk(
    plan: Plan,
    run: RunFolder,
    observations: Observations,
    attributes: dict[str, Any],
    *,
    resume: bool,
    jobs: int,
    visible: bool,
) -> Draws:
    """Run the chains, or go on with them, and return their draws, which stay on disk."""
    # Workers may have been started in another folder, so a path must not depend on it.
    plan = replace(plan, path=run.draws.absolute(), checkpoints=run.checkpoints.absolute())
    sampler = plan.build()  # before anything is written: it may refuse
    run.check_free(resume=resume)
    run.checkpoints.mkdir(parents=True, exist_ok=True)
    with locked(run.checkpoints / "run.lock", wait=False) as alone:
        if not alone:
            raise ValueError(f"another process is writing to {run.path}; wait for it, or choose another folder.")
        if resume and is_store(run.draws):
            plan, attributes = _continued(plan, run, attributes)
        else:
            _begin(plan, run, sampler, observations, attributes)
        run_chains(plan, np.random.SeedSequence(attributes["seed"]), jobs=jobs, visible=visible)
    return Draws.open(run.draws)


def _begin(
    plan: Plan, run: RunFolder, sampler: Sampler[Any, Any, Any], observations: Observations, attributes: dict[str, Any]
) -> None:
    """Write the data and make the store; one whose making was cut short is made anew."""
    for checkpoint in run.checkpoints.glob("chain-*.npz"):  # which would lead past draws that are not there
        checkpoint.unlink()
    save_observations(run.data, observations)
    shutil.rmtree(run.draws, ignore_errors=True)
    create_store(
        run.draws, sampler.variables, statistic_names(sampler), plan.chains, plan.draws, plan.warmup, attributes
    )


def _continued(plan: Plan, run: RunFolder, attributes: dict[str, Any]) -> tuple[Plan, dict[str, Any]]:
    """Return the plan and the attributes of a run that goes on, after a look at what it was."""
    before = store_attributes(run.draws)
    found = difference(before, attributes)
    if found is not None:
        raise CannotResumeError(
            f"{run.path} cannot be resumed, {found}; give what it was begun with, or another folder."
        )
    draws = max(plan.draws, before["settings"]["draws"])  # a run is never cut
    attributes = before | {"settings": before["settings"] | {"draws": draws}}
    try:
        extend_store(run.draws, draws, attributes)
    except KeyError as missing:
        remedy = "so the run cannot be resumed; choose another folder"
        raise CannotResumeError(f"{run.draws} has lost {missing}, {remedy}.") from None
    return replace(plan, draws=draws), attributes
