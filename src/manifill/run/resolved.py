"""The model of a run with its priors resolved to numbers, the units of its columns, and its sampler.

A run stores this document, so that nothing is derived when it is loaded or resumed, and a changed default does not
affect existing runs.  Parsing is strict: a field that is missing, unknown or of the wrong type is an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from manifill.base.priors import ComponentGamma, Gamma, ScaledF
from manifill.likelihoods import WITHOUT_NOISE, Likelihood, NoiseModel, Spread, Tails, WithNoise
from manifill.likelihoods.registry import LIKELIHOODS, likelihood_class
from manifill.problem import Model
from manifill.problem.column_units import ColumnUnits
from manifill.problem.default_priors import SPREAD
from manifill.run.sampler_choice import SAMPLERS, SamplerChoice
from manifill.unknowns import EffectsPrior

__all__ = ["Resolved", "likelihood_from_json", "model_from_json", "model_to_json", "with_later_constants"]

# Constants of likelihoods that runs of earlier versions do not have, by the name of the likelihood.
LATER_CONSTANTS: dict[str, dict[str, Any]] = {"binomial": {"offset": 0.0}}

NOISE_PARTS: dict[str, type[Spread] | type[Tails]] = {"rows": Spread, "columns": Spread, "tails": Tails}
AnyPrior: TypeAlias = Gamma | ScaledF | ComponentGamma
PRIORS: dict[str, type[AnyPrior]] = {"gamma": Gamma, "scaled_f": ScaledF, "component_gamma": ComponentGamma}


@dataclass(frozen=True)
class Resolved:
    """The model, units of the columns and sampler of a run, with all defaults resolved."""

    model: Model
    units: ColumnUnits
    sampler: SamplerChoice

    def to_json(self) -> dict[str, Any]:
        """Return the attributes to store with the run."""
        sampler = self.sampler._asdict()
        return {"model": model_to_json(self.model), "sampler": sampler, **self.units.to_attributes()}

    @classmethod
    def from_json(cls, attributes: Mapping[str, Any], likelihood: Likelihood | None) -> "Resolved":
        """Parse the attributes of a run; ``likelihood`` is the code of a custom likelihood."""
        return cls(
            model=model_from_json(attributes.get("model"), likelihood),
            units=ColumnUnits.of_attributes(attributes),
            sampler=_sampler(attributes.get("sampler")),
        )


def _sampler(tree: Any) -> SamplerChoice:
    if isinstance(tree, dict):
        tree = {"sweeps": 1} | tree  # which runs did not store when it was always 1
    parts = _fields("sampler", tree, SamplerChoice._fields)
    if parts["name"] not in SAMPLERS:
        raise ValueError(f"sampler.name is {parts['name']!r}; known are {', '.join(map(repr, SAMPLERS))}.")
    for name, least in (("max_depth", 0), ("warmup", 0), ("sweeps", 1)):
        if type(parts[name]) is not int or parts[name] < least:
            raise ValueError(f"sampler.{name} must be a whole number of at least {least}, not {parts[name]!r}.")
    acceptance = _number("sampler.target_acceptance", parts["target_acceptance"])
    return SamplerChoice(**{**parts, "target_acceptance": acceptance})


def model_to_json(model: Model) -> dict[str, Any]:
    """Return a model as JSON-serialisable values; floats round-trip exactly."""
    effects = model.effects
    return {
        "rank": model.rank,
        "likelihood": {name: _plain(value) for name, value in model.likelihood.to_json().items()},
        "rate": _prior_to_json(model.rate),
        "noise": _noise_to_json(model.noise),
        "factor_precision": _prior_to_json(model.factor_precision),
        "effects": None if effects is None else _effects_to_json(effects),
    }


def model_from_json(tree: Any, likelihood: Likelihood | None) -> Model:
    """Parse the output of ``model_to_json``; ``likelihood`` is the code of a custom likelihood."""
    names = ("rank", "likelihood", "rate", "noise", "factor_precision", "effects")
    parts = _fields("model", tree, names)
    if type(parts["rank"]) is not int or parts["rank"] < 1:
        raise ValueError(f"model.rank must be a whole number of at least 1, not {parts['rank']!r}.")
    return Model(
        rank=parts["rank"],
        likelihood=likelihood_from_json(parts["likelihood"], likelihood),
        rate=_prior("model.rate", parts["rate"], Gamma),
        noise=_noise("model.noise", parts["noise"]),
        factor_precision=_prior("model.factor_precision", parts["factor_precision"], Gamma, ComponentGamma),
        effects=None if parts["effects"] is None else _effects("model.effects", parts["effects"]),
    )


def _noise_to_json(noise: NoiseModel) -> dict[str, Any] | None:
    if not isinstance(noise, WithNoise):
        return None
    parts = {name: _noise_part_to_json(getattr(noise, name)) for name in NOISE_PARTS}
    return {"precision": _prior_to_json(noise.precision), **parts}


def _noise_part_to_json(part: Spread | Tails | None) -> dict[str, float] | None:
    return None if part is None else {name: float(value) for name, value in part._asdict().items()}


def _noise(where: str, tree: Any) -> NoiseModel:
    if tree is None:
        return WITHOUT_NOISE
    if isinstance(tree, dict) and "by_column" in tree:
        return _earlier_noise(where, tree)
    parts = _fields(where, tree, ("precision", *NOISE_PARTS))
    given = {name: _noise_part(f"{where}.{name}", cls, parts[name]) for name, cls in NOISE_PARTS.items()}
    return WithNoise(_prior(f"{where}.precision", parts["precision"], Gamma, ScaledF), **given)


def _noise_part(where: str, cls: Any, tree: Any) -> Any:
    if tree is None:
        return None
    parts = _fields(where, tree, cls._fields)
    return cls(**{name: _number(f"{where}.{name}", parts[name]) for name in cls._fields})


def _earlier_noise(where: str, tree: dict[str, Any]) -> NoiseModel:
    """Return the noise of a run that was made before noise by row existed.

    If ``by_column`` is true, its draws have one sigma per column.  They are read as they are; such a run cannot be
    resumed (``run/resume.py``).
    """
    parts = _fields(where, tree, ("precision", "by_column"))
    if type(parts["by_column"]) is not bool:
        raise ValueError(f"{where}.by_column must be true or false, not {parts['by_column']!r}.")
    columns = SPREAD if parts["by_column"] else None
    return WithNoise(_prior(f"{where}.precision", parts["precision"], Gamma, ScaledF), columns=columns)


def likelihood_from_json(tree: Any, given: Likelihood | None) -> Likelihood:
    """Return the likelihood with this name and these fields; ``given`` is the code of a custom likelihood."""
    if not isinstance(tree, dict) or not isinstance(tree.get("name"), str):
        raise ValueError(f"model.likelihood must have a name, not be {tree!r}.")
    fields = {name: value for name, value in with_later_constants(tree).items() if name != "name"}
    if given is not None:
        if given.name != tree["name"]:
            raise ValueError(f"the run was fitted with the likelihood {tree['name']!r}, not with {given.name!r}.")
        return given
    if tree["name"] not in LIKELIHOODS:
        raise ValueError(
            f"the run was fitted with the likelihood {tree['name']!r}, whose code is not in the run; pass it to load "
            "as likelihood."
        )
    known = likelihood_class(tree["name"])
    names = tuple(field.name for field in dataclass_fields(known))  # type: ignore[arg-type]
    found = known(**_fields("model.likelihood", fields, names))
    found.encode(np.empty(0))  # raises a ValueError if a constant is impossible
    return found


def with_later_constants(likelihood: dict[str, Any]) -> dict[str, Any]:
    """Return a likelihood with the constants that earlier versions did not have, at the values they implied."""
    return LATER_CONSTANTS.get(likelihood.get("name", ""), {}) | likelihood


def _effects_to_json(effects: EffectsPrior) -> dict[str, Any]:
    return {
        "mean": float(effects.mean),
        "mean_precision": float(effects.mean_precision),
        "row": _prior_to_json(effects.row),
        "column": _prior_to_json(effects.column),
    }


def _effects(where: str, tree: Any) -> EffectsPrior:
    parts = _fields(where, tree, EffectsPrior._fields)
    return EffectsPrior(
        mean=_number(f"{where}.mean", parts["mean"]),
        mean_precision=_number(f"{where}.mean_precision", parts["mean_precision"]),
        row=_prior(f"{where}.row", parts["row"], Gamma),
        column=_prior(f"{where}.column", parts["column"], Gamma),
    )


def _prior_to_json(prior: float | AnyPrior) -> Any:
    """Return a fixed value as a number, and a prior as its name and parameters."""
    for name, cls in PRIORS.items():
        if isinstance(prior, cls):
            return {"prior": name, **{field: float(value) for field, value in prior._asdict().items()}}
    return float(prior)  # type: ignore[arg-type]


def _prior(where: str, tree: Any, *possible: type[AnyPrior]) -> Any:
    """Return a fixed value, or a prior of one of the classes that are possible here."""
    if not isinstance(tree, dict):
        return _number(where, tree)
    known = {name: cls for name, cls in PRIORS.items() if cls in possible}
    if not isinstance(tree.get("prior"), str) or tree["prior"] not in known:
        names = ", ".join(map(repr, known))
        raise ValueError(f"{where}.prior is {tree.get('prior')!r}; only {names} or a fixed number is possible here.")
    cls = known[tree["prior"]]
    parts = _fields(where, tree, ("prior", *cls._fields))
    return cls(**{name: _number(f"{where}.{name}", parts[name]) for name in cls._fields})


def _fields(where: str, tree: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return a JSON object if it has exactly these fields."""
    if not isinstance(tree, dict):
        raise ValueError(f"{where} must have the fields {', '.join(names)}, not be {tree!r}.")
    missing, unknown = [name for name in names if name not in tree], [name for name in tree if name not in names]
    if missing:
        raise ValueError(f"{where} has no field {missing[0]!r}.")
    if unknown:
        raise ValueError(f"{where} has the unknown field {unknown[0]!r}; known are {', '.join(names)}.")
    return tree


def _number(where: str, value: Any) -> float:
    if type(value) not in (int, float) or not isfinite(value):
        raise ValueError(f"{where} must be a number, not {value!r}.")
    return float(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
