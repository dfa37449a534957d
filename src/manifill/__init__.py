"""Low-rank Bayesian matrix completion: fill in the missing entries of a matrix, with honest uncertainty.

The public names are imported when they are first used: the libraries behind them take most of a second to import, and
a command's help, or a program that needs one of the names, should not wait for all of them.
"""

TYPE_CHECKING = False  # as in typing, whose import the command line would have to wait for; type checkers know the name

if TYPE_CHECKING:
    from typing import Any

    from manifill.base.errors import DamagedRunError
    from manifill.estimators.hold_out import hold_out
    from manifill.estimators.loading import load
    from manifill.estimators.map_estimate import map_estimate
    from manifill.estimators.matrix_completion import ConvergenceWarning, MatrixCompletion
    from manifill.imputer import BayesianImputer
    from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian, custom_likelihood
    from manifill.map_estimation import MapEstimate
    from manifill.posterior import Diagnostics, Draws, Prediction, Score
    from manifill.posterior.pooling import PooledEstimate, pool
    from manifill.problem import Observations

    __version__: str

__all__ = [
    "BayesianImputer",
    "Binomial",
    "ConvergenceWarning",
    "DamagedRunError",
    "Diagnostics",
    "Draws",
    "Gaussian",
    "Likelihood",
    "MapEstimate",
    "MatrixCompletion",
    "Observations",
    "PooledEstimate",
    "Prediction",
    "Score",
    "SoftplusGaussian",
    "custom_likelihood",
    "hold_out",
    "load",
    "map_estimate",
    "pool",
]

# The module of each public name; a test compares this table with the imports above, which type checkers read.
_MODULES = {
    "BayesianImputer": "manifill.imputer",
    "Binomial": "manifill.likelihoods",
    "ConvergenceWarning": "manifill.estimators.matrix_completion",
    "DamagedRunError": "manifill.base.errors",
    "Diagnostics": "manifill.posterior",
    "Draws": "manifill.posterior",
    "Gaussian": "manifill.likelihoods",
    "Likelihood": "manifill.likelihoods",
    "MapEstimate": "manifill.map_estimation",
    "MatrixCompletion": "manifill.estimators.matrix_completion",
    "Observations": "manifill.problem",
    "PooledEstimate": "manifill.posterior.pooling",
    "Prediction": "manifill.posterior",
    "Score": "manifill.posterior",
    "SoftplusGaussian": "manifill.likelihoods",
    "custom_likelihood": "manifill.likelihoods",
    "hold_out": "manifill.estimators.hold_out",
    "load": "manifill.estimators.loading",
    "map_estimate": "manifill.estimators.map_estimate",
    "pool": "manifill.posterior.pooling",
}


def __getattr__(name: str) -> "Any":
    """Import a public name and keep it, so that this is called once for each."""
    from importlib import import_module

    if name == "__version__":
        value = import_module("importlib.metadata").version("manifill")
    elif name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
