"""What a fitted model answers: predictions, scores, rankings, diagnostics."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.parameters import HasParameters
from manifill.posterior import (
    Diagnostics,
    Draws,
    Prediction,
    Ranking,
    Score,
    complete,
    diagnose,
    predict,
    rank_columns,
    sample_predictive,
    score,
)
from manifill.problem import Duplicates, Model, Observations, matched_cells
from manifill.settings import check_count
from manifill.types import Generator, Matrix

__all__ = ["DIAGNOSTICS_KEY", "Answers"]

# Children of the seed: chain k takes spawn key (k,), so what is not a chain takes one that no chain will reach.
DIAGNOSTICS_KEY, PREDICTION_KEY = 1 << 30, (1 << 30) + 1


class Answers(HasParameters):
    """A model that can be asked once it has been fitted; a subclass says how that is done."""

    posterior_: Draws
    observations_: Observations
    model_: Model

    duplicates: Duplicates  # what to do with a cell given twice

    def predict(self, rows: ArrayLike, cols: ArrayLike, interval: float = 0.9) -> Prediction:
        """Return the predictive distribution of y at these cells: mean, sd, and an interval of this probability.

        Cells are named as in the data of the fit: by the labels of a DataFrame, otherwise by numbers from 0.
        """
        self._check_fitted()
        cells = self.observations_.row_indices(rows), self.observations_.column_indices(cols)
        return predict(self._rng(PREDICTION_KEY), self.posterior_, self.model_.likelihood, *cells, interval)

    def sample_posterior_predictive(self, rows: ArrayLike, cols: ArrayLike, draws: int | None = None) -> Matrix:
        """Return samples of y at these cells, in the data's units, (samples, cells); the same on every call.

        There is one from each draw, chain after chain, or from each of so many ``draws`` evenly spread over all.  The
        cells of a sample are of one draw, so that their sums and differences are as uncertain as they should be.
        """
        self._check_fitted()
        cells = self.observations_.row_indices(rows), self.observations_.column_indices(cols)
        count = None if draws is None else check_count("draws", draws, 1)
        return sample_predictive(self._rng(PREDICTION_KEY), self.posterior_, self.model_.likelihood, *cells, count)

    def score(
        self,
        rows: Any,
        cols: ArrayLike | None = None,
        values: ArrayLike | None = None,
        *,
        interval: float = 0.9,
    ) -> Score:
        """Return how well held-out values are predicted: RMSE, MAE, log density, CRPS, coverage of intervals.

        Cells are named as in ``predict``, or come in any other form that ``fit`` accepts.  scikit-learn expects one
        number of a method of this name, higher being better: that is ``float(model.score(…))``, the mean log predictive
        density, without its constant for a likelihood of one's own.
        """
        self._check_fitted()
        cells = matched_cells(self.observations_, rows, cols, values, self.duplicates)
        return score(self._rng(PREDICTION_KEY), self.posterior_, self.model_.likelihood, *cells, interval)

    def complete(self) -> tuple[Matrix, Matrix]:
        """Return the predictive mean and standard deviation of every cell, observed or not, as two m×n arrays."""
        self._check_fitted()
        return complete(self.posterior_, self.model_.likelihood)

    def top(self, row: Any, n: int = 10) -> Ranking:
        """Return the ``n`` columns without an observation in a row whose expected values are highest."""
        self._check_fitted()
        observations = self.observations_
        index = int(observations.row_indices([row])[0])
        begin, end = observations.by_row.starts[index : index + 2]
        unseen = np.setdiff1d(np.arange(observations.shape[1]), observations.by_row.indices[begin:end])
        if not unseen.size:
            raise ValueError(f"row {row!r} has an observation in every column; there is nothing unseen to rank.")
        found = rank_columns(self.posterior_, self.model_.likelihood, index, unseen, check_count("n", n, 1))
        labels = observations.column_labels
        return found if labels is None else replace(found, columns=labels[found.columns])

    def to_arviz(self, *, log_likelihood: bool = False, posterior_predictive: bool = False) -> Any:
        """Return the posterior as ArviZ takes it, by labels; see ``Draws.to_arviz``, which this extends.

        What each draw says of each observed cell comes with the group ``observed_data``, and is held in memory: from
        all draws, or from every second, third, … of each chain, so that neither of its groups takes more than 1 GiB.

        Parameters
        ----------
        log_likelihood
            Whether to add log p(y | draw) of each observed cell, in the data's units, for ``arviz.loo``; a likelihood
            of one's own lacks what its ``log_density`` leaves out.
        posterior_predictive
            Whether to add data as each draw would have produced it, for posterior predictive checks.
        """
        self._check_fitted()
        from manifill.posterior.inference_data import assembled, cell_groups, draw_groups  # where ArviZ is needed

        draws, observations = self.posterior_, self.observations_
        groups = draw_groups(draws, observations.row_labels, observations.column_labels)
        if log_likelihood or posterior_predictive:
            groups |= cell_groups(
                self._rng(PREDICTION_KEY),
                draws,
                self.model_.likelihood,
                observations,
                log_likelihood=log_likelihood,
                posterior_predictive=posterior_predictive,
            )
        return assembled(groups, draws.attributes)

    def loo(self) -> Any:
        """Return ArviZ's PSIS-LOO estimate of how well each observed cell is predicted by all others.

        ``arviz.compare({"rank 2": two.loo(), "rank 5": five.loo()})`` compares models of the same data.  ArviZ warns
        where the estimate is not to be trusted, as often with few cells in a row or column; then hold cells out, and
        compare by ``score``.
        """
        self._check_fitted()
        from manifill.posterior.inference_data import loo

        return loo(self.posterior_, self.model_.likelihood, self.observations_)

    @cached_property
    def diagnostics_(self) -> Diagnostics:
        """Whether the chains have converged, found when it is first asked for."""
        self._check_fitted()
        return diagnose(self._rng(DIAGNOSTICS_KEY), self.posterior_)

    def _take(self, observations: Observations, model: Model, posterior: Draws) -> None:
        """Become fitted."""
        self.observations_, self.model_, self.posterior_ = observations, model, posterior
        self.__dict__.pop("diagnostics_", None)  # of an earlier fit

    def _check_fitted(self) -> None:
        if not hasattr(self, "posterior_"):
            raise ValueError(f"this {type(self).__name__} has not been fitted; call fit with the observed cells first.")

    def _rng(self, key: int) -> Generator:
        entropy = self.posterior_.attributes["seed"]
        return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(key,)))
