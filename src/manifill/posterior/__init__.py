"""What came out: draws in memory or on disk, predictions from them, and whether to trust them."""

from manifill.posterior.diagnostics import Diagnostics, Quantity, diagnose
from manifill.posterior.draws import Draws, Factors
from manifill.posterior.identified import identified_quantities
from manifill.posterior.predictive import Prediction, complete, predict
from manifill.posterior.recording import ChainRecord, MemoryRecorder, Recorder, largest_rectangle
from manifill.posterior.store import DiskRecorder, create_store, trim_store, write_attributes
from manifill.posterior.variables import Variable

__all__ = [
    "ChainRecord",
    "Diagnostics",
    "DiskRecorder",
    "Draws",
    "Factors",
    "MemoryRecorder",
    "Prediction",
    "Quantity",
    "Recorder",
    "Variable",
    "complete",
    "create_store",
    "diagnose",
    "identified_quantities",
    "largest_rectangle",
    "predict",
    "trim_store",
    "write_attributes",
]
