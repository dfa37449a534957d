"""A scikit-learn transformer that fills in missing values of the fitted rows or of new ones."""

from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from manifill.estimators.arguments import check_count, check_count_or_auto
from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.imputer.row_completion import complete_rows
from manifill.problem import from_array

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils._set_output import _wrap_data_with_container
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError(
        "BayesianImputer needs scikit-learn 1.6 or newer; install it with pip install 'manifill[sklearn]'."
    ) from None

__all__ = ["BayesianImputer"]


class BayesianImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc] # has no types
    """Fill in missing values by low-rank Bayesian matrix completion, with standard deviations on request.

    A transformer for scikit-learn pipelines that replaces NaN by predictive means and leaves observed values unchanged.
    The likelihood is Gaussian, with a mean, row effects and column effects; :class:`manifill.MatrixCompletion` has
    other likelihoods.

    ``fit`` samples the posterior of a table.  ``transform`` completes rows of that table or new ones, each given its
    own observed values and the posterior of the shared parameters: column factors, column effects and noise.  It makes
    two approximations: new rows do not change that posterior, and the prior of a row's coefficients is replaced by a
    normal distribution, which is accurate for tables of more than a few rows.

    Parameters
    ----------
    rank
        Number of components, reduced to the smaller dimension of the table if that is less, and of more than 16 without
        those that are off; found from the data by default.
    chains
        Number of chains.
    warmup, draws
        Warm-up iterations and stored draws per chain.  By default, ``"auto"``, draws are made in blocks until
        predictions are green or a limit is reached.
    max_draws, max_minutes
        The limits of ``draws="auto"``: draws per chain, and minutes of wall time.
    random_state
        A seed, or a ``numpy.random.RandomState`` to draw the seed from; a new seed for each fit by default.
    column_scales
        ``"auto"`` to divide the columns by their spreads if these differ widely, ``"standardize"`` to divide always,
        None to divide never.
    column_transform
        ``"auto"`` to make skewed and heavy-tailed columns nearly normal if cells that are left out are then predicted
        better, ``"sinh-arcsinh"`` to always do so, None to never do so.
    noise
        ``"shared"`` for one noise level in all cells, ``"row"``, ``"column"`` or ``"both"`` for one per row, per
        column, or a product of a factor for each row and one for each column, pooled by a hierarchical prior.
    jobs
        Number of chains to run in parallel, each in its own process; the number of processors by default.
    progress
        Whether to show a progress display.

    Attributes
    ----------
    completion_ : MatrixCompletion
        The fitted model, with its draws and diagnostics; its columns have the names of the table's, if there are any.
    n_features_in_, feature_names_in_
        Number of columns, and their names if the table has any.

    Examples
    --------
    >>> import numpy as np
    >>> from manifill.imputer import BayesianImputer
    >>> rng = np.random.default_rng(0)
    >>> table = np.outer(rng.normal(size=30), rng.normal(size=20)) + 0.1 * rng.normal(size=(30, 20))
    >>> table[rng.random(table.shape) < 0.3] = np.nan
    >>> imputer = BayesianImputer(rank=1, chains=2, warmup=200, draws=200, random_state=0, jobs=1)
    >>> mean, std = imputer.fit(table[:20]).transform(table[20:], return_std=True)
    >>> mean.shape
    (10, 20)
    """

    completion_: MatrixCompletion

    def __init__(
        self,
        rank: int | Literal["auto"] = "auto",
        chains: int = 4,
        warmup: int | Literal["auto"] = "auto",
        draws: int | Literal["auto"] = "auto",
        max_draws: int = 4000,
        max_minutes: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        column_scales: str | None = "auto",
        column_transform: str | None = "auto",
        noise: str = "auto",
        jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.rank = rank
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.max_draws = max_draws
        self.max_minutes = max_minutes
        self.random_state = random_state
        self.column_scales = column_scales
        self.column_transform = column_transform
        self.noise = noise
        self.jobs = jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Sample the posterior given a table with NaN for missing values; ``y`` is not used."""
        table = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        rank = check_count_or_auto("rank", self.rank, 1)
        self.completion_ = MatrixCompletion(
            rank="auto" if rank is None else min(rank, *table.shape),
            chains=self.chains,
            warmup=self.warmup,
            draws=self.draws,
            max_draws=self.max_draws,
            max_minutes=self.max_minutes,
            seed=self._seed(),
            column_scales=self.column_scales,
            column_transform=self.column_transform,
            noise=self.noise,
            jobs=self.jobs,
            progress=self.progress,
        ).fit(replace(from_array(table), column_labels=getattr(self, "feature_names_in_", None)))
        return self

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Return the rows with predictive means in place of NaN.

        With ``return_std``, also return the predictive standard deviations of the missing values, which are 0 for
        observed values.  Both are arrays, or DataFrames with the index and columns of ``X`` after
        ``set_output(transform="pandas")``.
        """
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        mean, std = table.copy(), np.zeros(table.shape)
        missing = np.isnan(table)
        rows = missing.any(axis=1)
        if rows.any():
            completed = complete_rows(self.completion_.posterior_, table[rows])
            mean[missing], std[missing] = (part[missing[rows]] for part in completed)
        if not return_std:
            return mean
        return mean, _wrap_data_with_container("transform", std, X, self)  # scikit-learn wraps the first result only

    def _seed(self) -> int | None:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(np.iinfo(np.int32).max))
        return None if self.random_state is None else check_count("random_state", self.random_state, 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
