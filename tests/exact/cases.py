"""3×2 problems of rank one, with two cells missing, whose posteriors are known exactly."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from manifill.problem import Binomial, Gamma, Gaussian, Model, Observations, SoftplusGaussian
from manifill.sampling.factors import Factors
from manifill.sampling.gibbs import Gibbs
from tests.exact import baseline, quadrature
from tests.exact.marginals import Marginal


class Case(NamedTuple):
    """A sampler, its problem, and the way to the exact answer."""

    sampler: type[Gibbs] | type[Factors]
    model: Model
    observations: Observations
    marginals: Callable[..., dict[str, Marginal]]


def _observed(values: list[float]) -> Observations:
    return Observations.from_triples([0, 0, 1, 2], [0, 1, 1, 0], np.array(values), (3, 2))


REAL, POSITIVE, COUNTS = _observed([1.2, -0.7, 0.4, 1.5]), _observed([1.5, 0.2, 0.9, 2.5]), _observed([1, 5, 2, 4])
NOISE = Gamma(2.0, 1.0)


def _gibbs(model: Model, observations: Observations) -> Case:
    return Case(Gibbs, model, observations, quadrature.marginals)


def _factors(model: Model) -> Case:
    return Case(Factors, model, REAL, baseline.marginals)


CASES = {
    "gaussian, known noise": _gibbs(Model(1, Gaussian(), rate=1.0, precision=2.5), REAL),
    "gaussian": _gibbs(Model(1, Gaussian(), rate=1.0, precision=NOISE), REAL),
    "gaussian, learned rate": _gibbs(Model(1, Gaussian(), rate=Gamma(3.0, 3.0), precision=NOISE), REAL),
    "softplus, known noise": _gibbs(Model(1, SoftplusGaussian(), rate=1.0, precision=2.5), POSITIVE),
    "softplus": _gibbs(Model(1, SoftplusGaussian(), rate=1.0, precision=NOISE), POSITIVE),
    "binomial": _gibbs(Model(1, Binomial(5), rate=1.0), COUNTS),
    "factors, known precisions": _factors(Model(1, Gaussian(), 1.0, precision=2.5, factor_precision=0.8)),
    "factors": _factors(Model(1, Gaussian(), 1.0, precision=NOISE, factor_precision=Gamma(2.0, 2.0))),
}
