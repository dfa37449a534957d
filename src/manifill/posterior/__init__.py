"""Results of a fit: draws in memory or on disk, predictions, and convergence diagnostics."""

from manifill.base.variables import Variable
from manifill.posterior.diagnostics import Diagnostics, diagnose
from manifill.posterior.disk_recorder import DiskRecorder
from manifill.posterior.draws import Draws, Factors
from manifill.posterior.held_out_series import held_out_series
from manifill.posterior.identified import Series, diagnosed_series, identified_quantities
from manifill.posterior.predictive import Prediction, complete, enough_draws, predict, sample_predictive
from manifill.posterior.quantities import Quantity
from manifill.posterior.ranking import Ranking, rank_columns
from manifill.posterior.recorders import ChainRecord, MemoryRecorder, Recorder, largest_rectangle
from manifill.posterior.scores import Score, score
from manifill.posterior.store_layout import FORMAT
from manifill.posterior.use_verdict import Colour, UseVerdict
from manifill.posterior.zarr_store import create_store, extend_store, extension, store_attributes, store_format

__all__ = [
    "FORMAT",
    "ChainRecord",
    "Colour",
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
    "Series",
    "UseVerdict",
    "Variable",
    "complete",
    "create_store",
    "diagnose",
    "diagnosed_series",
    "enough_draws",
    "extend_store",
    "extension",
    "held_out_series",
    "identified_quantities",
    "largest_rectangle",
    "predict",
    "rank_columns",
    "sample_predictive",
    "score",
    "store_attributes",
    "store_format",
]
