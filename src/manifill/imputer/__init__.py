"""``BayesianImputer``, for scikit-learn's pipelines."""

from manifill.imputer.imputer import BayesianImputer

__all__ = ["BayesianImputer"]
