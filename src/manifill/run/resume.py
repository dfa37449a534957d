"""Checks that a run on disk can be resumed, and the state to resume it from."""

from typing import Any

from manifill.base.errors import CannotResumeError
from manifill.likelihoods import Likelihood
from manifill.posterior import FORMAT, extend_store, store_attributes, store_format
from manifill.run.folder import RunFolder
from manifill.run.provenance import difference
from manifill.run.resolved import Resolved
from manifill.sampling.chains import Plan, found_checkpoint

__all__ = ["attributes_to_resume", "check_checkpoints", "check_same", "extend", "resolved_before"]


def attributes_to_resume(run: RunFolder) -> dict[str, Any] | None:
    """Return the attributes of the run in a folder, or None if it was interrupted before its store was created.

    A CannotResumeError is raised if its store cannot be read or has another format; the store is not changed.
    """
    try:
        found = store_format(run.draws)
    except ValueError as error:
        raise CannotResumeError(f"{run.path} cannot be resumed: {error}") from None
    if found is None:
        return None
    attributes = store_attributes(run.draws)
    if found != FORMAT:
        version = attributes.get("versions", {}).get("manifill", "unknown")
        raise CannotResumeError(
            f"{run.path} cannot be resumed: it has the format {found}, which does not store the priors, and this "
            f"version of manifill resumes the format {FORMAT} only; resume it with manifill {version}, which wrote it, "
            "or fit again in another folder."
        )
    return attributes


def check_same(run: RunFolder, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise a CannotResumeError if data or settings differ from those of the run."""
    found = difference(before, now)
    if found is not None:
        raise CannotResumeError(
            f"{run.path} cannot be resumed, {found}; use the original data and settings, or another folder."
        )


def resolved_before(run: RunFolder, attributes: dict[str, Any], likelihood: Likelihood | None) -> Resolved:
    """Return the resolved model and sampler of the run; ``likelihood`` is the code of a custom likelihood."""
    try:
        return Resolved.from_json(attributes, likelihood)
    except ValueError as error:
        raise CannotResumeError(f"{run.path} cannot be resumed, its resolved model cannot be read: {error}") from None


def check_checkpoints(plan: Plan) -> None:
    """Raise a CannotResumeError if a checkpoint cannot be read, before anything in the run is changed."""
    sampler = plan.build()
    for chain in range(plan.chains):
        found_checkpoint(plan, chain, sampler)


def extend(run: RunFolder, before: dict[str, Any], draws: int) -> None:
    """Extend the store to this number of draws per chain."""
    try:
        extend_store(run.draws, draws, {"settings": before["settings"] | {"draws": draws}})
    except KeyError as missing:
        remedy = "so the run cannot be resumed; choose another folder"
        raise CannotResumeError(f"{run.draws} has no {missing}, {remedy}.") from None
