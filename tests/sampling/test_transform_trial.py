"""Whether transformed columns predict better is tried on cells that are left out."""

from functools import partial

import numpy as np
import pytest

from manifill.base.arrays import Matrix
from manifill.estimators.arguments import build_model
from manifill.likelihoods import Gaussian
from manifill.problem import Model, Observations, from_array
from manifill.problem.column_units import NO_LIMIT, ColumnUnits
from manifill.sampling import transform_trial
from manifill.sampling.transform_trial import Comparison, try_transform

UNUSED = dict.fromkeys(("sigma", "noise_prior", "lambda_", "lambda_prior"))


def low_rank(seed: int = 0, shape: tuple[int, int] = (120, 12), holes: float = 0.3) -> Matrix:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1])) + 0.3 * rng.normal(size=shape)
    table[rng.random(shape) < holes] = np.nan
    return np.asarray(table)


def model_of(observations: Observations, rank: int) -> Model:
    settings = {"sampler": "factors", "effects": "additive", "noise": "both", "tails": "normal"}
    return build_model(observations, Gaussian(), rank=rank, **settings, **UNUSED)


def compared(table: Matrix, seed: int = 0) -> Comparison:
    found = try_transform(np.random.default_rng(seed), from_array(table), model_of, scaled=False)
    assert found is not None
    return found


def test_skewed_columns_are_predicted_better() -> None:
    found = compared(np.exp(low_rank()))
    assert found.favours_transform
    assert found.gain > 0.3  # nats per cell


def test_a_harmful_transform_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = partial(ColumnUnits, *(np.full(12, value) for value in (0.0, 1.0, 1.5, 0.4, NO_LIMIT)))
    monkeypatch.setattr(transform_trial, "fit_shapes", lambda _: wrong())
    found = compared(low_rank())
    assert not found.favours_transform
    assert found.gain < -0.1


def test_the_log_score_decides_unless_errors_are_clearly_larger() -> None:
    assert Comparison(gain=0.01, error=0.009, excess=1.9, ratio=1.05).favours_transform
    assert not Comparison(gain=0.01, error=0.011, excess=1.9, ratio=1.05).favours_transform
    assert not Comparison(gain=0.001, error=0.0, excess=1.9, ratio=1.05).favours_transform  # too little to matter
    assert not Comparison(gain=0.5, error=0.01, excess=2.1, ratio=1.05).favours_transform
    assert not Comparison(gain=-0.01, error=0.001, excess=-5.0, ratio=0.9).favours_transform


def test_cells_that_are_predicted_far_outside_the_others_are_not_excused_by_their_standard_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of them has a standard error of its own size, whatever its size is."""
    honest = transform_trial._scores

    def with_one_far_off(*arguments: object) -> transform_trial._Scores:
        scores = honest(*arguments)  # type: ignore[arg-type]
        scores.squares[0] += 1e8
        return scores

    monkeypatch.setattr(transform_trial, "_scores", with_one_far_off)
    found = compared(np.exp(low_rank()))._replace(excess=1.0)  # which it is if one trial is enough
    assert found.gain > found.error
    assert not found.favours_transform


def test_one_outlier_does_not_decide() -> None:
    """A wild value among normal ones counts as a gain or loss of a few nats, not of thousands."""
    table = low_rank(shape=(400, 8), holes=0.1)
    table[7, 3] = 1e3
    for seed in range(4):
        assert abs(compared(table, seed).gain) < 0.2


def test_log_densities_are_in_the_units_of_the_data() -> None:
    """A column in another unit changes both densities alike."""
    table = np.exp(low_rank())
    assert compared(1e3 * table).gain == pytest.approx(compared(table).gain, abs=0.1)


def test_the_same_seed_gives_the_same_comparison() -> None:
    table = low_rank()
    assert compared(table, 3) == compared(table, 3)


def test_few_cells_are_not_tried() -> None:
    table = low_rank(shape=(20, 5))
    assert try_transform(np.random.default_rng(0), from_array(table), model_of, scaled=False) is None
