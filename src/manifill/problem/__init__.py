"""The problem: observed cells, and the model with its priors."""

from manifill.problem.cell_names import CellNames
from manifill.problem.convert import as_observations, from_array, from_sparse
from manifill.problem.default_priors import scaled_effects_prior, scaled_noise_prior, scaled_rate_prior
from manifill.problem.frames import Layout, from_frame, from_wide_frame
from manifill.problem.matching import matched_cells
from manifill.problem.model import Model
from manifill.problem.observations import Duplicates, Observations

__all__ = [
    "CellNames",
    "Duplicates",
    "Layout",
    "Model",
    "Observations",
    "as_observations",
    "from_array",
    "from_frame",
    "from_sparse",
    "from_wide_frame",
    "matched_cells",
    "scaled_effects_prior",
    "scaled_noise_prior",
    "scaled_rate_prior",
]
