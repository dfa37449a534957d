"""A run read from disk, with the draws made so far."""

from pathlib import Path
from typing import NamedTuple

from manifill.base.argument_words import Argument, Wording, message_of
from manifill.base.errors import Damage, DamagedRunError
from manifill.likelihoods import Likelihood
from manifill.posterior import FORMAT, Draws, store_format
from manifill.posterior.store_layout import METADATA, POSTERIOR
from manifill.problem import Model, Observations
from manifill.run.attributes import check_attributes
from manifill.run.begin import was_interrupted
from manifill.run.folder import RunFolder
from manifill.run.manifest import check_manifest
from manifill.run.observations_file import load_observations
from manifill.run.resolved import Resolved

__all__ = ["StoredRun", "check_is_run", "check_variables", "read_run"]

# Dimensions of the variables that predictions need.
FACTORS: dict[str, tuple[str, ...]] = {"U": ("row", "component"), "s": ("component",), "V": ("column", "component")}
BASELINE: dict[str, tuple[str, ...]] = {"A": ("row", "component"), "B": ("column", "component")}
EFFECTS: dict[str, tuple[str, ...]] = {"mu": (), "row_effect": ("row",), "column_effect": ("column",)}


class StoredRun(NamedTuple):
    """The contents of a run directory."""

    draws: Draws
    observations: Observations
    model: Model | None  # None for a run of an older format, which does not store it


def read_run(path: str | Path, likelihood: Likelihood | None, *, skip_damaged: bool = False) -> StoredRun:
    """Read a run; ``likelihood`` is the code of a custom likelihood.

    A ValueError is raised if the folder is not a run, if its format is unknown, or if its files are damaged.  With
    ``skip_damaged``, chains with damaged draws are left out instead.
    """
    run = RunFolder(path)
    check_is_run(run)
    has_manifest = check_manifest(run)
    number = store_format(run.draws)
    if number == FORMAT and not has_manifest:
        raise DamagedRunError.of([Damage(run.manifest, "is missing")])
    draws = Draws.open(run.draws, skip_damaged=skip_damaged)
    check_attributes(run, draws.attributes)
    observations = load_observations(run.data)
    _check_factors(run, draws, observations)
    if number != FORMAT:
        return StoredRun(draws, observations, None)
    try:
        model = Resolved.from_json(draws.attributes, likelihood).model
    except ValueError as error:
        raise ValueError(Wording(f"the model of {path} cannot be read: ", message_of(error))) from None
    check_variables(run, draws, model.likelihood)
    return StoredRun(draws, observations, model)


def check_is_run(run: RunFolder) -> None:
    """Raise a ValueError if a folder does not hold a run."""
    if was_interrupted(run):
        stopped = f"{run.path} holds a run that was stopped while it was begun"
        raise ValueError(Wording(f"{stopped}; continue it by a fit with ", Argument("resume", True), "."))
    if not run.draws.exists() and not run.manifest.exists():
        raise ValueError(f"{run.path} is not a manifill run; give the folder that a fit was written to.")


def _check_factors(run: RunFolder, draws: Draws, observations: Observations) -> None:
    """Raise a DamagedRunError unless the draws hold the factors, and effects if any, of the observed matrix."""
    m, n = observations.shape
    found = {variable.name: variable for variable in draws.variables}
    needed = FACTORS if "U" in found else BASELINE
    if EFFECTS.keys() & found.keys():
        needed = needed | EFFECTS
    for name, dims in needed.items():
        metadata = run.draws / POSTERIOR / name / METADATA
        if name not in found:
            raise DamagedRunError.of([Damage(metadata, "is missing")])
        sizes = {"row": m, "column": n}
        fits = all(sizes.get(dim, size) == size for dim, size in zip(dims, found[name].shape, strict=False))
        if found[name].dims != dims or not fits:
            raise DamagedRunError.of([Damage(metadata, f"is damaged: it does not fit the {m}×{n} matrix in data.npz")])
    scales = draws.column_scales, draws.column_units.scale
    if any(each.ndim and each.shape != (n,) for each in scales):
        raise DamagedRunError.of([Damage(run.draws / METADATA, f"is damaged: it does not have {n} column scales")])


def check_variables(run: RunFolder, draws: Draws, likelihood: Likelihood) -> None:
    """Raise a DamagedRunError if the draws lack a variable that the likelihood needs."""
    for name in likelihood.parameter_names:
        if name not in draws.posterior:
            raise DamagedRunError.of([Damage(run.draws / POSTERIOR / name / METADATA, "is missing")])
