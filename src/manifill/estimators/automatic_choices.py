"""What ``"auto"`` stands for: the sampler and the noise by a rule on the other arguments, the rank by a search.

Every choice is announced.  A run stores it and never makes it again.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Generator
from manifill.base.priors import ComponentGamma
from manifill.base.progress import announce
from manifill.estimators.arguments import NOISES, build_model, check_choice
from manifill.likelihoods import Gaussian, Likelihood
from manifill.problem import Model, Observations
from manifill.run.draw_rule import AUTO
from manifill.run.sampler_choice import SAMPLERS

__all__ = ["Names", "choose_names", "choose_rank", "sweeps_per_draw"]

# Sweeps per draw: as many as it takes for a draw to cost so many products of two numbers, some milliseconds.  On small
# tables a sweep costs less than storing and diagnosing a draw, and successive sweeps are similar.
PRODUCTS_PER_DRAW, MOST_SWEEPS = 2e7, 10

# Arguments of normal noise with default priors.
NORMAL: dict[str, Any] = dict.fromkeys(("sigma", "noise_prior", "lambda_", "lambda_prior"))
NORMAL |= {"noise": "shared", "tails": "normal"}

WORDS = {"both": "by row and column", "row": "by row", "column": "by column", "shared": "shared by all cells"}


class Names(NamedTuple):
    """The names of the sampler and of the noise."""

    sampler: str
    noise: str


def choose_names(
    likelihood: Likelihood, *, sampler: Any, noise: Any, sigma: Any, noise_prior: Any, lambda_: Any, lambda_prior: Any
) -> Names:
    """Return the sampler and the noise by name, and announce what was not given.

    Tables with normal noise are sampled by Gibbs sweeps over A Bᵀ, unless an argument is about the priors of
    X = U diag(s) Vᵀ.  Their noise is by row and column: on real tables that predicts better than shared noise, and its
    widths are learned, so that it is nearly shared if the data do not support more (docs/choosing.md).
    """
    check_choice("sampler", sampler, (AUTO, *SAMPLERS))
    check_choice("noise", noise, (AUTO, *NOISES))
    asked, about_values = (sampler, noise), lambda_ is not None or lambda_prior is not None or noise_prior == "paper"
    if sampler == AUTO:
        sampler = "factors" if likelihood.is_conjugate and not about_values else "joint"
    if noise == AUTO:
        noise = "both" if sampler == "factors" and sigma is None and noise_prior != "paper" else "shared"
    if AUTO in asked:
        of_noise = f" with noise {WORDS.get(noise, noise)}" if likelihood.has_noise else ""
        announce(Wording(Argument("sampler", sampler), of_noise))
    return Names(sampler, noise)


def sweeps_per_draw(observations: Observations, rank: int) -> int:
    """Return how many sweeps a draw of ``factors`` takes if nobody says which sampler to use."""
    width = rank + 1  # with the effect
    products = 2.0 * observations.size * width**2 + sum(observations.shape) * width**3 / 3.0
    return int(np.clip(PRODUCTS_PER_DRAW / products, 1, MOST_SWEEPS))


def choose_rank(rng: Generator, observations: Observations, one: Model) -> int:
    """Return a rank that the data support, and announce it, given the model of rank 1.

    The search needs a conjugate model with a precision for each component.  Another likelihood is replaced by normal
    noise about its starting points.
    """
    from manifill.sampling.rank_search import find_rank  # imported here, since loading a run needs no samplers

    if not (one.likelihood.is_conjugate and isinstance(one.factor_precision, ComponentGamma)):
        x = one.likelihood.starting_point(one.likelihood.encode(observations.by_row.values))
        observations = observations.with_values(x)
        effects = None if one.effects is None else "additive"
        one = build_model(observations, Gaussian(), rank=1, sampler="factors", effects=effects, **NORMAL)
    found = find_rank(rng, observations, partial(_with_rank, one))
    announce(f"rank {found}, chosen from the data")
    return found


def _with_rank(one: Model, rank: int) -> Model:
    """Return a model of rank 1 with another rank, and the scale of the components that goes with it."""
    prior = one.factor_precision
    assert isinstance(prior, ComponentGamma), "the search is for models with a precision for each component"
    return replace(one, rank=rank, factor_precision=prior._replace(rate=prior.rate / float(np.sqrt(rank))))
