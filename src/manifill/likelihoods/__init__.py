"""How observations arise from the matrix: one file for each likelihood, with all of its facts.

Names are imported when they are first used: the command line shows the names in the registry without importing Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manifill.likelihoods.binomial import Binomial
    from manifill.likelihoods.custom import custom_likelihood
    from manifill.likelihoods.gaussian import Gaussian
    from manifill.likelihoods.likelihood import Chunk, CompiledLikelihood, Evaluation, Likelihood, Parameters
    from manifill.likelihoods.noise import WITHOUT_NOISE, NoiseModel, NoiseState, Spread, Tails, WithNoise, WithoutNoise
    from manifill.likelihoods.softplus import SoftplusGaussian

__all__ = [
    "WITHOUT_NOISE",
    "Binomial",
    "Chunk",
    "CompiledLikelihood",
    "Evaluation",
    "Gaussian",
    "Likelihood",
    "NoiseModel",
    "NoiseState",
    "Parameters",
    "SoftplusGaussian",
    "Spread",
    "Tails",
    "WithNoise",
    "WithoutNoise",
    "custom_likelihood",
]

_MODULES = {
    "binomial": ("Binomial",),
    "custom": ("custom_likelihood",),
    "gaussian": ("Gaussian",),
    "likelihood": ("Chunk", "CompiledLikelihood", "Evaluation", "Likelihood", "Parameters"),
    "noise": ("WITHOUT_NOISE", "NoiseModel", "NoiseState", "Spread", "Tails", "WithNoise", "WithoutNoise"),
    "softplus": ("SoftplusGaussian",),
}


def __getattr__(name: str) -> Any:
    """Import a name and keep it."""
    for module, names in _MODULES.items():
        if name in names:
            globals()[name] = value = getattr(import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
