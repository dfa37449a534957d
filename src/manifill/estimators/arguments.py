"""From the arguments of the estimator to a model; an invalid argument raises an error with a remedy."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from manifill.base import progress
from manifill.base.argument_words import Argument, Wording
from manifill.base.priors import PAPER_NOISE, Gamma, ScaledF
from manifill.likelihoods import WITHOUT_NOISE, Likelihood, WithNoise
from manifill.likelihoods.registry import LIKELIHOODS, likelihood_class
from manifill.problem import Model, Observations, scaled_effects_prior, scaled_noise_prior, scaled_rate_prior
from manifill.problem.additive_fit import TYPICAL_ITERATIONS
from manifill.problem.default_priors import SPREAD, TAILS, scaled_factor_prior
from manifill.run.draw_rule import AUTO
from manifill.run.sampler_choice import DEFAULT_WARMUP, SAMPLERS, SamplerChoice
from manifill.unknowns import EffectsPrior

__all__ = [
    "build_model",
    "check_choice",
    "check_count",
    "check_count_or_auto",
    "check_positive",
    "check_sigma",
    "check_values",
    "choose_likelihood",
    "choose_sampler",
]

# The priors of effects, rate and factors, for which effects are fitted, with a guess of the seconds per cell.
PRIORS, SECONDS_PER_PRIOR = 3, 4e-7

NOISES, TAIL_SHAPES = ("shared", "row", "column", "both"), ("normal", "student")

SMALLEST_SIGMA = 1e-150  # its square does not underflow
SMALLEST_VALUE = 1e-100  # neither does its square, nor that of a millionth of it


def check_count(name: str, value: Any, least: int) -> int:
    """Return ``value`` if it is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(Wording(Argument(name), f" must be a whole number of at least {least}, not {value!r}."))
    return int(value)


def check_count_or_auto(name: str, value: Any, least: int) -> int | None:
    """Return ``value`` if it is a whole number of at least ``least``, and None if it is ``"auto"``."""
    if isinstance(value, str) and value == AUTO:
        return None
    try:
        return check_count(name, value, least)
    except ValueError:
        rule = f" must be {AUTO!r} or a whole number of at least {least}, not {value!r}."
        raise ValueError(Wording(Argument(name), rule)) from None


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """Return ``value`` if it is one of the choices, which are strings or None."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(
            Wording(Argument(name, value), f" is not known; choose one of {', '.join(map(repr, choices))}.")
        )
    return value


def choose_sampler(name: Any, target_acceptance: Any, max_depth: Any, warmup: Any) -> SamplerChoice:
    """Return the sampler of this name with its settings."""
    check_choice("sampler", name, SAMPLERS)
    if not 0.0 < check_positive("target_acceptance", target_acceptance) < 1.0:
        raise ValueError(
            Wording(Argument("target_acceptance"), f" must be above 0 and below 1, not {target_acceptance!r}.")
        )
    depth = check_count("max_depth", max_depth, 1)
    iterations = check_count_or_auto("warmup", warmup, 0)
    return SamplerChoice(
        name, float(target_acceptance), depth, DEFAULT_WARMUP[name] if iterations is None else iterations
    )


def choose_likelihood(given: Any, trials: int | None, step: float, offset: float) -> Likelihood:
    """Return the likelihood of this name, or the object that was given."""
    constants = {"trials": trials, "step": None if step == 1.0 else step, "offset": None if offset == 0.0 else offset}
    if not isinstance(given, str):
        if not isinstance(given, Likelihood):
            raise ValueError(
                f"likelihood={given!r} is neither a name ({', '.join(map(repr, LIKELIHOODS))}) nor a likelihood; "
                "custom_likelihood makes one from two functions."
            )
        if any(value is not None for value in constants.values()):
            raise ValueError(
                "trials, step and offset go with likelihood='binomial'; give them to the likelihood object instead."
            )
        return given
    check_choice("likelihood", given, tuple(LIKELIHOODS))
    return likelihood_class(given).from_arguments(constants)


def build_model(
    observations: Observations,
    likelihood: Likelihood,
    *,
    rank: Any,
    sampler: Any,
    effects: Any,
    noise: Any,
    tails: Any,
    sigma: Any,
    noise_prior: Any,
    lambda_: Any,
    lambda_prior: Any,
) -> Model:
    """Return the model that these arguments describe, after checking it against the data.

    As a phase, it counts the iterations of the fits that scale the priors.
    """
    iterations, guess = PRIORS * TYPICAL_ITERATIONS, SECONDS_PER_PRIOR * PRIORS * observations.size
    progress.begin("choosing priors", iterations, "iterations", guess=guess)
    rank = check_count("rank", rank, 1)
    check_values(observations, likelihood)
    baseline = sampler == "factors"
    with_effects = check_choice("effects", effects, ("additive", None)) is not None
    check_choice("noise", noise, NOISES)
    check_choice("tails", tails, TAIL_SHAPES)
    if not likelihood.has_noise:
        for name, value, default in (
            ("sigma", sigma, None),
            ("noise_prior", noise_prior, None),
            ("noise", noise, "shared"),
            ("tails", tails, "normal"),
        ):
            if value != default:
                raise ValueError(_no_meaning(Argument(name, value), Argument("likelihood", likelihood.name)))
    if baseline:
        for name, value in (("lambda_", lambda_), ("lambda_prior", lambda_prior)):
            if value is not None:
                raise ValueError(_no_meaning(Argument(name, value), Argument("sampler", "factors")))
    prior: EffectsPrior | None = scaled_effects_prior(observations, likelihood) if with_effects else None
    model = Model(
        rank=rank,
        likelihood=likelihood,
        rate=_rate(lambda_, lambda_prior, rank, observations, likelihood, effects=with_effects),
        noise=_noise(sigma, noise_prior, noise, tails, observations, effects=with_effects)
        if likelihood.has_noise
        else WITHOUT_NOISE,
        factor_precision=PAPER_NOISE
        if isinstance(noise_prior, str)  # it was checked to be "paper"
        else scaled_factor_prior(rank, observations, likelihood, effects=with_effects),
        effects=prior,
    )
    model.check(observations)
    return model


def check_values(observations: Observations, likelihood: Likelihood) -> None:
    """Raise a ValueError if the values cannot be squared, or if the likelihood does not accept them."""
    values = observations.by_row.values
    largest = float(np.abs(values).max())
    if largest and not SMALLEST_VALUE < largest < 1.0 / SMALLEST_VALUE:
        raise ValueError(f"values of size {largest:.0e} are too small or too large to be squared; scale the data.")
    likelihood.check_data(values)
    start = likelihood.starting_point(likelihood.encode(values))
    if not np.isfinite(start).all():
        worst = values[np.argmin(np.isfinite(start))]
        raise ValueError(f"starting_point of the likelihood {likelihood.name!r} is not finite at the value {worst:g}.")


def _rate(
    lambda_: Any, lambda_prior: Any, rank: int, observations: Observations, likelihood: Likelihood, *, effects: bool
) -> float | Gamma:
    if lambda_ is not None and lambda_prior is not None:
        raise ValueError("lambda_ fixes the rate that lambda_prior is a prior of; give one of them.")
    if lambda_ is not None:
        return check_positive("lambda_", lambda_)
    if lambda_prior is not None:
        return _gamma("lambda_prior", lambda_prior)
    return scaled_rate_prior(rank, observations, likelihood, effects=effects)


def _noise(
    sigma: Any, noise_prior: Any, noise: str, tails: str, observations: Observations, *, effects: bool
) -> WithNoise:
    return WithNoise(
        _precision(sigma, noise_prior, observations, effects=effects),
        rows=SPREAD if noise in ("row", "both") else None,
        columns=SPREAD if noise in ("column", "both") else None,
        tails=TAILS if tails == "student" else None,
    )


def _precision(sigma: Any, noise_prior: Any, observations: Observations, *, effects: bool) -> float | Gamma | ScaledF:
    if sigma is not None and noise_prior is not None:
        raise ValueError(
            Wording(
                Argument("sigma"),
                " fixes the noise that ",
                Argument("noise_prior"),
                " is a prior of; give one of them.",
            )
        )
    if sigma is not None:
        return check_sigma(sigma) ** -2
    if noise_prior is None:
        return scaled_noise_prior(observations, effects=effects)
    if isinstance(noise_prior, str):
        check_choice("noise_prior", noise_prior, ("paper",))
        return PAPER_NOISE
    return _gamma("noise_prior", noise_prior)


def check_positive(name: str, value: Any) -> float:
    """Return ``value`` if it is a positive number."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else float("nan")
    if not 0.0 < number < float("inf"):
        raise ValueError(Wording(Argument(name), f" must be a positive number, not {value!r}."))
    return number


def check_sigma(value: Any) -> float:
    """Return ``value`` if it is a standard deviation that can be squared."""
    sigma = check_positive("sigma", value)
    if not SMALLEST_SIGMA < sigma < 1.0 / SMALLEST_SIGMA:
        raise ValueError(Wording(Argument("sigma", value), " is too small or too large to be squared; scale the data."))
    return sigma


def _gamma(name: str, value: Any) -> Gamma:
    """Return the Gamma prior that is given as a pair, which only Python can give."""
    try:
        shape, rate = value
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (shape, rate) of a Gamma distribution, not {value!r}.") from None
    return Gamma(check_positive(f"the shape in {name}", shape), check_positive(f"the rate in {name}", rate))


def _no_meaning(argument: Argument, beside: Argument) -> Wording:
    return Wording(argument, " has no meaning for ", beside, "; leave it out.")
