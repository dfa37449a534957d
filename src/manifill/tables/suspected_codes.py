"""Values that look like codes for missing entries, such as -999 among values from 0 to 10."""
import numpy as np
from manifill.problem import Observations
__all__ = ["suspicion_notes"]

def suspicion_notes(observations: Observations) -> list[str]:
    return []
