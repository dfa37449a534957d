"""Checks that a run on disk can be resumed, and the state to resume it from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manifill.base.argument_words import Wording, message_of
from manifill.base.errors import CannotResumeError, Damage, DamagedRunError
from manifill.base.wording import counted
from manifill.likelihoods import Likelihood
from manifill.posterior import FORMAT, extend_store, extension, store_attributes, store_format
from manifill.posterior.stored_draws import completed_draws, open_arrays
from manifill.run.attributes import GOAL, check_attributes, goal_of
from manifill.run.begin import check_unfinished, complete_beginning, was_interrupted
from manifill.run.draw_rule import AUTO, AutoDraws
from manifill.run.folder import RunFolder
from manifill.run.manifest import check_manifest, is_being_extended, write_manifest
from manifill.run.provenance import difference
from manifill.run.resolved import Resolved
from manifill.sampling.chains import Plan, found_checkpoint

__all__ = [
    "attributes_to_resume",
    "check_chains",
    "check_same",
    "extend",
    "goal_to_resume",
    "least_draws",
    "recover",
    "resolved_before",
    "settings_to_store",
]


def recover(run: RunFolder) -> None:
    """Complete the beginning of a run if a process was stopped in the middle of it."""
    if was_interrupted(run):
        with run.reserved():
            complete_beginning(run)


def attributes_to_resume(run: RunFolder) -> dict[str, Any] | None:
    """Return the attributes of the run in a folder, or None if it was interrupted before its store was created.

    A CannotResumeError is raised if its files are damaged or have another format; they are not changed.
    """
    with _refusing(run):
        has_manifest = check_manifest(run)
        found = store_format(run.draws)
        if found is None and has_manifest:
            raise DamagedRunError.of([Damage(run.draws, "is missing")])
        if found is None or (found == FORMAT and not has_manifest):
            check_unfinished(run)
            return None
        attributes = store_attributes(run.draws)
    if found != FORMAT:
        versions = attributes.get("versions")
        version = versions.get("manifill", "unknown") if isinstance(versions, dict) else "unknown"
        raise CannotResumeError(
            f"{run.path} cannot be resumed: it has the format {found}, which does not store the priors, and this "
            f"version of manifill resumes the format {FORMAT} only; resume it with manifill {version}, which wrote it, "
            "or fit again in another folder."
        )
    with _refusing(run):
        check_attributes(run, attributes, to_resume=True)
        _check_chains_are_current(attributes)
    return attributes


def _check_chains_are_current(attributes: dict[str, Any]) -> None:
    """Raise a ValueError for a run from before noise had tails: its checkpoints have other contents."""
    if "tails" not in attributes["settings"]:
        raise ValueError("its chains were begun by an earlier version of manifill; predict from it, or fit again.")


@contextmanager
def _refusing(run: RunFolder) -> Iterator[None]:
    """Turn an error about the files of a run into one that says that the run cannot be resumed."""
    try:
        yield
    except CannotResumeError:
        raise
    except ValueError as error:
        raise CannotResumeError(Wording(f"{run.path} cannot be resumed: ", message_of(error))) from None


def check_same(run: RunFolder, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise a CannotResumeError if seed, data or settings differ from those of the run."""
    found = difference(before, now)
    if found is not None:
        remedy = "; use the original ones, or another folder."
        raise CannotResumeError(Wording(f"{run.path} cannot be resumed: ", found, remedy))


def resolved_before(
    run: RunFolder, attributes: dict[str, Any], likelihood: Likelihood | None, columns: int
) -> Resolved:
    """Return the resolved model and sampler of the run; ``likelihood`` is the code of a custom likelihood."""
    try:
        resolved = Resolved.from_json(attributes, likelihood)
        if resolved.units.scale.ndim and resolved.units.scale.size != columns:
            raise ValueError(f"it does not have {counted(columns, 'column scale')}.")
    except ValueError as error:
        unreadable = f"{run.path} cannot be resumed, its resolved model cannot be read: "
        raise CannotResumeError(Wording(unreadable, message_of(error))) from None
    return resolved


def check_chains(run: RunFolder, plan: Plan) -> None:
    """Raise a CannotResumeError if a checkpoint or its draws are damaged, before anything in the run is changed.

    Draws after a checkpoint are drawn again, so they are not checked; neither is a chain without a checkpoint.
    """
    with _refusing(run):
        sampler = plan.build()
        arrays = open_arrays(run.draws)
        counts, damage = completed_draws(arrays)
    for chain in range(plan.chains):
        checkpoint = found_checkpoint(plan, chain, sampler)
        if checkpoint is None:
            continue
        drawn = max(checkpoint.iteration - plan.warmup, 0)
        found = [one for one in damage if one.chain == chain]
        found += arrays.missing(chain, drawn) if drawn else ()
        if not found and counts[chain] < drawn:
            file = arrays.completed.file_of(chain, 0)
            found = [Damage(file, f"is damaged: it counts {counts[chain]} draws, and the checkpoint {drawn}", chain)]
        if found:
            raise CannotResumeError(f"{run.path} cannot be resumed: {found[0]}; {_remedy(plan.checkpoint(chain))}.")


def _remedy(checkpoint: Path | None) -> str:
    return f"restore it from a copy, or delete {checkpoint}: its chain is then drawn again from its seed"


def goal_to_resume(run: RunFolder, before: dict[str, Any], draws: int | AutoDraws) -> int:
    """Return the draws per chain that a run is to have first: a number that was asked for, or what it was to have."""
    if isinstance(draws, int):
        return max(draws, least_draws(run, before))
    return goal_of(before)


def least_draws(run: RunFolder, before: dict[str, Any]) -> int:
    """Return the least draws per chain that a run can be given, since it is never shortened.

    These are the draws that were asked for, or if none were, those that it has.
    """
    if before["settings"]["draws"] != AUTO:
        return goal_of(before)
    counts, _ = completed_draws(open_arrays(run.draws))
    return max(counts)


def settings_to_store(before: dict[str, Any], now: dict[str, Any], goal: int) -> dict[str, Any]:
    """Return the settings of a run with the present ones on its number of draws."""
    chosen = {name: now["settings"][name] for name in ("draws", "max_draws", "max_minutes")}
    if chosen["draws"] != AUTO:
        chosen["draws"] = goal
    return {**before["settings"], **chosen}


def extend(run: RunFolder, settings: dict[str, Any], goal: int) -> None:
    """Extend the store to this number of draws per chain, which the run is to have; store the settings with it."""
    attributes = {"settings": settings, GOAL: goal}
    pending = extension(run.draws, goal, attributes)
    if pending or is_being_extended(run):
        write_manifest(run, pending)
        extend_store(run.draws, goal, attributes)
        write_manifest(run)
