"""The methods of a fitted model: predictions, scores, rankings, diagnostics."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.arrays import Generator, IntVector, Matrix
from manifill.base.parameters import HasParameters
from manifill.estimators.arguments import check_count
from manifill.likelihoods import Likelihood
from manifill.posterior import (
    Diagnostics,
    Draws,
    Prediction,
    Ranking,
    Score,
    Series,
    complete,
    predict,
    rank_columns,
    sample_predictive,
    score,
)
from manifill.posterior.effective_rank import EffectiveRank, effective_rank
from manifill.posterior.imputations import imputed_tables
from manifill.problem import Duplicates, Layout, Model, Observations, matched_cells
from manifill.problem.frame_labels import with_labels
from manifill.run.diagnosis import diagnosed, series_to_diagnose
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
        mean, sd = complete(self.posterior_, self.model_.likelihood)
        return self._labelled(mean), self._labelled(sd)

    def impute(self, m: int = 20) -> list[Any]:
        """Return ``m`` completed tables for the analysis that follows, the same on every call.

        Known values are kept, held-out ones too, and every other entry is a draw of y, so that tables differ by as much
        as is unknown.  Analyse each table, and combine the results with :func:`manifill.pool`.  The tables are
        DataFrames with the labels of the data if these have labels, and arrays otherwise.
        """
        self._check_fitted()
        rng, count = self._rng(Stream.IMPUTATION), check_count("m", m, 1)
        tables = imputed_tables(rng, self.posterior_, self.model_.likelihood, self.known_cells_, count)
        return [self._labelled(table) for table in tables]

    def top(self, row: Any, n: int = 10) -> Ranking:
        """Return the ``n`` unobserved columns of a row with the highest expected values.

        Means and standard deviations are those of ``predict``.  Columns with a held-out cell are observed ones.
        """
        self._check_fitted()
        observations = self.observations_
        index = int(observations.row_indices([row])[0])
        unseen = self._unseen_columns(index)
        if not unseen.size:
            raise ValueError(f"row {row!r} has an observation in every column; there is nothing unseen to rank.")
        rng, number = self._rng(Stream.PREDICTION), check_count("n", n, 1)
        found = rank_columns(rng, self.posterior_, self.model_.likelihood, index, unseen, number)
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
    def known_cells_(self) -> tuple[Observations, ...]:
        """The cells whose values are known: those of the fit and, if the run stores any, those held out of it."""
        self._check_fitted()
        held_out = self._held_out()
        return (self.observations_,) if held_out is None else (self.observations_, held_out)

    @cached_property
    def effective_rank_(self) -> EffectiveRank:
        """The effective rank of the low-rank part, with an interval; computed on first access."""
        self._check_fitted()
        return effective_rank(self.posterior_)

    @cached_property
    def diagnostics_(self) -> Diagnostics:
        """Whether predictions and global quantities can be used; computed on first access."""
        return diagnosed(*self._to_diagnose())

    def diagnosed_series(self) -> Series:
        """Return the quantities that ``diagnostics_`` judges, by use and name, (chain, draw) each."""
        return series_to_diagnose(*self._to_diagnose())

    def _to_diagnose(self) -> tuple[Draws, Likelihood, Observations, Observations | None]:
        self._check_fitted()
        return self.posterior_, self.model_.likelihood, self.observations_, self._held_out()

    def _held_out(self) -> Observations | None:
        """Return the cells that were held out of the fit, if they are known."""
        return None

    def _labelled(self, matrix: Matrix) -> Any:
        """Return a matrix with the labels of the data, if these have labels."""
        layout = self.posterior_.attributes.get("layout") or {}
        return with_labels(matrix, self.observations_, (layout.get("row"), layout.get("col")))

    def _unseen_columns(self, row: int) -> IntVector:
        """Return the columns in which a row has no known cell."""
        unseen = np.ones(self.observations_.shape[1], dtype=bool)
        for cells in self.known_cells_:
            begin, end = cells.by_row.starts[row : row + 2]
            unseen[cells.by_row.indices[begin:end]] = False
        return np.flatnonzero(unseen)

    def _take(
        self, observations: Observations, model: Model, posterior: Draws, diagnostics: Diagnostics | None = None
    ) -> None:
        """Store the result of a fit; the draws may have been diagnosed already."""
        self.observations_, self.model_, self.posterior_ = observations, model, posterior
        for cached in ("diagnostics_", "effective_rank_", "known_cells_"):  # of an earlier fit
            self.__dict__.pop(cached, None)
        if diagnostics is not None:
            self.__dict__["diagnostics_"] = diagnostics

    def _check_fitted(self) -> None:
        if not hasattr(self, "posterior_"):
            raise ValueError(f"this {type(self).__name__} has not been fitted; call fit with the observed cells first.")

    def _rng(self, stream: Stream) -> Generator:
        return generator(self.posterior_.attributes["seed"], stream)
