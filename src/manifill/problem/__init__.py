"""What is asked: observed cells, how they arise from a low-rank matrix, and what is believed of it beforehand."""

from manifill.problem.convert import as_observations, from_array, from_frame, from_sparse
from manifill.problem.custom import custom_likelihood
from manifill.problem.defaults import scaled_effects_prior, scaled_noise_prior, scaled_rate_prior
from manifill.problem.effects import Effects, EffectsPrior
from manifill.problem.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.problem.matching import matched_cells
from manifill.problem.model import Model, Noise
from manifill.problem.observations import Compressed, Duplicates, Observations
from manifill.problem.priors import PAPER_NOISE, Gamma, ScaledF

__all__ = [
    "PAPER_NOISE",
    "Binomial",
    "Compressed",
    "Duplicates",
    "Effects",
    "EffectsPrior",
    "Gamma",
    "Gaussian",
    "Likelihood",
    "Model",
    "Noise",
    "Observations",
    "ScaledF",
    "SoftplusGaussian",
    "as_observations",
    "custom_likelihood",
    "from_array",
    "from_frame",
    "from_sparse",
    "matched_cells",
    "scaled_effects_prior",
    "scaled_noise_prior",
    "scaled_rate_prior",
]
