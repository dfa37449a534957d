"""Results of fits without any fitting: the metrics of an unremarkable fit, with some of them replaced."""

from manifill.base.arrays import Array
from manifill.paper.fit_task import Fit
from manifill.paper.protocol import Size
from manifill.paper.repetition_groups import RepetitionGroup
from manifill.paper.tasks import Result

SIZE = Size(2, 300, 300, 2)
METRICS = {
    "deviations": [0.1, 2.3, 10.0],
    "deviations_from_zero": [0.04, 2.3, 10.0],
    "rmse": 1.0,
    "log_density": -1.0,
    "crps": 0.5,
    "coverage": 0.9,
    "rhat": 1.005,
    "rhat_of_factors": 1.8,
    "worst": "lp",
    "ess": 400.0,
    "converged": True,
    "divergences": 0,
    "chains": 2,
    "draws": 300,
    "milliseconds": 4.0,
    "gradients": None,
}


def two_repetitions(
    model: str = "SVD",
    sampler: str = "joint",
    arrays: dict[str, Array] | None = None,
    size: Size = SIZE,
    **metrics: object,
) -> RepetitionGroup:
    """Return two equal repetitions of a fit of case 1, with some metrics replaced."""
    fit = Fit("case-1", 0.4, model, sampler, 0, size)
    return RepetitionGroup(fit, (Result(METRICS | metrics, arrays or {}),) * 2)
