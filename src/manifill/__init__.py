"""Fill in the missing entries of a matrix, and say honestly how sure we are."""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

from manifill.estimator import ConvergenceWarning, MatrixCompletion
from manifill.loading import load
from manifill.map import map_estimate
from manifill.mode import MapEstimate
from manifill.posterior import Diagnostics, Draws, Prediction, Score
from manifill.problem import Binomial, Gaussian, Likelihood, Observations, SoftplusGaussian, custom_likelihood

if TYPE_CHECKING:
    from manifill.imputer import BayesianImputer

__all__ = [
    "BayesianImputer",
    "Binomial",
    "ConvergenceWarning",
    "Diagnostics",
    "Draws",
    "Gaussian",
    "Likelihood",
    "MapEstimate",
    "MatrixCompletion",
    "Observations",
    "Prediction",
    "Score",
    "SoftplusGaussian",
    "custom_likelihood",
    "load",
    "map_estimate",
]

__version__ = _version("manifill")


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn only when it is asked for: it is not everybody's."""
    if name == "BayesianImputer":
        from manifill.imputer import BayesianImputer

        return BayesianImputer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
