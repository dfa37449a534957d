"""Fill in the missing entries of a matrix, and say honestly how sure we are."""

from importlib.metadata import version as _version

from manifill.estimator import ConvergenceWarning, MatrixCompletion
from manifill.loading import load
from manifill.map import map_estimate
from manifill.mode import MapEstimate
from manifill.posterior import Diagnostics, Draws, Prediction, Score
from manifill.problem import Binomial, Gaussian, Likelihood, Observations, SoftplusGaussian, custom_likelihood

__all__ = [
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
