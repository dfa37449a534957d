"""The resolved model as JSON: every model comes back field by field, and anything else is refused by its name."""

import json
from typing import Any

import numpy as np
import pytest

from manifill import Binomial, Gaussian, SoftplusGaussian, custom_likelihood
from manifill.base.priors import PAPER_NOISE, ComponentGamma, Gamma, ScaledF
from manifill.likelihoods import Spread, Tails, WithNoise
from manifill.problem import Model
from manifill.problem.column_units import SAME_UNITS, ColumnUnits
from manifill.run.resolved import Resolved, model_from_json, model_to_json
from manifill.run.sampler_choice import SamplerChoice
from manifill.unknowns import EffectsPrior

THIRD = 1.0 / 3.0  # whose digits are all needed
SCALED = ScaledF(shape=2.0, tail=10.0, scale=THIRD, floor=1e-9)
MODELS = {
    "fixed numbers": Model(2, Gaussian(), THIRD, WithNoise(4.0), factor_precision=0.25),
    "Gamma priors": Model(1, SoftplusGaussian(), Gamma(1.0, THIRD), WithNoise(Gamma(2.0, 3.0)), PAPER_NOISE),
    "scaled F, all noise": Model(
        3, Gaussian(), Gamma(1.0, 2.0), WithNoise(SCALED, Spread(THIRD), Spread(0.5), Tails(2.0, 0.1))
    ),
    "precisions by component": Model(2, Gaussian(), 1.0, WithNoise(1.0), ComponentGamma(0.5, THIRD)),
    "effects": Model(1, Binomial(10, 0.5), 1.0, effects=EffectsPrior(3.0, 0.01, Gamma(1.0, THIRD), 2.0)),
    "offset": Model(1, Binomial(9, 0.5, 0.5), 1.0),
    "numbers of NumPy": Model(1, Binomial(np.int64(10), np.float64(0.5)), np.float64(THIRD)),  # type: ignore[arg-type]
}


def through_json(tree: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(tree))
    return found


@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_field_by_field(name: str) -> None:
    model = MODELS[name]
    found = model_from_json(through_json(model_to_json(model)), None)
    assert found == model
    for field, value in vars(model).items():
        if not isinstance(value, np.generic):
            assert type(getattr(found, field)) is type(value), field


SCALES = np.array([THIRD, 1e-30, 7.0])
SHAPES = ColumnUnits(
    np.array([-1.0, 0.0, THIRD]),
    SCALES,
    np.array([0.0, THIRD, -0.4]),
    np.array([1.0, 2.0, THIRD]),
    np.array([12.0, 1e300, THIRD]),
)


@pytest.mark.parametrize("units", [ColumnUnits.divided_by(SCALES), SHAPES])
def test_units_and_sampler_come_back(units: ColumnUnits) -> None:
    resolved = Resolved(MODELS["effects"], units, SamplerChoice("joint", 0.8, 10, 500))
    found = Resolved.from_json(through_json(resolved.to_json()), None)
    for then, now in zip(units, found.units, strict=True):
        np.testing.assert_array_equal(now, then)
    assert (found.model, found.sampler) == (resolved.model, resolved.sampler)
    unscaled = Resolved(MODELS["effects"], SAME_UNITS, resolved.sampler._replace(sweeps=3))
    assert Resolved.from_json(through_json(unscaled.to_json()), None) == unscaled


def test_runs_from_before_sweeps_were_counted_had_one_per_draw() -> None:
    tree = through_json(Resolved(MODELS["effects"], SAME_UNITS, SamplerChoice("factors", 0.8, 10, 500)).to_json())
    del tree["sampler"]["sweeps"]
    assert Resolved.from_json(tree, None).sampler.sweeps == 1
    with pytest.raises(ValueError, match=r"sampler\.sweeps must be a whole number of at least 1, not 0"):
        Resolved.from_json(tree | {"sampler": tree["sampler"] | {"sweeps": 0}}, None)


def test_a_custom_likelihood_is_a_name_in_the_document_and_its_code_is_given() -> None:
    mine = custom_likelihood("mine", lambda y, x: -abs(y - x), lambda y, x: 1.0 if y > x else -1.0)
    tree = through_json(model_to_json(Model(1, mine, 1.0)))
    assert tree["likelihood"]["name"] == "mine"
    with pytest.raises(ValueError, match="likelihood 'mine', whose code is not in the run"):
        model_from_json(tree, None)
    assert model_from_json(tree, mine).likelihood is mine
    with pytest.raises(ValueError, match="the likelihood 'mine', not with 'gaussian'"):
        model_from_json(tree, Gaussian())


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return a document with one field changed."""
    tree = through_json(model_to_json(MODELS["effects"]))
    tree["noise"] = {
        "precision": {"prior": "scaled_f", **SCALED._asdict()},
        "rows": {"scale": 0.5},
        "columns": None,
        "tails": None,
    }
    *parents, last = path.split(".")
    branch = tree
    for name in parents:
        branch = branch[name]
    branch[last] = value
    return tree


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("rank", 0, "model.rank must be a whole number"),
        ("rank", True, "model.rank must be a whole number"),
        ("likelihood", "binomial", "model.likelihood must have a name"),
        ("likelihood.tries", 3, "model.likelihood has the unknown field 'tries'"),
        ("rate", None, "model.rate must be a number, not None"),
        ("rate", float("nan"), "model.rate must be a number, not nan"),
        ("rate", {"prior": "cauchy", "scale": 1.0}, "model.rate.prior is 'cauchy'; only 'gamma'"),
        ("rate", {"prior": "scaled_f", **SCALED._asdict()}, "model.rate.prior is 'scaled_f'; only 'gamma'"),
        ("noise.precision.shape", "2", "model.noise.precision.shape must be a number, not '2'"),
        ("noise.precision.width", 1.0, "model.noise.precision has the unknown field 'width'"),
        ("effects.row", {"prior": "gamma", "shape": 1.0}, "model.effects.row has no field 'rate'"),
        ("effects", [1.0], "model.effects must have the fields mean"),
        ("noise", {"precision": 1.0, "by_column": 1}, "model.noise.by_column must be true or false"),
        ("noise.rows.scale", None, "model.noise.rows.scale must be a number"),
        ("noise.tails", {"shape": 2.0}, "model.noise.tails has no field 'rate'"),
        ("student_t", 4.0, "model has the unknown field 'student_t'"),
    ],
    ids=str,
)
def test_what_is_not_known_is_refused_by_its_name(path: str, value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        model_from_json(changed(path, value), None)


def test_a_missing_field_is_named() -> None:
    for name in ("rank", "likelihood", "rate", "noise", "factor_precision", "effects"):
        tree = model_to_json(MODELS["effects"])
        del tree[name]
        with pytest.raises(ValueError, match=f"model has no field '{name}'"):
            model_from_json(tree, None)
    for name in ("precision", "rows", "columns", "tails"):
        tree = model_to_json(MODELS["fixed numbers"])
        del tree["noise"][name]
        with pytest.raises(ValueError, match=f"model.noise has no field '{name}'"):
            model_from_json(tree, None)
    with pytest.raises(ValueError, match="sampler must have the fields name"):
        Resolved.from_json({"model": model_to_json(MODELS["effects"])}, None)


def test_values_of_a_run_from_before_offsets_begin_at_zero() -> None:
    tree = model_to_json(MODELS["effects"])
    del tree["likelihood"]["offset"]
    assert model_from_json(tree, None) == MODELS["effects"]
    del tree["likelihood"]["step"]
    with pytest.raises(ValueError, match=r"model\.likelihood has no field 'step'"):
        model_from_json(tree, None)


@pytest.mark.parametrize("by_column", [False, True])
def test_noise_of_an_earlier_version_is_read(by_column: bool) -> None:
    tree = model_to_json(MODELS["fixed numbers"])
    tree["noise"] = {"precision": 4.0, "by_column": by_column}
    noise = model_from_json(tree, None).noise
    assert isinstance(noise, WithNoise)
    assert (noise.precision, noise.columns is not None, noise.rows) == (4.0, by_column, None)
