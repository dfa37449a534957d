"""Missing values in a pipeline: fit on some rows, complete these or others."""

from typing import Any, Self

import numpy as np

from manifill.estimator import MatrixCompletion
from manifill.imputer.conditional import complete_rows
from manifill.settings import check_count

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError(
        "BayesianImputer needs scikit-learn 1.6 or newer; pip install 'manifill[sklearn]' brings it."
    ) from None

__all__ = ["BayesianImputer"]


class BayesianImputer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc] # has no types
    """Fill in missing values by low-rank Bayesian matrix completion, with standard deviations on request.

    A transformer for scikit-learn's pipelines: NaN in, predictive means out; what was observed stays as it is.  The
    likelihood is Gaussian, with a mean, row and column effects; :class:`manifill.MatrixCompletion` has others.

    ``fit`` samples the posterior of the table it is given.  ``transform`` completes rows, of that table or new ones,
    each given its own observed values and the posterior of what rows share: column factors, column effects and noise.
    Two approximations: new rows do not change that posterior, and the prior of a row's coefficients is taken to be
    normal, which it nearly is for tables of more than a few rows.

    Parameters
    ----------
    rank
        Number of components; smaller tables have as many as their smaller side.
    chains, warmup, draws
        Number of chains, and of iterations of each to learn from and to keep.
    random_state
        A seed, or a ``numpy.random.RandomState`` to draw one from; a new one for each fit by default.
    column_scales
        ``"auto"`` to divide the columns by their spreads where these differ widely, ``"standardize"`` to do so in any
        case, None to leave them.
    noise
        ``"shared"`` for one noise in all cells, ``"column"`` for one in each column, which learn from each other.
    jobs
        Chains to run at a time, each in a process of its own; all processors by default.
    progress
        Whether to show how far the chains are.

    Attributes
    ----------
    completion_ : MatrixCompletion
        The fitted model, with its draws and diagnostics.
    n_features_in_, feature_names_in_
        Number of columns, and their names where the table had any.

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
        rank: int = 10,
        chains: int = 4,
        warmup: int = 500,
        draws: int = 1000,
        random_state: int | np.random.RandomState | None = None,
        column_scales: str | None = "auto",
        noise: str = "shared",
        jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.rank = rank
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.random_state = random_state
        self.column_scales = column_scales
        self.noise = noise
        self.jobs = jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Self:
        """Sample the posterior given a table with NaN for missing values; ``y`` is not used."""
        table = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.completion_ = MatrixCompletion(
            rank=min(check_count("rank", self.rank, 1), *table.shape),
            chains=self.chains,
            warmup=self.warmup,
            draws=self.draws,
            seed=self._seed(),
            column_scales=self.column_scales,
            noise=self.noise,
            jobs=self.jobs,
            progress=self.progress,
        ).fit(table)
        return self

    def transform(self, X: Any, return_std: bool = False) -> Any:
        """Return the rows with predictive means in place of NaN.

        With ``return_std``, return also an array of predictive standard deviations for an observation of each missing
        value, 0 where it was observed.
        """
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        mean, std = table.copy(), np.zeros(table.shape)
        missing = np.isnan(table)
        rows = missing.any(axis=1)
        if rows.any():
            completed = complete_rows(self.completion_.posterior_, table[rows])
            mean[missing], std[missing] = (part[missing[rows]] for part in completed)
        return (mean, std) if return_std else mean

    def _seed(self) -> int | None:
        if isinstance(self.random_state, np.random.RandomState):
            return int(self.random_state.randint(np.iinfo(np.int32).max))
        return None if self.random_state is None else check_count("random_state", self.random_state, 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
