"""The problem: observed cells, and the model with its priors."""

from manifill.problem.convert import as_observations, from_array, from_frame, from_sparse
from manifill.problem.default_priors import scaled_effects_prior, scaled_noise_prior, scaled_rate_prior
from manifill.problem.matching import matched_cells
from manifill.problem.model import Model
from manifill.problem.observations import Duplicates, Observations

__all__ = [
    "Duplicates",
    "Model",
    "Observations",
    "as_observations",
    "from_array",
    "from_frame",
    "from_sparse",
    "matched_cells",
    "scaled_effects_prior",
    "scaled_noise_prior",
    "scaled_rate_prior",
]
