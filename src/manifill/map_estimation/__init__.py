"""The posterior mode: the most probable low-rank matrix and effects, with a certificate of optimality."""

from manifill.map_estimation.certificate import Certificate, Residuals
from manifill.map_estimation.estimate import MapEstimate
from manifill.map_estimation.objective import Objective
from manifill.map_estimation.penalty_path import Trial
from manifill.map_estimation.point import Point
from manifill.map_estimation.precisions import EffectPrecisions, Prior, default_effects
from manifill.map_estimation.search import find_mode, fit_mode, with_rank
from manifill.map_estimation.solver import Solution, solve

__all__ = [
    "Certificate",
    "EffectPrecisions",
    "MapEstimate",
    "Objective",
    "Point",
    "Prior",
    "Residuals",
    "Solution",
    "Trial",
    "default_effects",
    "find_mode",
    "fit_mode",
    "solve",
    "with_rank",
]
