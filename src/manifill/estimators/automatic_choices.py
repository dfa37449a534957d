"""What is left to the data: the sampler and the noise by a rule on the other arguments, the rank by a search.

Every choice is announced.  A run stores it and never makes it again.
"""

from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Generator
from manifill.base.priors import ComponentGamma
from manifill.base.progress import announce
from manifill.base.wording import counted
from manifill.estimators.arguments import NOISES, build_model, check_choice
from manifill.likelihoods import Gaussian, Likelihood
from manifill.problem import Model, Observations
from manifill.run.draw_rule import AUTO
from manifill.run.sampler_choice import SAMPLERS, SamplerChoice

__all__ = ["Names", "choose_names", "choose_rank", "with_sweeps", "without_off_components"]

# A number of components up to this is kept as it is given: superfluous ones cost little.
ALWAYS_KEPT = 16

# Sweeps per draw: as many as it takes for a draw to cost so many products of two numbers, some fifty milliseconds.  On
# small tables a sweep costs less than storing and diagnosing a draw, and successive sweeps are similar: the same number
# of sweeps in fewer draws takes less memory, and shows as much.  With nearly as many components as columns, warm-up
# takes thousands of sweeps.
PRODUCTS_PER_DRAW, MOST_SWEEPS = 3e8, 20

# What a sweep does with every cell and every row besides products takes as long as so many products.
PER_CELL, PER_ROW = 400.0, 2500.0

# Sweeps of warm-up if one costs more than so many products: on a large table some dozens of them suffice.
PRODUCTS_OF_LARGE_TABLES, WARMUP_OF_LARGE_TABLES = 1e8, 100

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


def with_sweeps(sampler: SamplerChoice, warmup: Any, observations: Observations, rank: int) -> SamplerChoice:
    """Return ``factors`` with the number of sweeps per draw, and the warm-up that goes with it unless that is given."""
    width = rank + 1  # with the effect
    products = observations.size * (2.0 * width**2 + PER_CELL) + sum(observations.shape) * (width**3 / 3.0 + PER_ROW)
    sweeps = int(np.clip(PRODUCTS_PER_DRAW / products, 1, MOST_SWEEPS))
    is_short = warmup == AUTO and products > PRODUCTS_OF_LARGE_TABLES
    return sampler._replace(sweeps=sweeps, warmup=ceil(WARMUP_OF_LARGE_TABLES / sweeps) if is_short else sampler.warmup)


def choose_rank(rng: Generator, observations: Observations, one: Model) -> int:
    """Return a rank that the data support, and announce it, given the model of rank 1."""
    from manifill.sampling.rank_search import find_rank  # imported here, since loading a run needs no samplers

    cells, conjugate = _for_search(observations, one)
    found = find_rank(rng, cells, partial(_with_rank, conjugate))
    announce(f"rank {found.rank}, {found.how}")
    return found.rank


def without_off_components(rng: Generator, observations: Observations, model: Model) -> Model:
    """Return the model without the components that the data do not need, and announce how many they are.

    The prior of the others remains that of the rank that was given.  A small rank is kept, and so is every rank if the
    components share one precision, as in the paper: they are then on or off together.
    """
    if model.rank <= ALWAYS_KEPT or not isinstance(model.factor_precision, ComponentGamma):
        return model
    from manifill.sampling.rank_search import needed_rank  # imported here, since loading a run needs no samplers

    kept = needed_rank(rng, *_for_search(observations, model))
    if kept < model.rank:
        announce(f"rank {model.rank}: {counted(model.rank - kept, 'component')} dropped as off, {kept} kept")
    return replace(model, rank=kept)


def _for_search(observations: Observations, model: Model) -> tuple[Observations, Model]:
    """Return cells and a model of the same rank that a search can be made with.

    It needs a conjugate model with a precision for each component.  Another likelihood is replaced by normal noise
    about its starting points.
    """
    if model.likelihood.is_conjugate and isinstance(model.factor_precision, ComponentGamma):
        return observations, model
    x = model.likelihood.starting_point(model.likelihood.encode(observations.by_row.values))
    cells = observations.with_values(x)
    effects = None if model.effects is None else "additive"
    return cells, build_model(cells, Gaussian(), rank=model.rank, sampler="factors", effects=effects, **NORMAL)


def _with_rank(one: Model, rank: int) -> Model:
    """Return a model of rank 1 with another rank, and the scale of the components that goes with it."""
    prior = one.factor_precision
    assert isinstance(prior, ComponentGamma), "the search is for models with a precision for each component"
    return replace(one, rank=rank, factor_precision=prior._replace(rate=prior.rate / float(np.sqrt(rank))))
