"""``BayesianImputer``, a transformer for scikit-learn pipelines."""

from manifill.imputer.bayesian_imputer import BayesianImputer

__all__ = ["BayesianImputer"]
