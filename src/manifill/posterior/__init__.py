"""What came out: draws in memory or on disk, predictions from them, and whether to trust them."""

from manifill.posterior.diagnostics import Diagnostics, Quantity, diagnose
from manifill.posterior.draws import Draws, Factors
from manifill.posterior.identified import identified_quantities
from manifill.posterior.predictive import Prediction, complete, enough_draws, predict, sample_predictive
from manifill.posterior.ranking import Ranking, rank_columns
from manifill.posterior.recording import ChainRecord, MemoryRecorder, Recorder, largest_rectangle
from manifill.posterior.scores import Score, score
from manifill.posterior.store import DiskRecorder, create_store, extend_store, is_store, store_attributes
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
    "Ranking",
    "Recorder",
    "Score",
    "Variable",
    "complete",
    "create_store",
    "diagnose",
    "enough_draws",
    "extend_store",
    "identified_quantities",
    "is_store",
    "largest_rectangle",
    "predict",
    "rank_columns",
    "sample_predictive",
    "score",
    "store_attributes",
]
