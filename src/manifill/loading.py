"""From a run directory back to a fitted model."""

from pathlib import Path
from typing import Any

from manifill.estimator import MatrixCompletion
from manifill.posterior import Draws
from manifill.problem import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.runs import RunFolder, load_observations

__all__ = ["load"]


def load(path: str | Path, likelihood: Likelihood | None = None) -> MatrixCompletion:
    """Return the fitted :class:`MatrixCompletion` of a run directory, as far as its chains came.

    A run with a likelihood of one's own does not hold its code; give it as ``likelihood``.
    """
    run = RunFolder(path)
    if not run.draws.exists():
        raise ValueError(f"{path} is no run of manifill; give the folder that a fit was written to.")
    posterior, observations = Draws.open(run.draws), load_observations(run.data)
    settings = dict(posterior.attributes["settings"], path=str(path))
    if likelihood is not None:
        settings["likelihood"] = likelihood
    elif isinstance(settings["likelihood"], dict):
        settings["likelihood"] = _named_likelihood(path, settings["likelihood"])
    for name in ("noise_prior", "lambda_prior"):
        if isinstance(settings[name], list):
            settings[name] = tuple(settings[name])
    model = MatrixCompletion(**settings)
    model._revive(observations, posterior)
    return model


def _named_likelihood(path: str | Path, saved: dict[str, Any]) -> Likelihood:
    """Return a likelihood of this package that was given as an object."""
    known: dict[str, Any] = {"gaussian": Gaussian, "softplus": SoftplusGaussian, "binomial": Binomial}
    fields = {name: value for name, value in saved.items() if name != "name"}
    try:
        return known[saved["name"]](**fields)  # type: ignore[no-any-return]
    except (KeyError, TypeError):
        raise ValueError(
            f"{path} was fitted with the likelihood {saved['name']!r}, whose code is not in the run; give it to load "
            "as likelihood."
        ) from None
