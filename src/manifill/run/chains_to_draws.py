"""From a request to draws: in memory, or in a run directory that can be resumed."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from manifill.likelihoods import Likelihood
from manifill.posterior import Draws, create_store, discard_unfinished
from manifill.problem import Model, Observations
from manifill.problem.column_spreads import divided_by
from manifill.run.folder import RunFolder
from manifill.run.observations_file import save_observations
from manifill.run.resolved import Resolved
from manifill.run.resume import attributes_to_resume, check_checkpoints, check_same, extend, resolved_before
from manifill.run.seeds import chain_seeds
from manifill.run.split import write_held_out
from manifill.sampling.chains import Plan, run_chains, statistic_names

__all__ = ["Request", "sample_in_memory", "sample_to_disk"]


@dataclass(frozen=True)
class Request:
    """The specification of a fit."""

    observations: Observations
    held_out: Observations | None  # cells to evaluate the fit on, stored in the run
    attributes: dict[str, Any]  # provenance: settings, seed, versions, fingerprint
    chains: int
    draws: int  # per chain
    resolve: Callable[[], Resolved]  # a new run's model and sampler, from data and defaults; may raise a ValueError
    likelihood: Likelihood | None  # the code of a custom likelihood, which a run does not store

    def plan(self, resolved: Resolved) -> Plan:
        """Return the plan of the chains."""
        scales = resolved.column_scales
        scaled = self.observations if scales is None else divided_by(self.observations, scales)
        build = partial(resolved.sampler.build, resolved.model, scaled)
        return Plan(build, self.chains, resolved.sampler.warmup, self.draws)


class Prepared(NamedTuple):
    """The resolved model and sampler, and the plan of the chains."""

    resolved: Resolved
    plan: Plan


def sample_in_memory(request: Request, *, jobs: int, visible: bool) -> tuple[Model, Draws]:
    """Run the chains and return the model and the draws."""
    resolved, plan = _new(request)
    attributes = request.attributes | resolved.to_json()
    records = run_chains(plan, chain_seeds(attributes["seed"], plan.chains), jobs=jobs, visible=visible)
    return resolved.model, Draws.from_records(records, attributes)


def sample_to_disk(request: Request, run: RunFolder, *, resume: bool, jobs: int, visible: bool) -> tuple[Model, Draws]:
    """Run or resume the chains and return the model and the draws, which stay on disk."""
    run.check_free(resume=resume)
    new = None if run.checkpoints.exists() else _new(request)  # may raise, so before anything is written
    with run.reserved():
        before = attributes_to_resume(run)
        if before is None:
            resolved, plan = _begun(request, run, new or _new(request))
        else:
            run.check_free(resume=resume)  # another process may have started a run in the meantime
            resolved, plan = _resumed(request, run, before)
        seed = (before or request.attributes)["seed"]
        run_chains(plan, chain_seeds(seed, plan.chains), jobs=jobs, visible=visible)
    return resolved.model, Draws.open(run.draws)


def _new(request: Request) -> Prepared:
    """Return the model, sampler and plan of a new run, or raise a ValueError if the sampler does not support it."""
    resolved = request.resolve()
    plan = request.plan(resolved)
    plan.build()  # repeated in the processes of the chains; errors should be raised here
    return Prepared(resolved, plan)


def _begun(request: Request, run: RunFolder, new: Prepared) -> Prepared:
    """Write the data, held-out cells and empty store of a new run, replacing those of an interrupted attempt."""
    discard_unfinished(run.draws)
    for checkpoint in run.checkpoints.glob("chain-*.npz"):  # their draws no longer exist
        checkpoint.unlink()
    save_observations(run.data, request.observations)
    write_held_out(run, request.held_out)
    plan, sampler = _on_disk(new.plan, run), new.plan.build()
    attributes, names = request.attributes | new.resolved.to_json(), statistic_names(sampler)
    create_store(run.draws, sampler.variables, names, plan.chains, plan.draws, plan.warmup, attributes)
    return Prepared(new.resolved, plan)


def _resumed(request: Request, run: RunFolder, before: dict[str, Any]) -> Prepared:
    """Check that the run can be resumed, and only then extend its store."""
    check_same(run, before, request.attributes)
    resolved = resolved_before(run, before, request.likelihood)
    draws = max(request.draws, before["settings"]["draws"])  # a run is never shortened
    plan = replace(_on_disk(request.plan(resolved), run), draws=draws)
    check_checkpoints(plan)
    extend(run, before, draws)
    return Prepared(resolved, plan)


def _on_disk(plan: Plan, run: RunFolder) -> Plan:
    # Absolute paths, because workers may have another working directory.
    return replace(plan, path=run.draws.absolute(), checkpoints=run.checkpoints.absolute())
