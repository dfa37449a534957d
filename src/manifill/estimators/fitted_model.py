"""The methods of a fitted model: predictions, scores, rankings, diagnostics."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.arrays import Generator, Matrix
from manifill.base.parameters import HasParameters
from manifill.estimators.arguments import check_count
from manifill.posterior import (
    Diagnostics,
    Draws,
    Prediction,
    Ranking,
    Score,
    Series,
    complete,
    diagnose,
    predict,
    rank_columns,
    sample_predictive,
    score,
)
from manifill.problem import Duplicates, Layout, Model, Observations, matched_cells
from manifill.problem.frame_labels import with_labels
from manifill.run.diagnosis import series_to_diagnose
from manifill.run.seeds import Stream, generator

__all__ = ["FittedModel"]


class FittedModel(HasParameters):
    """The methods that are available after a fit; subclasses implement the fit."""

    posterior_: Draws
    observations_: Observations
    model_: Model

    duplicates: Duplicates  # how to handle a cell given more than once

    @property
    def verified_(self) -> bool:
        """Whether ``model_`` is known to be the model that was sampled; runs of older formats do not store it."""
        self._check_fitted()
        return bool(self.posterior_.attributes.get("verified", True))

    def predict(self, rows: ArrayLike, cols: ArrayLike, interval: float = 0.9) -> Prediction:
        """Return the predictive distribution of y at these cells: mean, sd, and an interval of this probability.

        Cells are identified as in the data of the fit: by the labels of a DataFrame, otherwise by index from 0.  The
        ``to_frame`` method of the result returns a DataFrame with these labels.
        """
        self._check_fitted()
        cells = self.observations_.row_indices(rows), self.observations_.column_indices(cols)
        found = predict(self._rng(Stream.PREDICTION), self.posterior_, self.model_.likelihood, *cells, interval)
        labels = self.observations_.row_labels, self.observations_.column_labels
        names = [at if known is None else known[at] for known, at in zip(labels, cells, strict=True)]
        return replace(found, rows=names[0], cols=names[1])

    def sample_posterior_predictive(self, rows: ArrayLike, cols: ArrayLike, draws: int | None = None) -> Matrix:
        """Return samples of y at these cells, in the data's units, (samples, cells); the same on every call.

        There is one sample per draw, chain after chain, or one for each of ``draws`` draws that are evenly spaced.  All
        cells of a sample come from the same draw, so that sums and differences of cells have the right uncertainty.
        """
        self._check_fitted()
        cells = self.observations_.row_indices(rows), self.observations_.column_indices(cols)
        count = None if draws is None else check_count("draws", draws, 1)
        return sample_predictive(self._rng(Stream.PREDICTION), self.posterior_, self.model_.likelihood, *cells, count)

    def score(
        self,
        rows: Any,
        cols: ArrayLike | None = None,
        values: ArrayLike | None = None,
        *,
        interval: float = 0.9,
        layout: Layout | None = None,
    ) -> Score:
        """Return measures of the predictions of held-out values: RMSE, MAE, log density, CRPS, coverage of intervals.

        Cells are identified as in ``predict``, or given in any other form that ``fit`` accepts; ``layout`` says whether
        a DataFrame is long or wide if that is ambiguous.  scikit-learn expects a
        single number from ``score``, higher being better: that is ``float(model.score(…))``, the mean log predictive
        density, up to a constant for a custom likelihood.
        """
        self._check_fitted()
        cells = matched_cells(self.observations_, rows, cols, values, self.duplicates, layout)
        return score(self._rng(Stream.PREDICTION), self.posterior_, self.model_.likelihood, *cells, interval)

    def complete(self) -> tuple[Any, Any]:
        """Return the predictive mean and standard deviation of every cell, observed or not, (m, n) each.

        They are DataFrames with the labels of the data if these have labels, and arrays otherwise.
        """
        self._check_fitted()
        layout = self.posterior_.attributes.get("layout") or {}
        names = layout.get("row"), layout.get("col")
        mean, sd = complete(self.posterior_, self.model_.likelihood)
        return with_labels(mean, self.observations_, names), with_labels(sd, self.observations_, names)

    def top(self, row: Any, n: int = 10) -> Ranking:
        """Return the ``n`` unobserved columns of a row with the highest expected values."""
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
        """Return the posterior as an ArviZ object with the data's labels; see ``Draws.to_arviz``, which this extends.

        The two optional groups have one value per draw and observed cell.  They come with the group ``observed_data``
        and are held in memory: for all draws, or every second, third, … of each chain, so that neither exceeds 1 GiB.

        Parameters
        ----------
        log_likelihood
            Whether to add log p(y | draw) of each observed cell, in the data's units, for ``arviz.loo``; for a custom
            likelihood, without the constants that its ``log_density`` omits.
        posterior_predictive
            Whether to add data simulated from each draw, for posterior predictive checks.
        """
        self._check_fitted()
        from manifill.posterior.arviz_groups import assembled, cell_groups, draw_groups  # imports ArviZ

        draws, observations = self.posterior_, self.observations_
        groups = draw_groups(draws, observations.row_labels, observations.column_labels)
        if log_likelihood or posterior_predictive:
            groups |= cell_groups(
                self._rng(Stream.PREDICTION),
                draws,
                self.model_.likelihood,
                observations,
                log_likelihood=log_likelihood,
                posterior_predictive=posterior_predictive,
            )
        return assembled(groups, draws.attributes)

    def loo(self) -> Any:
        """Return ArviZ's PSIS-LOO estimate of the log predictive density of each observed cell given all others.

        ``arviz.compare({"rank 2": two.loo(), "rank 5": five.loo()})`` compares models of the same data.  ArviZ warns if
        the estimate is unreliable, as it often is with few cells per row or column.  In that case hold cells out and
        compare by ``score``.
        """
        self._check_fitted()
        from manifill.posterior.arviz_groups import loo

        return loo(self.posterior_, self.model_.likelihood, self.observations_)

    @cached_property
    def diagnostics_(self) -> Diagnostics:
        """Whether predictions and global quantities can be used; computed on first access."""
        return diagnose(self.posterior_, self.diagnosed_series())

    def diagnosed_series(self) -> Series:
        """Return the quantities that ``diagnostics_`` judges, by use and name, (chain, draw) each."""
        self._check_fitted()
        return series_to_diagnose(self.posterior_, self.model_.likelihood, self.observations_, self._held_out())

    def _held_out(self) -> Observations | None:
        """Return the cells that were held out of the fit, if they are known."""
        return None

    def _take(
        self, observations: Observations, model: Model, posterior: Draws, diagnostics: Diagnostics | None = None
    ) -> None:
        """Store the result of a fit; the draws may have been diagnosed already."""
        self.observations_, self.model_, self.posterior_ = observations, model, posterior
        self.__dict__.pop("diagnostics_", None)  # cached for an earlier fit
        if diagnostics is not None:
            self.__dict__["diagnostics_"] = diagnostics

    def _check_fitted(self) -> None:
        if not hasattr(self, "posterior_"):
            raise ValueError(f"this {type(self).__name__} has not been fitted; call fit with the observed cells first.")

    def _rng(self, stream: Stream) -> Generator:
        return generator(self.posterior_.attributes["seed"], stream)
