"""Where a chain of U, s and V starts: after Gibbs sweeps if the likelihood allows them, and otherwise near the mode."""

from manifill.base.arrays import Generator
from manifill.likelihoods import NoiseState
from manifill.problem import Model, Observations
from manifill.sampling.gibbs_start import gibbs_start
from manifill.sampling.warm_start import warm_start
from manifill.unknowns import Unknowns

__all__ = ["starting_point"]


def starting_point(rng: Generator, observations: Observations, model: Model) -> tuple[Unknowns, NoiseState]:
    """Return unknowns and noise.

    Sweeps start with noise of the size of the values, which falls with the residuals, so that superfluous components
    have shrunk by the time the noise is small.  Near a mode they are what the last cells left over.
    """
    if model.likelihood.is_conjugate:
        return gibbs_start(rng, observations, model)
    return warm_start(rng, observations, model), model.noise.start(observations.shape)
