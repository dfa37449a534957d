import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from manifill import ConvergenceWarning, Draws, Gaussian, MatrixCompletion
from manifill.likelihoods import Likelihood

from .tables import low_rank_table

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

QUICK: dict[str, Any] = {
    "sampler": "joint",
    "rank": 2,
    "chains": 2,
    "warmup": 30,
    "draws": 20,
    "seed": 0,
    "jobs": 1,
    "progress": False,
}


def fitted(**changes: Any) -> MatrixCompletion:
    return MatrixCompletion(**{**QUICK, **changes}).fit(low_rank_table()[1])


def test_forms_of_data_give_the_same_draws() -> None:
    table = low_rank_table()[1]
    rows, cols = np.nonzero(~np.isnan(table))
    values = table[rows, cols]
    frame = pd.DataFrame({"who": [f"r{i:02d}" for i in rows], "what": cols, "value": values})
    shuffled = np.random.default_rng(0).permutation(len(values))
    expected = MatrixCompletion(**QUICK).fit(table).posterior_.s
    for data in (
        (rows[shuffled], cols[shuffled], values[shuffled]),
        (csr_array((values, (rows, cols)), shape=table.shape),),
        (frame,),
    ):
        np.testing.assert_array_equal(MatrixCompletion(**QUICK).fit(*data).posterior_.s, expected)


def test_shapes_and_settings() -> None:
    model = fitted()
    m, n = model.observations_.shape
    assert model.posterior_.U.shape == (2, 20, m, 2)
    assert model.posterior_.s.shape == (2, 20, 2)
    assert model.posterior_.V.shape == (2, 20, n, 2)
    assert model.posterior_.sigma.shape == (2, 20)
    assert model.posterior_.mu.shape == (2, 20)
    assert model.posterior_.row_effect.shape == (2, 20, m)
    assert model.posterior_.column_effect.shape == (2, 20, n)
    assert model.posterior_.attributes["seed"] == 0
    assert model.posterior_.attributes["settings"]["warmup"] == 30
    assert {"python", "manifill", "numba"} <= set(model.posterior_.attributes["versions"])
    assert model.posterior_.statistics["lp"].shape == (2, 20)


def test_factors_are_orthonormal_and_singular_values_positive() -> None:
    posterior = fitted().posterior_
    for name in ("U", "V"):
        factor = getattr(posterior, name)
        gram = np.einsum("cdia,cdib->cdab", factor, factor)
        np.testing.assert_allclose(gram, np.broadcast_to(np.eye(2), gram.shape), atol=1e-11)
    assert (posterior.s > 0).all()


def test_same_seed_same_draws_whatever_the_jobs() -> None:
    one, two = fitted(jobs=1), fitted(jobs=2)
    for name in one.posterior_.posterior:
        np.testing.assert_array_equal(one.posterior_.posterior[name], two.posterior_.posterior[name])
    assert not np.array_equal(one.posterior_.s, fitted(seed=1).posterior_.s)


def test_chains_differ() -> None:
    s = fitted().posterior_.s
    assert not np.array_equal(s[0], s[1])


def test_draws_on_disk_equal_draws_in_memory(tmp_path: Path) -> None:
    memory, disk = fitted(), fitted(path=tmp_path / "run", jobs=2)
    for name in ("U", "s", "V", "sigma"):
        np.testing.assert_allclose(disk.posterior_.posterior[name][:], memory.posterior_.posterior[name], rtol=1e-6)
    reopened = Draws.open(tmp_path / "run" / "draws.zarr")
    assert reopened.attributes["seed"] == 0
    np.testing.assert_allclose(disk.predict([0], [1]).mean, memory.predict([0], [1]).mean, rtol=1e-5)


def test_predict_and_complete_agree() -> None:
    model = fitted()
    mean, sd = model.complete()
    rows, cols = np.array([0, 3, 13]), np.array([8, 0, 4])
    prediction = model.predict(rows, cols)
    np.testing.assert_allclose(prediction.mean, mean[rows, cols])
    np.testing.assert_allclose(prediction.sd, sd[rows, cols])
    assert (prediction.lower < prediction.mean).all()
    assert (prediction.mean < prediction.upper).all()
    np.testing.assert_array_equal(model.predict(rows, cols).upper, prediction.upper)


def test_labels_in_labels_out() -> None:
    table = low_rank_table()[1]
    rows, cols = np.nonzero(~np.isnan(table))
    frame = pd.DataFrame({"row": rows * 10, "col": [f"c{j}" for j in cols], "y": table[rows, cols]})
    model = MatrixCompletion(**QUICK).fit(frame)
    by_number = MatrixCompletion(**QUICK).fit(table)
    np.testing.assert_array_equal(model.predict([30], ["c4"]).mean, by_number.predict([3], [4]).mean)
    with pytest.raises(ValueError, match="'c99'"):
        model.predict([30], ["c99"])


def test_scikit_learn_conventions() -> None:
    model = MatrixCompletion(rank=3, likelihood="softplus", path="somewhere")
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert copied.set_params(rank=4).rank == 4
    assert repr(model) == "MatrixCompletion(rank=3, likelihood='softplus', path='somewhere')"
    with pytest.raises(ValueError, match="no parameter 'ranks'"):
        model.set_params(ranks=3)
    with pytest.raises(ValueError, match="fit"):
        model.predict([0], [0])


def test_a_fitted_model_survives_pickling() -> None:
    model = fitted()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict([0], [0]).mean, model.predict([0], [0]).mean)


def test_fixed_hyper_parameters_are_kept() -> None:
    posterior = fitted(sigma=0.5, lambda_=0.25).posterior_
    assert (posterior.sigma == 0.5).all()
    assert (posterior.posterior["lambda"] == 0.25).all()


@pytest.mark.parametrize(
    ("likelihood", "changes"), [("softplus", {}), ("binomial", {"trials": 10, "step": 0.5}), (Gaussian(), {})]
)
def test_likelihoods_by_name_and_by_object(likelihood: str | Likelihood, changes: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 11, (14, 9)) / 2.0
    table[rng.random(table.shape) < 0.3] = np.nan
    model = MatrixCompletion(**QUICK, likelihood=likelihood, **changes).fit(table)
    mean, sd = model.complete()
    assert np.isfinite(mean).all()
    assert (sd > 0).all()
    assert hasattr(model.posterior_, "sigma") == (likelihood != "binomial")


def test_predictions_of_ratings_are_on_their_scale() -> None:
    rng = np.random.default_rng(0)
    stars = rng.integers(1, 6, (14, 9)).astype(float)
    stars[rng.random(stars.shape) < 0.3] = np.nan
    model = MatrixCompletion(**QUICK, likelihood="binomial", trials=4, offset=1.0).fit(stars)
    rows, cols = np.nonzero(np.isnan(stars))
    samples = model.sample_posterior_predictive(rows, cols)
    assert np.unique(samples).tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    prediction = model.predict(rows, cols)
    assert 1.0 < prediction.mean.min() < prediction.mean.max() < 5.0
    np.testing.assert_allclose(samples.mean(axis=0), prediction.mean, atol=4.0 * 2.0 / np.sqrt(len(samples)))


def test_rows_without_observations_fall_back_to_the_prior() -> None:
    table = low_rank_table()[1]
    table[4, :] = np.nan
    table[:, 2] = np.nan
    mean, sd = MatrixCompletion(**QUICK).fit(table).complete()
    assert np.isfinite(mean).all()
    assert np.isfinite(sd).all()


@pytest.mark.parametrize("constant", [0.0, 3.0, 0.1])
@pytest.mark.parametrize("sampler", ["joint", "gibbs", "factors"])
def test_constant_data_does_not_crash(constant: float, sampler: str) -> None:
    model = MatrixCompletion(**(QUICK | {"sampler": sampler})).fit(np.full((6, 5), constant))
    assert np.isfinite(model.complete()[0]).all()


def test_gibbs_sampler() -> None:
    """The paper's sampler, with its model or with effects."""
    paper = fitted(sampler="gibbs", effects=None)
    assert list(paper.posterior_.posterior) == ["U", "s", "V", "lambda", "sigma"]
    assert "step_size_V" in paper.posterior_.statistics
    assert fitted(sampler="gibbs").posterior_.row_effect.shape == (2, 20, 14)


def test_factors_sampler() -> None:
    model = fitted(sampler="factors")
    assert model.posterior_.A.shape == (2, 20, 14, 2)
    assert model.posterior_.tau_A.shape == model.posterior_.tau_B.shape == (2, 20, 2)
    paper = fitted(sampler="factors", effects=None, noise_prior="paper")
    assert list(paper.posterior_.posterior) == ["A", "B", "sigma", "tau"]
    with pytest.raises(AttributeError, match="A, B"):
        _ = model.posterior_.U


def test_no_convergence_is_said() -> None:
    with pytest.warns(ConvergenceWarning, match="Predictions are red: "):
        model = MatrixCompletion(**{**QUICK, "draws": 12, "warmup": 0}).fit(low_rank_table()[1])
    assert not model.diagnostics_.converged


def test_recovers_what_was_hidden() -> None:
    """90 % intervals over ~500 hidden cells: sd of the coverage is below 3 % even with dependence between cells."""
    rng = np.random.default_rng(5)
    full = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30)) + 0.3 * rng.normal(size=(40, 30))
    seen = rng.random(full.shape) < 0.6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MatrixCompletion(
            rank=2, chains=2, warmup=300, draws=300, seed=0, column_scales=None, jobs=1, progress=False
        )
        model.fit(np.where(seen, full, np.nan))
    rows, cols = np.nonzero(~seen)
    prediction, hidden = model.predict(rows, cols), full[rows, cols]
    coverage = np.mean((prediction.lower <= hidden) & (hidden <= prediction.upper))
    assert 0.82 < coverage < 0.97
    assert np.sqrt(np.mean((prediction.mean - hidden) ** 2)) < 0.4
    assert abs(model.posterior_.sigma.mean() - 0.3) < 0.04
