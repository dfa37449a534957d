"""From a run directory back to a fitted model."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from manifill.estimators.matrix_completion import ConvergenceWarning, MatrixCompletion
from manifill.likelihoods import Likelihood
from manifill.run.folder import RunFolder
from manifill.run.resolved import likelihood_from_json
from manifill.run.stored_run import StoredRun, check_variables, read_run
from manifill.run.verdict import read_verdict

__all__ = ["DamagedRunWarning", "UnverifiedRunWarning", "load"]

# What settings were that a run of an earlier version does not store.
EARLIER_DEFAULTS: dict[str, Any] = {
    "noise": "shared",
    "tails": "normal",
    "column_transform": None,
    "off_components": "keep",
}


class UnverifiedRunWarning(UserWarning):
    """The run does not contain the model that was sampled."""


class DamagedRunWarning(UserWarning):
    """Chains with damaged files were left out, as requested."""


def load(path: str | Path, likelihood: Likelihood | None = None, *, skip_damaged: bool = False) -> MatrixCompletion:
    """Return the fitted :class:`MatrixCompletion` of a run directory, with the draws made so far.

    A :class:`ConvergenceWarning` is issued if the fit ended with a verdict on predictions that is not green.

    Parameters
    ----------
    path
        The folder that a fit was written to.  If one of its files is missing or damaged, an error names it.
    likelihood
        A custom likelihood, whose code a run does not contain.
    skip_damaged
        Whether to leave out chains with damaged files, with a warning that numbers them.  All draws are read to find
        them.
    """
    run = read_run(path, likelihood, skip_damaged=skip_damaged)
    left_out = run.draws.attributes.get("left_out_chains")
    if left_out:
        warnings.warn(_left_out(path, left_out, run.draws.chains), DamagedRunWarning, stacklevel=2)
    stored = read_verdict(RunFolder(path), run.draws)
    if stored is not None and not stored.converged:
        warnings.warn(stored.sentence, ConvergenceWarning, stacklevel=2)
    model = MatrixCompletion(**_settings(path, run, likelihood))
    if run.model is not None:
        model._take(run.observations, run.model, run.draws)
        return model
    version = run.draws.attributes.get("versions", {}).get("manifill", "unknown")
    warnings.warn(
        f"{path} was written by manifill {version} in an older format without the priors; they were derived again from "
        "the data, so the model is not verified. The run can be read, but not resumed.",
        UnverifiedRunWarning,
        stacklevel=2,
    )
    marked = replace(run.draws, attributes=run.draws.attributes | {"verified": False})
    try:
        resolved = model._resolve(run.observations, run.draws.attributes["seed"]).model
    except ValueError as error:
        raise ValueError(f"the model of {path} cannot be derived again: {error}") from None
    check_variables(RunFolder(path), run.draws, resolved.likelihood)
    model._take(run.observations, resolved, marked)
    return model


def _left_out(path: str | Path, chains: list[int], kept: int) -> str:
    """Return the sentence about the chains that were left out; people number them from 1."""
    numbers = ", ".join(str(chain + 1) for chain in chains)
    gone = f"chain {numbers} of {path} is" if len(chains) == 1 else f"chains {numbers} of {path} are"
    return f"{gone} left out because of damaged files; {kept} {'chain remains' if kept == 1 else 'chains remain'}."


def _settings(path: str | Path, run: StoredRun, likelihood: Likelihood | None) -> dict[str, Any]:
    """Return the parameters of the fit, as ``MatrixCompletion`` takes them."""
    settings: dict[str, Any] = EARLIER_DEFAULTS | run.draws.attributes["settings"] | {"path": str(path)}
    unknown = sorted(settings.keys() - MatrixCompletion().get_params().keys())
    if unknown:
        raise ValueError(f"{path} has the setting {unknown[0]!r}, which this version of manifill does not know.")
    if likelihood is not None:
        settings["likelihood"] = likelihood
    elif isinstance(settings["likelihood"], dict):
        try:
            settings["likelihood"] = likelihood_from_json(settings["likelihood"], None)
        except ValueError as error:
            raise ValueError(f"the settings of {path} cannot be read: {error}") from None
    for name in ("noise_prior", "lambda_prior"):
        if isinstance(settings.get(name), list):
            settings[name] = tuple(settings[name])
    return settings
