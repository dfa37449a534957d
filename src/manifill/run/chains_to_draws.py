"""From a request to draws: in memory, or in a run directory that can be resumed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from manifill.base import progress
from manifill.base.argument_words import Argument, Wording
from manifill.base.errors import DiskFullError
from manifill.likelihoods import Likelihood
from manifill.posterior import Draws, create_store
from manifill.problem import Model, Observations
from manifill.problem.column_spreads import divided_by
from manifill.run.begin import begin_run
from manifill.run.folder import RunFolder, Start
from manifill.run.observations_file import check_labels, save_observations
from manifill.run.resolved import Resolved
from manifill.run.resume import attributes_to_resume, check_chains, check_same, extend, recover, resolved_before
from manifill.run.seeds import chain_seeds
from manifill.run.time_guess import building_seconds, products_per_pass
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
    chain_seconds: float = 0.0  # a guess of the time that the chains take

    def plan(self, resolved: Resolved) -> Plan:
        """Return the plan of the chains."""
        scales = resolved.column_scales
        scaled = self.observations if scales is None else divided_by(self.observations, scales)
        build = partial(resolved.sampler.build, resolved.model, scaled)
        products = products_per_pass(scaled.size, resolved.model.rank)
        return Plan(build, self.chains, resolved.sampler.warmup, self.draws, products=products)


class Prepared(NamedTuple):
    """The resolved model and sampler, and the plan of the chains."""

    resolved: Resolved
    plan: Plan


def sample_in_memory(request: Request, *, jobs: int | None) -> tuple[Model, Draws]:
    """Run the chains and return the model and the draws."""
    with progress.followed_by(request.chain_seconds):
        resolved, plan = _new(request)
    attributes = request.attributes | resolved.to_json()
    records = run_chains(plan, chain_seeds(attributes["seed"], plan.chains), jobs=jobs)
    return resolved.model, Draws.from_records(records, attributes)


def sample_to_disk(request: Request, run: RunFolder, *, start: Start, jobs: int | None) -> tuple[Model, Draws]:
    """Run or resume the chains and return the model and the draws, which stay on disk."""
    run.check(start)
    check_labels(request.observations)
    with progress.followed_by(request.chain_seconds):
        new = None if start is Start.RESUME else _new(request)  # may raise, so before anything is written
    recover(run)
    with run.reserved():
        run.check(start)  # another process may have started a run in the meantime
        before = attributes_to_resume(run) if start is Start.RESUME else None
        with _naming_run(run, "try again"), progress.followed_by(request.chain_seconds):
            if before is None:
                resolved, plan = _begun(request, run, new or _new(request))
            else:
                resolved, plan = _resumed(request, run, before)
        seed = (before or request.attributes)["seed"]
        with _naming_run(run, Wording("continue with ", Argument("resume", True))):
            run_chains(plan, chain_seeds(seed, plan.chains), jobs=jobs)
    return resolved.model, Draws.open(run.draws)


@contextmanager
def _naming_run(run: RunFolder, remedy: str) -> Iterator[None]:
    """Let an error about a full disk name the run's folder and what to do, not one of its files."""
    try:
        yield
    except DiskFullError:
        full = f"the disk that holds {run.path} is full; free space and "
        raise DiskFullError(Wording(full, remedy, ".")) from None


def _new(request: Request) -> Prepared:
    """Return the model, sampler and plan of a new run, or raise a ValueError if the sampler does not support it."""
    resolved = request.resolve()
    progress.begin("building the sampler", guess=building_seconds(request.observations.size))
    plan = request.plan(resolved)
    plan.build()  # repeated in the processes of the chains; errors should be raised here
    return Prepared(resolved, plan)


def _begun(request: Request, run: RunFolder, new: Prepared) -> Prepared:
    """Write the data, held-out cells and empty store of a new run, in place of what is there."""
    plan, sampler = _on_disk(new.plan, run), new.plan.build()
    attributes, names = request.attributes | new.resolved.to_json(), statistic_names(sampler)

    def write(place: RunFolder) -> None:
        save_observations(place.data, request.observations)
        if request.held_out is not None:
            save_observations(place.held_out, request.held_out)
        create_store(place.draws, sampler.variables, names, plan.chains, plan.draws, plan.warmup, attributes)

    begin_run(run, write)
    return Prepared(new.resolved, plan)


def _resumed(request: Request, run: RunFolder, before: dict[str, Any]) -> Prepared:
    """Check that the run can be resumed, and only then extend its store."""
    check_same(run, before, request.attributes)
    resolved = resolved_before(run, before, request.likelihood, request.observations.shape[1])
    draws = max(request.draws, before["settings"]["draws"])  # a run is never shortened
    plan = replace(_on_disk(request.plan(resolved), run), draws=draws)
    check_chains(run, plan)
    extend(run, before, draws)
    return Prepared(resolved, plan)


def _on_disk(plan: Plan, run: RunFolder) -> Plan:
    # Absolute paths, because workers may have another working directory.
    return replace(plan, path=run.draws.absolute(), checkpoints=run.checkpoints.absolute())
