"""The public estimator against posteriors computed by other means: from the user's arguments to the draws.

With default priors, effects included, the reference is the prior weighted by the likelihood (``importance``), and
probabilities below three quantiles of every scale and every cell are compared: 33 z-scores with the errors of both
sides, and 51 if a row and a column without cells are added.  With Gamma priors of unequal shape and rate it is
quadrature, without effects: 37 z-scores.  The bound on |z| is 4: false-alarm rate 0.77 % for each of the two runs.
Seeds were chosen once; they are not to be changed to make a test pass.
"""

from typing import Any

import numpy as np
import pytest

from manifill import MatrixCompletion
from manifill.base.arrays import Array, Matrix, Vector
from manifill.base.priors import Gamma, ScaledF
from manifill.likelihoods import Gaussian, WithNoise
from manifill.problem import Model, Observations
from manifill.unknowns import EffectsPrior
from tests.exact import importance, quadrature
from tests.exact.marginals import compare
from tests.exact.zscores import false_alarm_rate, standard_error
from tests.problem.likelihoods import precision_of

# A few divergent draws are refused trajectories, and leave the posterior as it is.
pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

BOUND = 4.0
TABLE = np.array([[1.2, -0.7], [0.4, np.nan], [-1.0, 1.5]])
GAPS = np.insert(np.insert(TABLE, 1, np.nan, axis=0), 1, np.nan, axis=1)
SHARES = (0.1, 0.5, 0.9)

# Swapping the two numbers of either pair changes the mean of σ or λ by more than a third.
NOISE_PRIOR, LAMBDA_PRIOR = (6.0, 1.5), (2.0, 5.0)

SHORT: dict[str, Any] = {"chains": 2, "warmup": 300, "draws": 2000}
LONG: dict[str, Any] = {"chains": 4, "warmup": 500, "draws": 20_000}
TIERS = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.statistical)]


def fitted(size: dict[str, Any], table: Matrix = TABLE, **arguments: Any) -> MatrixCompletion:
    fixed: dict[str, Any] = {"rank": 1, "sampler": "joint", "seed": 81, "jobs": 1, "progress": False}
    return MatrixCompletion(**fixed, **size, **arguments).fit(table)


def quantities(model: MatrixCompletion) -> dict[str, Array]:
    """Return what is compared, (chain, draw) each, by the names of the references."""
    draws = model.posterior_.posterior
    X = np.einsum("cdir,cdr,cdjr->cdij", draws["U"], draws["s"], draws["V"])
    known = {"s": draws["s"][:, :, 0], "lambda": draws["lambda"], "sigma": draws["sigma"]}
    known |= {f"X[{i},{j}]": X[:, :, i, j] for i, j in np.ndindex(X.shape[2:])}
    if "mu" in draws:
        total = X + draws["row_effect"][:, :, :, None] + draws["column_effect"][:, :, None]
        total += draws["mu"][:, :, None, None]
        known |= {f"total[{i},{j}]": total[:, :, i, j] for i, j in np.ndindex(X.shape[2:])}
        known |= {"row sd": draws["row_effect_sd"], "column sd": draws["column_effect_sd"]}
    return known


def against_importance(drawn: dict[str, Array], known: dict[str, list[importance.Estimate]]) -> Vector:
    """Return differences of probabilities in standard errors of both."""
    z = []
    for name, estimates in known.items():
        for threshold, probability, error in estimates:
            below = (drawn[name] <= threshold)[:, :, None]
            both = np.hypot(standard_error(below)[0], error)
            z.append((below.mean() - probability) / both)
    return np.array(z)


@pytest.mark.parametrize(("table", "comparisons"), [(TABLE, 33), (GAPS, 51)], ids=["whole", "gaps"])
@pytest.mark.parametrize("size", TIERS)
def test_default_priors(size: dict[str, Any], table: Matrix, comparisons: int) -> None:
    model = fitted(size, table)
    assert isinstance(precision_of(model.model_.noise), ScaledF)
    assert isinstance(model.model_.rate, Gamma)
    assert isinstance(model.model_.effects, EffectsPrior)
    number = 400_000 if size is SHORT else 4_000_000
    particles = importance.particles(np.random.default_rng(82), model.model_, model.observations_, number)
    z = against_importance(quantities(model), importance.probabilities(particles, SHARES))
    assert z.size == comparisons
    assert np.abs(z).max() < BOUND, z


@pytest.mark.parametrize("size", TIERS)
def test_unequal_priors(size: dict[str, Any]) -> None:
    """The reference is built from the pairs, not from the model that the estimator makes of them."""
    model = fitted(size, effects=None, noise_prior=NOISE_PRIOR, lambda_prior=LAMBDA_PRIOR)
    (noise_shape, noise_rate), (shape, rate) = NOISE_PRIOR, LAMBDA_PRIOR
    noise = WithNoise(Gamma(shape=noise_shape, rate=noise_rate))
    reference = Model(1, Gaussian(), Gamma(shape=shape, rate=rate), noise)
    rows, cols = np.nonzero(~np.isnan(TABLE))
    observations = Observations.from_triples(rows, cols, TABLE[rows, cols], (3, 2))
    drawn = quantities(model)
    z = [compare(drawn[name], exact) for name, exact in quadrature.marginals(reference, observations).items()]
    assert sum(map(len, z)) == 37
    assert np.abs(np.concatenate(z)).max() < BOUND, z


def test_the_false_alarm_rate_is_as_stated() -> None:
    assert false_alarm_rate(BOUND, 33 + 51 + 37) == pytest.approx(0.0077, abs=1e-4)
