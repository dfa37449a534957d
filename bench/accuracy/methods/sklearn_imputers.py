"""Scikit-learn's imputers with their default settings, but fewer predictors for each column of a wide table."""

import warnings
from typing import Any

import numpy as np

from accuracy.methods.dense import Arranged
from accuracy.methods.method import Method
from accuracy.predicted import Mixture, Points
from accuracy.tables import Split
from manifill.base.arrays import Array, Matrix

IMPUTATIONS = 5
TREES, QUICK_TREES = 20, 2
QUICK_ROUNDS = 2
WIDE, PREDICTORS = 200, 50  # columns from which on, and how many others predict a column


def ridge(split: Split, quick: bool) -> Mixture:
    """Return points by BayesianRidge in turn on all columns, and the distribution by multiple imputation.

    Each imputation draws all missing cells (``sample_posterior``).  Given the other columns, the regression of the last
    round has a mean and a standard deviation for each cell; the distribution is their mixture over imputations.
    """
    arranged = Arranged.of(split)
    settings = _settings(arranged.table, quick)
    point = arranged.at_test_cells(_filled(_imputer(**settings), arranged.table)[None], arranged.means)[0]
    means, sds = _moments(arranged.table, 1 if quick else IMPUTATIONS, settings)
    distribution = arranged.at_test_cells(means, arranged.means), arranged.at_test_cells(sds, arranged.spreads)
    return Mixture(*distribution, point)


def _moments(table: Matrix, imputations: int, settings: dict[str, int]) -> Array:
    """Return conditional means and standard deviations of each imputation, (2, imputations, rows, columns)."""
    found = np.empty((2, imputations, *table.shape))
    for k in range(imputations):
        imputer = _imputer(sample_posterior=True, random_state=k, **settings)
        completed = _filled(imputer, table)
        for column, others, regression in imputer.imputation_sequence_[-table.shape[1] :]:
            found[:, k, :, column] = regression.predict(completed[:, others], return_std=True)
    return found


def trees(split: Split, quick: bool) -> Points:
    """Return points by ExtraTrees in turn on all columns."""
    from sklearn.ensemble import ExtraTreesRegressor

    estimator = ExtraTreesRegressor(QUICK_TREES if quick else TREES, random_state=0)
    arranged = Arranged.of(split)
    imputer = _imputer(estimator=estimator, **_settings(arranged.table, quick))
    completed = _filled(imputer, arranged.table)
    return Points(arranged.at_test_cells(completed[None], arranged.means)[0])


def neighbours(split: Split, quick: bool) -> Points:
    """Return means over nearest neighbours."""
    from sklearn.impute import KNNImputer

    arranged = Arranged.of(split)
    completed = _filled(KNNImputer(), arranged.table)
    return Points(arranged.at_test_cells(completed[None], arranged.means)[0])


def _settings(table: Matrix, quick: bool) -> dict[str, int]:
    rounds = {"max_iter": QUICK_ROUNDS} if quick else {}
    return rounds | ({"n_nearest_features": PREDICTORS} if table.shape[1] > WIDE else {})


def _imputer(**settings: Any) -> Any:
    import sklearn.experimental.enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(**({"random_state": 0} | settings))


def _filled(imputer: Any, table: Matrix) -> Matrix:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # ten rounds are the default
        return np.asarray(imputer.fit_transform(table))


METHODS = {
    "IterativeImputer, BayesianRidge": Method(ridge, "sklearn"),
    "IterativeImputer, ExtraTrees": Method(trees, "sklearn", scalable=False),  # trees do not depend on scales
    "KNNImputer": Method(neighbours, "sklearn"),
}
