"""From a run directory back to a fitted model."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.likelihoods import Likelihood
from manifill.run.resolved import likelihood_from_json
from manifill.run.stored_run import StoredRun, read_run

__all__ = ["UnverifiedRunWarning", "load"]


class UnverifiedRunWarning(UserWarning):
    """The run does not contain the model that was sampled."""


def load(path: str | Path, likelihood: Likelihood | None = None) -> MatrixCompletion:
    """Return the fitted :class:`MatrixCompletion` of a run directory, with the draws made so far.

    A run does not contain the code of a custom likelihood; give it as ``likelihood``.
    """
    run = read_run(path, likelihood)
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
    model._take(run.observations, model._resolve(run.observations).model, marked)
    return model


def _settings(path: str | Path, run: StoredRun, likelihood: Likelihood | None) -> dict[str, Any]:
    """Return the parameters of the fit, as ``MatrixCompletion`` takes them."""
    settings = dict(run.draws.attributes["settings"], path=str(path))
    if likelihood is not None or isinstance(settings["likelihood"], dict):
        saved = settings["likelihood"]
        settings["likelihood"] = likelihood if likelihood is not None else likelihood_from_json(saved, None)
    for name in ("noise_prior", "lambda_prior"):
        if isinstance(settings[name], list):
            settings[name] = tuple(settings[name])
    return settings
