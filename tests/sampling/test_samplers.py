"""What holds for every sampler: repeatable, pure, and at ease with awkward data."""

from dataclasses import replace

import numpy as np
import pytest

from manifill.base.arrays import Array
from manifill.base.priors import ComponentGamma
from manifill.likelihoods import Gaussian, WithNoise
from manifill.problem import Model, Observations, from_array
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.paper_gibbs import Gibbs
from tests.sampling.problems import LIKELIHOODS, SAMPLERS, AnySampler, SamplerClass, model_for, run, some_observations

CASES: dict[str, tuple[SamplerClass, Model]] = {
    f"{sampler.__name__} {name}{' with effects' if effects else ''}": (sampler, model_for(likelihood, effects=effects))
    for sampler in (Joint, Gibbs)
    for name, likelihood in LIKELIHOODS.items()
    for effects in (False, True)
}
CASES["Joint with all noise"] = (Joint, model_for(Gaussian(), effects=True, by="all"))
CASES["Factors"] = (Factors, model_for(Gaussian()))
BY_COMPONENT = replace(model_for(Gaussian(), effects=True, by="all"), factor_precision=ComponentGamma(0.5, 0.5))
CASES["Factors with everything"] = (Factors, BY_COMPONENT)

for_each_case = pytest.mark.parametrize(("sampler", "model"), CASES.values(), ids=CASES.keys())
for_each_sampler = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS.keys())


@for_each_case
def test_same_seed_same_draws(sampler: SamplerClass, model: Model) -> None:
    observations = some_observations(model.likelihood)
    first, second, other = (run(sampler(model, observations), seed, 10, 5) for seed in (1, 1, 2))
    assert all(np.array_equal(a[name], b[name]) for a, b in zip(first, second, strict=True) for name in a)
    factor = "A" if sampler is Factors else "U"
    assert not np.array_equal(first[-1][factor], other[-1][factor])


def arrays(value: object) -> list[Array]:
    """Return every array and number in nested tuples and dictionaries."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if not isinstance(value, tuple):
        return [np.asarray(value)] if value is not None else []
    return [part for item in value for part in arrays(item)]


@for_each_case
def test_a_step_changes_neither_state_nor_data(sampler: SamplerClass, model: Model) -> None:
    observations = some_observations(model.likelihood)
    kernel: AnySampler = sampler(model, observations)
    rng = np.random.default_rng(1)
    state, tuning = kernel.start(rng)
    held = [*arrays(state), *arrays(tuning), *observations.by_row, *observations.by_column]
    kept = [np.copy(part) for part in held]
    after, info = kernel.step(rng, state, tuning)
    kernel.step(rng, after, kernel.adapt(tuning, info))
    assert all(np.array_equal(part, copy) for part, copy in zip(held, kept, strict=True))


@for_each_case
def test_draws_and_statistics_are_as_announced(sampler: SamplerClass, model: Model) -> None:
    kernel: AnySampler = sampler(model, some_observations(model.likelihood))
    rng = np.random.default_rng(1)
    state, tuning = kernel.start(rng)
    state, info = kernel.step(rng, state, tuning)
    draw = kernel.draw(state)
    assert {name: np.shape(value) for name, value in draw.items()} == {v.name: v.shape for v in kernel.variables}
    assert ("sigma" in draw) == model.likelihood.has_noise
    assert ("row_effect" in draw) == (model.effects is not None)
    statistics = kernel.statistics(state, tuning, info)
    assert tuple(statistics) == kernel.statistic_names
    assert all(isinstance(value, float) and np.isfinite(value) for value in statistics.values())


AWKWARD = {
    "one cell": Observations.from_triples([1], [1], [2.0], (4, 3)),
    "empty rows and columns": Observations.from_triples([0, 0, 3], [0, 2, 2], [1.0, 4.0, 2.0], (5, 4)),
    "zeros": Observations.from_triples([0, 1, 2], [0, 1, 2], np.zeros(3)),
    "a constant": from_array(np.full((4, 3), 3.0)),
    "no noise": from_array(np.outer([1, 2, 0, 2], [1, 2, 1])),
    "many columns": Observations.from_triples([0, 1, 2], [0, 70, 199], [1.0, 2.0, 3.0], (3, 200)),
}


@pytest.mark.parametrize("observations", AWKWARD.values(), ids=AWKWARD.keys())
@for_each_case
def test_awkward_data_give_finite_draws(sampler: SamplerClass, model: Model, observations: Observations) -> None:
    for draw in run(sampler(model, observations), 1, 20, 20):
        assert all(np.isfinite(value).all() for value in draw.values())


@for_each_sampler
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_extreme_units_give_finite_draws(sampler: SamplerClass, scale: float) -> None:
    """With the paper's vague prior, which leaves the scale to the data."""
    rows, cols, values = some_observations(Gaussian()).triples()
    observations = Observations.from_triples(rows, cols, scale * values, (8, 6))
    for draw in run(sampler(Model(2, Gaussian(), 1.0 / scale, WithNoise()), observations), 1, 30, 20):
        assert all(np.isfinite(value).all() for value in draw.values())


@for_each_sampler
def test_rank_must_fit(sampler: SamplerClass) -> None:
    with pytest.raises(ValueError, match="rank=7 is above"):
        sampler(model_for(Gaussian(), rank=7), some_observations(Gaussian()))


@pytest.mark.parametrize("name", ["softplus", "binomial"])
def test_the_baseline_is_for_the_gaussian_likelihood_only(name: str) -> None:
    with pytest.raises(ValueError, match=f"not '{name}'; use sampler='joint'"):
        Factors(model_for(LIKELIHOODS[name]), some_observations(LIKELIHOODS[name]))
