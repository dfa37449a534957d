"""What "auto" stands for."""

from typing import Any

import numpy as np
import pytest

from manifill import MatrixCompletion, load
from manifill.estimators.automatic_choices import (
    MOST_SWEEPS,
    WARMUP_OF_LARGE_TABLES,
    Names,
    choose_names,
    with_sweeps,
)
from manifill.likelihoods import Binomial, Gaussian, Likelihood, SoftplusGaussian
from manifill.problem import from_array
from manifill.run.sampler_choice import SamplerChoice

GIVEN = dict.fromkeys(("sigma", "noise_prior", "lambda_", "lambda_prior")) | {"sampler": "auto", "noise": "auto"}


@pytest.mark.parametrize(
    ("likelihood", "given", "expected"),
    [
        (Gaussian(), {}, ("factors", "both")),
        (Gaussian(), {"noise": "column"}, ("factors", "column")),
        (Gaussian(), {"sigma": 0.1}, ("factors", "shared")),
        (Gaussian(), {"noise_prior": (2.0, 1.0)}, ("factors", "both")),
        (Gaussian(), {"noise_prior": "paper"}, ("joint", "shared")),
        (Gaussian(), {"lambda_": 1.0}, ("joint", "shared")),
        (Gaussian(), {"lambda_prior": (1.0, 1.0)}, ("joint", "shared")),
        (Gaussian(), {"sampler": "joint"}, ("joint", "shared")),
        (Gaussian(), {"sampler": "factors", "noise_prior": "paper"}, ("factors", "shared")),
        (Gaussian(), {"sampler": "joint", "noise": "row"}, ("joint", "row")),
        (SoftplusGaussian(), {}, ("joint", "shared")),
        (Binomial(10), {}, ("joint", "shared")),
    ],
)
def test_names(likelihood: Likelihood, given: dict[str, Any], expected: tuple[str, str]) -> None:
    assert choose_names(likelihood, **(GIVEN | given)) == Names(*expected)


@pytest.mark.parametrize(("given", "named"), [({"sampler": "hmc"}, "sampler"), ({"noise": "all"}, "noise")])
def test_unknown_names_are_refused(given: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=f"{named}='.*' is not known; choose one of 'auto'"):
        choose_names(Gaussian(), **(GIVEN | given))


def some_table() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 20)) + 0.3 * rng.normal(size=(40, 20))
    X[rng.random(X.shape) < 0.3] = np.nan
    return X


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_choices_are_announced_stored_and_not_made_again(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    settings: dict[str, Any] = {"chains": 2, "warmup": 20, "draws": 20, "seed": 3, "jobs": 1, "progress": False}
    with caplog.at_level("INFO", logger="manifill"):
        model = MatrixCompletion(path=tmp_path / "run", **settings).fit(some_table())
    rank = model.model_.rank
    assert "sampler='factors' with noise by row and column" in caplog.text
    assert f"rank {rank}, chosen from the data" in caplog.text
    assert 3 <= rank <= 16
    assert set(model.posterior_.posterior) >= {"A", "B", "row_noise", "column_noise"}
    caplog.clear()
    more = MatrixCompletion(path=tmp_path / "run", **(settings | {"draws": 30})).fit(some_table(), resume=True)
    assert "chosen" not in caplog.text
    assert (more.model_.rank, more.posterior_.draws) == (rank, 30)
    again = load(tmp_path / "run")
    assert (again.rank, again.sampler, again.model_.rank) == ("auto", "auto", rank)


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_errors_in_other_arguments_come_before_the_search(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="manifill"), pytest.raises(ValueError, match="tails='wide' is not known"):
        MatrixCompletion(tails="wide", seed=0, progress=False).fit(some_table())
    assert "chosen from the data" not in caplog.text


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_effective_rank_has_an_interval() -> None:
    model = MatrixCompletion(rank=5, chains=2, warmup=100, draws=50, seed=0, jobs=1, progress=False).fit(some_table())
    mean, lower, upper = model.effective_rank_
    assert 1.0 <= lower <= mean <= upper <= 5.0
    assert 2.0 < mean < 4.5


def test_small_tables_have_several_sweeps_per_draw() -> None:
    small, large = from_array(some_table()), from_array(np.ones((700, 600)))
    middle, given = from_array(np.ones((600, 30))), SamplerChoice("factors", 0.8, 10, 200)
    assert with_sweeps(given, "auto", small, 4) == given._replace(sweeps=MOST_SWEEPS)
    assert with_sweeps(given, "auto", large, 16) == given._replace(sweeps=1, warmup=WARMUP_OF_LARGE_TABLES)
    assert with_sweeps(given, 200, large, 16) == given._replace(sweeps=1)
    assert 1 < with_sweeps(given, "auto", middle, 16).sweeps < MOST_SWEEPS


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_a_draw_of_several_sweeps_is_the_last_of_as_many_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sampler that is given has one sweep per draw; it makes the same sweeps, since the rest is the same."""
    settings: dict[str, Any] = {"rank": 2, "chains": 1, "warmup": 0, "noise": "both", "seed": 3, "jobs": 1}
    monkeypatch.setattr("manifill.estimators.automatic_choices.MOST_SWEEPS", 3)
    few = MatrixCompletion(draws=10, progress=False, **settings).fit(some_table()).posterior_
    many = MatrixCompletion(draws=30, sampler="factors", progress=False, **settings).fit(some_table()).posterior_
    np.testing.assert_array_equal(few.A, many.A[:, 2::3])
    np.testing.assert_array_equal(few.statistics["lp"], many.statistics["lp"][:, 2::3])
