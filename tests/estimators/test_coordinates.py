"""Likelihoods with a parameter that is sampled: coordinates of the layout, from fit and resume to load and predict."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from manifill import MatrixCompletion, load
from manifill.base.arrays import Array, Generator, Vector
from manifill.base.priors import Gamma
from manifill.base.variables import Variable
from manifill.likelihoods import Chunk, Evaluation, Likelihood, Parameters
from manifill.problem import Model, Observations
from manifill.problem.joint_density import JointDensity
from manifill.unknowns import EffectsPrior, Layout

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

SPREAD = 0.5  # of the log scale under its prior


@dataclass(frozen=True)
class Logistic(Likelihood):
    """y ~ Logistic(x, scale), log scale ~ N(0, SPREAD²): a parameter that is no noise precision."""

    name = "logistic"
    description = "logistic noise"
    parameter_names = ("scale",)
    coordinates = 1

    @staticmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        scale = np.exp(0.5 * chunk.coordinates[0])
        for k in range(chunk.x.size):
            u = (chunk.y[k] - chunk.x[k]) / scale
            slope = np.tanh(0.5 * u)
            out.log_density[k] = -abs(u) - 2.0 * np.log1p(np.exp(-abs(u))) - np.log(scale)
            out.slopes[k] = slope / scale
            out.coordinate_slopes[0, k] = 0.5 * (u * slope - 1.0)

    def normalizer(self, encoded: Vector) -> Vector:
        return np.zeros(encoded.size)

    def starting_point(self, encoded: Vector) -> Vector:
        return encoded

    def coordinate_variables(self) -> tuple[Variable, ...]:
        return (Variable("scale", (), ()),)

    def coordinate_values(self, coordinates: Vector) -> dict[str, Array]:
        return {"scale": np.exp(SPREAD * coordinates[0])}

    def coordinates_of(self, parameters: Parameters) -> Vector:
        return np.atleast_1d(np.log(parameters["scale"]) / SPREAD)

    def mean(self, x: Array) -> Array:
        return x

    def variance(self, x: Array, parameters: Parameters) -> Array:
        return np.full_like(x, np.square(parameters["scale"]) * np.pi**2 / 3.0)

    def sample(self, rng: Generator, x: Array, parameters: Parameters) -> Array:
        return rng.logistic(x, parameters["scale"])


@dataclass(frozen=True)
class WithDummy(Logistic):
    """The same at scale 1, with a parameter that nothing depends on: its posterior is its prior."""

    name = "dummy"
    parameter_names = ("dummy",)

    @staticmethod
    def evaluate_cells(chunk: Chunk, out: Evaluation) -> None:
        for k in range(chunk.x.size):
            u = chunk.y[k] - chunk.x[k]
            out.log_density[k] = -abs(u) - 2.0 * np.log1p(np.exp(-abs(u)))
            out.slopes[k] = np.tanh(0.5 * u)
            out.coordinate_slopes[0, k] = 0.0

    def coordinate_variables(self) -> tuple[Variable, ...]:
        return (Variable("dummy", (), ()),)

    def coordinate_values(self, coordinates: Vector) -> dict[str, Array]:
        return {"dummy": np.asarray(coordinates[0])}

    def coordinates_of(self, parameters: Parameters) -> Vector:
        return np.atleast_1d(np.asarray(parameters["dummy"]))

    def variance(self, x: Array, parameters: Parameters) -> Array:
        return np.full_like(x, np.pi**2 / 3.0)

    def sample(self, rng: Generator, x: Array, parameters: Parameters) -> Array:
        return rng.logistic(x)


def _table(scale: float, shape: tuple[int, int] = (25, 16)) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(2)
    X = 3.0 * np.outer(rng.standard_normal(shape[0]), rng.standard_normal(shape[1]))
    rows, cols = np.nonzero(rng.random(shape) < 0.8)
    return rows, cols, rng.logistic(X[rows, cols], scale)


@pytest.mark.parametrize("has_effects", [False, True])
def test_the_joint_gradient_includes_coordinates(has_effects: bool) -> None:
    rng, (rows, cols, y) = np.random.default_rng(3), _table(1.0, (6, 5))
    effects = EffectsPrior(0.2, 0.5, Gamma(2.0, 1.0), 1.5) if has_effects else None
    model = Model(2, Logistic(), Gamma(2.0, 1.0), effects=effects)
    layout = Layout.whole(6, 5, 2, has_effects, 1)
    density = JointDensity.of(model, Observations.from_triples(rows, cols, y, (6, 5)).by_row, layout)
    position, gradient, nothing = rng.standard_normal(layout.size), np.empty(layout.size), np.empty(layout.size)
    density.log_density_gradient(position, gradient)
    for k in range(layout.size):
        ahead, behind = position.copy(), position.copy()
        ahead[k] += 1e-5
        behind[k] -= 1e-5
        difference = density.log_density_gradient(ahead, nothing) - density.log_density_gradient(behind, nothing)
        assert gradient[k] == pytest.approx(difference / 2e-5, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("sampler", ["joint", "gibbs"])
def test_a_scale_is_learned(sampler: str) -> None:
    """The true scale is within four posterior standard deviations."""
    settings: dict[str, Any] = {"rank": 1, "chains": 1, "warmup": 300, "draws": 300, "seed": 1, "jobs": 1}
    model = MatrixCompletion(likelihood=Logistic(), sampler=sampler, effects=None, progress=False, **settings)
    scale = model.fit(*_table(0.5), shape=(25, 16)).posterior_.scale
    assert abs(scale.mean() - 0.5) < 4.0 * scale.std()
    assert 0.01 < scale.std() < 0.1


def test_a_parameter_that_nothing_depends_on_keeps_its_prior() -> None:
    """Every third draw of 3000 against the normal distribution: p below 1e-4 once in 10,000 runs."""
    settings: dict[str, Any] = {"rank": 1, "chains": 1, "warmup": 300, "draws": 3000, "seed": 4, "jobs": 1}
    model = MatrixCompletion(likelihood=WithDummy(), progress=False, **settings).fit(*_table(1.0), shape=(25, 16))
    assert stats.kstest(model.posterior_.dummy[0, ::3], "norm").pvalue > 1e-4


@pytest.mark.parametrize("sampler", ["joint", "gibbs"])
@pytest.mark.parametrize("likelihood", [Logistic(), WithDummy()], ids=lambda likelihood: likelihood.name)
def test_from_fit_to_prediction(likelihood: Likelihood, sampler: str, tmp_path: Path) -> None:
    """A run that is stopped and resumed draws what one in memory draws, and predicts the same after loading."""
    table = _table(1.0)
    settings: dict[str, Any] = {"rank": 2, "chains": 2, "warmup": 20, "seed": 5, "jobs": 1, "progress": False}
    settings |= {"likelihood": likelihood, "sampler": sampler}
    whole = MatrixCompletion(draws=20, **settings).fit(*table, shape=(25, 16))
    MatrixCompletion(draws=8, path=tmp_path / "run", **settings).fit(*table, shape=(25, 16))
    MatrixCompletion(draws=20, path=tmp_path / "run", **settings).fit(*table, shape=(25, 16), resume=True)
    loaded = load(tmp_path / "run", likelihood=likelihood)
    (name,) = likelihood.parameter_names
    np.testing.assert_array_equal(loaded.posterior_.posterior[name][:], whole.posterior_.posterior[name])
    assert name in [quantity.name for quantity in loaded.diagnostics_.quantities]
    cells = table[0][:5], table[1][:5]
    for part in ("mean", "sd", "lower", "upper"):
        expected = getattr(whole.predict(*cells), part)
        np.testing.assert_allclose(getattr(loaded.predict(*cells), part), expected, rtol=1e-5, atol=1e-5)
    assert np.isfinite(float(loaded.score(*cells, table[2][:5])))
