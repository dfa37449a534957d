"""What is asked: observed cells, how they arise from a low-rank matrix, and what is believed of it beforehand."""

from manifill.problem.convert import as_observations, from_array, from_frame, from_sparse
from manifill.problem.custom import custom_likelihood
from manifill.problem.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.problem.model import PAPER_NOISE, Gamma, Model, scaled_rate_prior
from manifill.problem.observations import Compressed, Duplicates, Observations

__all__ = [
    "PAPER_NOISE",
    "Binomial",
    "Compressed",
    "Duplicates",
    "Gamma",
    "Gaussian",
    "Likelihood",
    "Model",
    "Observations",
    "SoftplusGaussian",
    "as_observations",
    "custom_likelihood",
    "from_array",
    "from_frame",
    "from_sparse",
    "scaled_rate_prior",
]
