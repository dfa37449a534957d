"""Data divided into cells to fit and cells to check the fit on."""

from typing import Any

from manifill.estimators.arguments import check_count
from manifill.problem import Duplicates, Layout, Observations, as_observations
from manifill.problem.hold_out import HoldOutBy, cells_to_hold_out
from manifill.run.seeds import Stream, generator

__all__ = ["hold_out"]


def hold_out(
    data: Any,
    amount: float = 0.05,
    *,
    by: HoldOutBy = "cell",
    seed: int = 0,
    layout: Layout | None = None,
    duplicates: Duplicates = "error",
) -> tuple[Observations, Observations]:
    """Return the cells to fit and the cells to hold out, with the labels of the data.

    ``MatrixCompletion(path=…).fit(train, held_out=held_out)`` keeps the held-out cells in the run, where the report
    finds them; ``model.score(held_out)`` evaluates the predictions.

    Parameters
    ----------
    data
        A 2-D array with NaN for missing cells, a ``scipy.sparse`` matrix, a DataFrame or observations.
    amount
        A share below 1, or a whole number of cells, rows or columns.
    by
        ``"cell"`` to hold out single cells; ``"row"`` or ``"column"`` for whole ones, which shows how well rows or
        columns without any observed cell are predicted; ``"block"`` for the observed cells that some rows and some
        columns have in common, about as many of the rows as of the columns.
    seed
        Seed of the random choice; ``manifill fit`` with the same seed chooses the same cells.
    layout, duplicates
        As in :meth:`MatrixCompletion.fit` and :class:`MatrixCompletion`.

    Examples
    --------
    >>> import numpy as np
    >>> from manifill import hold_out
    >>> train, held_out = hold_out(np.ones((20, 10)), 0.1, by="row")
    >>> train.size, held_out.size
    (180, 20)
    """
    observations = as_observations(data, duplicates=duplicates, layout=layout)
    rng = generator(check_count("seed", seed, 0), Stream.HELD_OUT)
    is_held_out = cells_to_hold_out(rng, observations, amount, by)
    return observations.subset(~is_held_out), observations.subset(is_held_out)
