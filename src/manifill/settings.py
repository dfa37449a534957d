"""From the estimator's plain arguments to a model: every argument checked, with a message that says what to do."""

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from manifill.problem import (
    Binomial,
    Gamma,
    Gaussian,
    Likelihood,
    Model,
    Observations,
    SoftplusGaussian,
    scaled_rate_prior,
)
from manifill.sampling.factors import Factors
from manifill.sampling.gibbs import Gibbs

__all__ = ["build_model", "check_count", "choose_likelihood", "choose_sampler"]

SAMPLERS = ("gibbs", "factors")

LIKELIHOODS = ("gaussian", "softplus", "binomial")


def check_count(name: str, value: Any, least: int) -> int:
    """Return ``value`` if it is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return int(value)


def choose_sampler(name: Any, target_acceptance: Any, max_depth: Any) -> Callable[[Model, Observations], Any]:
    """Return the sampler of this name, ready to be given a model and observations."""
    if name not in SAMPLERS:
        raise ValueError(f"sampler={name!r} is not known; choose one of {', '.join(map(repr, SAMPLERS))}.")
    if not 0.0 < _positive("target_acceptance", target_acceptance) < 1.0:
        raise ValueError(f"target_acceptance must be above 0 and below 1, not {target_acceptance!r}.")
    depth = check_count("max_depth", max_depth, 1)
    if name == "factors":  # draws from exact conditionals: there is no trajectory to tune
        return Factors
    return partial(Gibbs, target_acceptance=float(target_acceptance), max_depth=depth)


def choose_likelihood(given: Any, trials: int | None, step: float) -> Likelihood:
    """Return the likelihood of this name, or the object that was given."""
    if not isinstance(given, str):
        if isinstance(given, type) or not hasattr(given, "evaluate"):
            raise ValueError(
                f"likelihood={given!r} is neither a name ({', '.join(map(repr, LIKELIHOODS))}) nor a likelihood; "
                "custom_likelihood makes one from two functions."
            )
        if trials is not None or step != 1.0:
            raise ValueError(
                "trials and step go with likelihood='binomial'; give them to the likelihood object instead."
            )
        return given  # type: ignore[no-any-return]
    if given not in LIKELIHOODS:
        raise ValueError(f"likelihood={given!r} is not known; choose one of {', '.join(map(repr, LIKELIHOODS))}.")
    if given == "binomial":
        if trials is None:
            raise ValueError("likelihood='binomial' needs trials, the largest value divided by step.")
        return Binomial(check_count("trials", trials, 1), _positive("step", step))
    for name, unwanted in (("trials", trials is not None), ("step", step != 1.0)):
        if unwanted:
            raise ValueError(f"{name} has no meaning for likelihood={given!r}; leave it out.")
    return Gaussian() if given == "gaussian" else SoftplusGaussian()


def build_model(
    rank: Any,
    likelihood: Likelihood,
    observations: Observations,
    sigma: Any,
    noise_prior: Any,
    lambda_: Any,
    lambda_prior: Any,
) -> Model:
    """Return the model that these arguments describe, after trying it on the data."""
    rank = check_count("rank", rank, 1)
    if sigma is not None and not likelihood.has_noise:
        raise ValueError(f"sigma={sigma!r} has no meaning for likelihood={likelihood.name!r}; leave it out.")
    start = likelihood.starting_point(likelihood.encode(observations.by_row.values))
    if not np.isfinite(start).all():
        worst = observations.by_row.values[np.argmin(np.isfinite(start))]
        raise ValueError(f"starting_point of the likelihood {likelihood.name!r} is not finite at the value {worst:g}.")
    rate: float | Gamma
    if lambda_ is not None:
        rate = _positive("lambda_", lambda_)
    elif lambda_prior is not None:
        rate = _gamma("lambda_prior", lambda_prior)
    else:
        rate = scaled_rate_prior(rank, observations, likelihood)
    precision = _gamma("noise_prior", noise_prior) if sigma is None else _positive("sigma", sigma) ** -2
    model = Model(rank=rank, likelihood=likelihood, rate=rate, precision=precision)
    model.check(observations)
    return model


def _positive(name: str, value: Any) -> float:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else float("nan")
    if not 0.0 < number < float("inf"):
        raise ValueError(f"{name} must be a positive number, not {value!r}.")
    return number


def _gamma(name: str, value: Any) -> Gamma:
    try:
        shape, rate = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (shape, rate) of a Gamma distribution, not {value!r}.") from None
    return Gamma(_positive(f"the shape in {name}", shape), _positive(f"the rate in {name}", rate))
