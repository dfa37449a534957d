"""3×2 problems of rank one, with two cells missing, whose posteriors are known exactly."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from manifill.base.priors import Gamma, ScaledF
from manifill.likelihoods import Binomial, Gaussian, SoftplusGaussian, WithNoise
from manifill.likelihoods.poisson import Poisson
from manifill.problem import Model, Observations
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.paper_gibbs import Gibbs
from manifill.unknowns import EffectsPrior
from tests.exact import baseline, quadrature
from tests.exact.marginals import Marginal
from tests.problem.likelihoods import SPREAD, TAILS


class Case(NamedTuple):
    """A sampler, its problem, and the way to the exact answer."""

    sampler: Callable[..., Any]
    model: Model
    observations: Observations
    marginals: Callable[..., dict[str, Marginal]]


def _observed(values: list[float]) -> Observations:
    return Observations.from_triples([0, 0, 1, 2], [0, 1, 1, 0], np.array(values), (3, 2))


# The middle row and the second column have no cells.
GAPS = Observations.from_triples([0, 2], [0, 0], [1.2, -1.5], (3, 2))
REAL, POSITIVE, COUNTS = _observed([1.2, -0.7, 0.4, 1.5]), _observed([1.5, 0.2, 0.9, 2.5]), _observed([1, 5, 2, 4])
NOISE, HEAVY = Gamma(2.0, 1.0), ScaledF(shape=2.0, tail=3.0, scale=2.0, floor=0.1)
EFFECTS = EffectsPrior(mean=0.4, mean_precision=0.5, row=2.0, column=1.5)


def _gibbs(model: Model, observations: Observations) -> Case:
    # Effects leave s uncertain, and where it is large the steps of log s that suit the rest are unstable: at the usual
    # acceptance a chain seldom enters there and is stuck when it does, so that errors of means are underestimated.
    sampler = Gibbs if model.effects is None else partial(Gibbs, target_acceptance=0.95)
    return Case(sampler, model, observations, quadrature.marginals)


def _joint(model: Model, observations: Observations) -> Case:
    return Case(Joint, model, observations, quadrature.marginals)


def _factors(model: Model, observations: Observations = REAL) -> Case:
    return Case(Factors, model, observations, baseline.marginals)


CASES = {
    "gaussian, known noise": _gibbs(Model(1, Gaussian(), rate=1.0, noise=WithNoise(2.5)), REAL),
    "gaussian": _gibbs(Model(1, Gaussian(), rate=1.0, noise=WithNoise(NOISE)), REAL),
    "gaussian, learned rate": _gibbs(Model(1, Gaussian(), rate=Gamma(3.0, 3.0), noise=WithNoise(NOISE)), REAL),
    "gaussian, heavy-tailed noise": _gibbs(Model(1, Gaussian(), rate=1.0, noise=WithNoise(HEAVY)), REAL),
    "gaussian, effects": _gibbs(Model(1, Gaussian(), rate=1.0, noise=WithNoise(2.5), effects=EFFECTS), REAL),
    "softplus, known noise": _gibbs(Model(1, SoftplusGaussian(), rate=1.0, noise=WithNoise(2.5)), POSITIVE),
    "softplus": _gibbs(Model(1, SoftplusGaussian(), rate=1.0, noise=WithNoise(NOISE)), POSITIVE),
    "binomial": _gibbs(Model(1, Binomial(5), rate=1.0), COUNTS),
    "poisson": _gibbs(Model(1, Poisson(), rate=1.0), COUNTS),
    "joint, gaussian, known noise": _joint(Model(1, Gaussian(), rate=1.0, noise=WithNoise(2.5)), REAL),
    "joint, gaussian": _joint(Model(1, Gaussian(), rate=1.0, noise=WithNoise(NOISE)), REAL),
    "joint, gaussian, learned rate": _joint(Model(1, Gaussian(), rate=Gamma(3.0, 3.0), noise=WithNoise(NOISE)), REAL),
    "joint, gaussian, heavy-tailed noise": _joint(Model(1, Gaussian(), rate=1.0, noise=WithNoise(HEAVY)), REAL),
    "joint, gaussian, noise by row": _joint(Model(1, Gaussian(), 1.0, WithNoise(2.5, rows=SPREAD)), REAL),
    "joint, gaussian, noise by column": _joint(Model(1, Gaussian(), 1.0, WithNoise(2.5, columns=SPREAD)), REAL),
    "joint, gaussian, student": _joint(Model(1, Gaussian(), 1.0, WithNoise(2.5, tails=TAILS)), REAL),
    "joint, softplus, noise by row": _joint(Model(1, SoftplusGaussian(), 1.0, WithNoise(2.5, rows=SPREAD)), POSITIVE),
    "joint, gaussian, effects": _joint(Model(1, Gaussian(), rate=1.0, noise=WithNoise(2.5), effects=EFFECTS), REAL),
    "joint, softplus, known noise": _joint(Model(1, SoftplusGaussian(), rate=1.0, noise=WithNoise(2.5)), POSITIVE),
    "joint, softplus": _joint(Model(1, SoftplusGaussian(), rate=1.0, noise=WithNoise(NOISE)), POSITIVE),
    "joint, softplus, heavy-tailed noise": _joint(Model(1, SoftplusGaussian(), 1.0, WithNoise(HEAVY)), POSITIVE),
    "joint, binomial": _joint(Model(1, Binomial(5), rate=1.0), COUNTS),
    "joint, poisson": _joint(Model(1, Poisson(), rate=1.0), COUNTS),
    "factors, known precisions": _factors(Model(1, Gaussian(), 1.0, noise=WithNoise(2.5), factor_precision=0.8)),
    "factors": _factors(Model(1, Gaussian(), 1.0, noise=WithNoise(NOISE), factor_precision=Gamma(2.0, 2.0))),
    "gaussian, effects, gaps": _gibbs(Model(1, Gaussian(), rate=1.0, noise=WithNoise(2.5), effects=EFFECTS), GAPS),
    "joint, gaussian, effects, gaps": _joint(
        Model(1, Gaussian(), rate=1.0, noise=WithNoise(2.5), effects=EFFECTS), GAPS
    ),
    "factors, gaps": _factors(
        Model(1, Gaussian(), 1.0, noise=WithNoise(NOISE), factor_precision=Gamma(2.0, 2.0)), GAPS
    ),
}
