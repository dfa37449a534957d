"""From a request to draws: in memory, or in a run directory that can be resumed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from manifill.base import progress
from manifill.base.argument_words import Argument, Wording
from manifill.base.errors import DiskFullError
from manifill.base.variables import Variable
from manifill.likelihoods import Likelihood
from manifill.posterior import Diagnostics, Draws, create_store
from manifill.problem import Model, Observations
from manifill.run.attributes import GOAL
from manifill.run.begin import begin_run
from manifill.run.diagnosis import diagnosed
from manifill.run.draw_blocks import draw_number, draw_until_green
from manifill.run.draw_places import InMemory, OnDisk, Place
from manifill.run.draw_rule import AutoDraws, Ending
from manifill.run.folder import RunFolder, Start
from manifill.run.observations_file import check_labels, load_observations, save_observations
from manifill.run.resolved import Resolved
from manifill.run.resume import (
    attributes_to_resume,
    check_chains,
    check_same,
    extend,
    goal_to_resume,
    recover,
    resolved_before,
    settings_to_store,
)
from manifill.run.seeds import chain_seeds
from manifill.run.time_guess import building_seconds, products_per_pass
from manifill.sampling.chains import Plan, open_chains, statistic_names

__all__ = ["Request", "Sampled", "sample_in_memory", "sample_to_disk"]


@dataclass(frozen=True)
class Request:
    """The specification of a fit."""

    observations: Observations
    held_out: Observations | None  # cells to evaluate the fit on, stored in the run
    attributes: dict[str, Any]  # provenance: settings, seed, versions, fingerprint
    chains: int
    draws: int | AutoDraws  # per chain
    resolve: Callable[[], Resolved]  # a new run's model and sampler, from data and defaults; may raise a ValueError
    likelihood: Likelihood | None  # the code of a custom likelihood, which a run does not store
    chain_seconds: float = 0.0  # a guess of the time that the chains take

    def plan(self, resolved: Resolved) -> Plan:
        """Return the plan of the chains."""
        scaled = resolved.units.observations(self.observations)
        build = partial(resolved.sampler.build, resolved.model, scaled)
        products = products_per_pass(scaled.size, resolved.model.rank, resolved.sampler.name)
        return Plan(build, self.chains, resolved.sampler.warmup, products=products)

    @property
    def first_goal(self) -> int:
        """The draws per chain that a new run is to have first."""
        return self.draws.first_goal if isinstance(self.draws, AutoDraws) else self.draws


class Prepared(NamedTuple):
    """The resolved model and sampler, and the plan of the chains."""

    resolved: Resolved
    plan: Plan


class New(NamedTuple):
    """A new run of which nothing has been written, and the names of what its store will hold."""

    prepared: Prepared
    variables: tuple[Variable, ...]
    statistics: tuple[str, ...]


class Sampled(NamedTuple):
    """The result of a fit."""

    model: Model
    draws: Draws
    diagnostics: Diagnostics | None  # if the draws have been diagnosed
    ending: Ending


def sample_in_memory(request: Request, *, jobs: int | None) -> Sampled:
    """Run the chains and return the model and the draws."""
    with progress.followed_by(request.chain_seconds):
        new = _new(request).prepared
    attributes = request.attributes | new.resolved.to_json()
    return _sampled(request, new, InMemory(attributes, request.first_goal), request.first_goal, None, attributes, jobs)


def sample_to_disk(request: Request, run: RunFolder, *, start: Start, jobs: int | None) -> Sampled:
    """Run or resume the chains and return the model and the draws, which stay on disk."""
    run.check(start)
    with _saying_that_no_run_began(run):
        return _sampled_to_disk(request, run, start=start, jobs=jobs)


def _sampled_to_disk(request: Request, run: RunFolder, *, start: Start, jobs: int | None) -> Sampled:
    check_labels(request.observations)
    with progress.followed_by(request.chain_seconds):
        new = None if start is Start.RESUME else _new(request)  # may raise, so before anything is written
    recover(run)
    with run.reserved():
        run.check(start)  # another process may have started a run in the meantime
        before = attributes_to_resume(run) if start is Start.RESUME else None
        with _naming_run(run, "try again"), progress.followed_by(request.chain_seconds):
            if before is None:
                prepared, goal = _begun(request, run, new or _new(request)), request.first_goal
                settings = request.attributes["settings"]
            else:
                prepared = _resumed(request, run, before)
                goal = goal_to_resume(run, before, request.draws)
                settings = settings_to_store(before, request.attributes, goal)
                extend(run, settings, goal)
        held_out = load_observations(run.held_out) if run.held_out.exists() else None
        with _naming_run(run, Wording("continue with ", Argument("resume", True))):
            place = OnDisk(run, prepared.plan, settings)
            return _sampled(request, prepared, place, goal, held_out, before or request.attributes, jobs)


def _sampled(
    request: Request,
    prepared: Prepared,
    place: Place,
    goal: int,
    held_out: Observations | None,
    attributes: dict[str, Any],
    jobs: int | None,
) -> Sampled:
    """Run the chains until there are enough draws."""
    resolved, plan = prepared
    look = partial(
        diagnosed, likelihood=resolved.model.likelihood, observations=request.observations, held_out=held_out
    )
    with open_chains(plan, chain_seeds(attributes["seed"], plan.chains), jobs=jobs) as chains:
        if isinstance(request.draws, AutoDraws):
            found = draw_until_green(chains, request.draws, goal, place, look)
        else:
            found = draw_number(chains, goal, place)
    return Sampled(resolved.model, *found)


@contextmanager
def _saying_that_no_run_began(run: RunFolder) -> Iterator[None]:
    """Add to the message of an interrupt that there is no run that could be resumed, if there is none."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        if not run.holds_run():
            interrupt.args = (f"{str(interrupt) or 'interrupted'} before the run began; fit again",)
        raise


@contextmanager
def _naming_run(run: RunFolder, remedy: str) -> Iterator[None]:
    """Let an error about a full disk name the run's folder and what to do, not one of its files."""
    try:
        yield
    except DiskFullError:
        full = f"the disk that holds {run.path} is full; free space and "
        raise DiskFullError(Wording(full, remedy, ".")) from None


def _new(request: Request) -> New:
    """Return the model, sampler and plan of a new run, or raise a ValueError if the sampler does not support it."""
    resolved = request.resolve()
    progress.begin("building the sampler", guess=building_seconds(request.observations.size))
    plan = request.plan(resolved)
    sampler = plan.build()  # repeated in the processes of the chains; errors should be raised here
    return New(Prepared(resolved, plan), sampler.variables, statistic_names(sampler))


def _begun(request: Request, run: RunFolder, new: New) -> Prepared:
    """Write the data, held-out cells and empty store of a new run, in place of what is there."""
    resolved, plan = new.prepared.resolved, _on_disk(new.prepared.plan, run)
    attributes = request.attributes | resolved.to_json() | {GOAL: request.first_goal}

    def write(place: RunFolder) -> None:
        save_observations(place.data, request.observations)
        if request.held_out is not None:
            save_observations(place.held_out, request.held_out)
        create_store(
            place.draws, new.variables, new.statistics, plan.chains, request.first_goal, plan.warmup, attributes
        )

    begin_run(run, write)
    return Prepared(resolved, plan)


def _resumed(request: Request, run: RunFolder, before: dict[str, Any]) -> Prepared:
    """Check that the run can be resumed, before anything in it is changed."""
    check_same(run, before, request.attributes)
    resolved = resolved_before(run, before, request.likelihood, request.observations.shape[1])
    plan = _on_disk(request.plan(resolved), run)
    check_chains(run, plan)
    return Prepared(resolved, plan)


def _on_disk(plan: Plan, run: RunFolder) -> Plan:
    # Absolute paths, because workers may have another working directory.
    return replace(plan, path=run.draws.absolute(), checkpoints=run.checkpoints.absolute())
