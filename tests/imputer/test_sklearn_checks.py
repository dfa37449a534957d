"""The checks of scikit-learn for transformers."""

from collections.abc import Callable

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manifill.imputer import BayesianImputer

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK = BayesianImputer(rank=2, chains=1, warmup=10, draws=10, column_transform=None, jobs=1)


@parametrize_with_checks([QUICK])  # type: ignore[untyped-decorator] # has no types
def test_scikit_learn_checks(estimator: BayesianImputer, check: Callable[[BayesianImputer], None]) -> None:
    check(estimator)
