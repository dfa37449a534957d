"""The posterior's mode: the most probable low-rank matrix and effects, with a certificate that it is one."""

from manifill.mode.certificate import Certificate, Residuals
from manifill.mode.estimate import MapEstimate
from manifill.mode.find import find_mode, fit_mode, with_rank
from manifill.mode.objective import Objective
from manifill.mode.path import Trial
from manifill.mode.point import Point
from manifill.mode.prior import EffectPrecisions, Prior, default_effects
from manifill.mode.solver import Solution, solve

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
