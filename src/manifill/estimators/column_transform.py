"""Columns that are skewed or have heavy tails: the decision to make them nearly normal, which is announced."""

from functools import partial
from typing import Any

import numpy as np

from manifill.base.argument_words import Argument, Wording
from manifill.base.arrays import Generator
from manifill.base.progress import announce
from manifill.base.wording import counted
from manifill.estimators.arguments import build_model, check_choice
from manifill.estimators.column_scaling import are_scaled
from manifill.likelihoods import Gaussian, Likelihood
from manifill.problem import Model, Observations
from manifill.problem.cell_names import CellNames
from manifill.problem.column_shapes import are_shaped, fit_shapes, standardised
from manifill.problem.column_spreads import are_variables
from manifill.problem.column_units import NO_LIMIT, ColumnUnits

__all__ = ["IN_UNITS", "transform_columns"]

TRANSFORM = "sinh-arcsinh"

# Arguments in the data's units; a transformed column has no unit that they could be in.
IN_UNITS = ("sigma", "noise_prior", "lambda_", "lambda_prior")


def transform_columns(
    given: Any, rng: Generator, observations: Observations, likelihood: Likelihood, arguments: dict[str, Any]
) -> ColumnUnits | None:
    """Return the units of transformed columns, or None if columns are not transformed.

    ``arguments`` are those of the model, and ``column_scales``.  ``"auto"`` transforms the columns of a table of
    variables if cells that are left out are then predicted better; gross outliers are brought nearer in any case.
    """
    check_choice("column_transform", given, ("auto", TRANSFORM, None))
    if given is None:
        return None
    obstacle = _obstacle(likelihood, arguments)
    if given == TRANSFORM:
        if obstacle is not None:
            raise ValueError(Wording(Argument("column_transform", TRANSFORM), " ", *obstacle.parts, "."))
        return _announced(observations, "")
    is_open = obstacle is None and arguments["column_scales"] is not None and arguments["effects"] is not None
    if not (is_open and are_variables(observations)):
        return None
    units = _if_better(rng, observations, arguments) if are_shaped(observations) else None
    return _without_transform(observations) if units is None else units


def _obstacle(likelihood: Likelihood, arguments: dict[str, Any]) -> Wording | None:
    """Return why columns cannot be transformed, as the end of a sentence that begins with the argument."""
    if not likelihood.is_conjugate:
        return Wording("needs ", Argument("likelihood", Gaussian.name), "; leave one of them out")
    if arguments["tails"] != "normal":
        return Wording("has heavy tails of its own, and needs ", Argument("tails", "normal"))
    for name in IN_UNITS:
        if arguments[name] is not None:
            return Wording("leaves columns without units for ", Argument(name), "; leave one of them out")
    return None


def _if_better(rng: Generator, observations: Observations, arguments: dict[str, Any]) -> ColumnUnits | None:
    """Return the units of transformed columns if they predict cells that are left out better."""
    from manifill.sampling.transform_trial import try_transform  # imported here, since loading a run needs no samplers

    of_model = {name: value for name, value in arguments.items() if name != "column_scales"} | {"sampler": "factors"}
    found = try_transform(
        rng, observations, partial(_model, of_model), scaled=are_scaled(arguments["column_scales"], observations)
    )
    if found is None:
        return None
    if found.favours_transform:
        better = f", which predicts left-out cells better by {found.gain:.2g} nats per cell"
        return _announced(observations, better)
    announce("columns are not transformed, since that does not predict left-out cells better")
    return None


def _without_transform(observations: Observations) -> ColumnUnits | None:
    """Return the units of standardised columns if there are gross outliers, otherwise None."""
    units = standardised(observations)
    if units.is_linear:
        return None
    announce("columns are standardised")
    _announce_outliers(units, observations)
    return units


def _announce_outliers(units: ColumnUnits, observations: Observations) -> None:
    """Say how many values count as if they were nearer, and which is the farthest, since they may be errors."""
    rows, cols, values = observations.triples()
    here = units.at(cols)
    distance = np.abs(here._replace(limit=np.full(cols.size, NO_LIMIT)).to_model(values))
    far = np.flatnonzero(distance > here.limit)
    if not far.size:
        return
    worst = far[np.argmax(distance[far])]
    names = CellNames(row_labels=observations.row_labels, column_labels=observations.column_labels)
    cell = names.cell(int(rows[worst]), int(cols[worst]))
    announce(
        f"{counted(far.size, 'value')} far outside the column, the farthest {values[worst]:.6g} at {cell}, "
        "counted as if nearer; remove errors"
    )


def _model(arguments: dict[str, Any], observations: Observations, rank: int) -> Model:
    return build_model(observations, Gaussian(), rank=rank, **arguments)


def _announced(observations: Observations, better: str) -> ColumnUnits:
    units = fit_shapes(observations)
    shaped = int(np.count_nonzero((units.skewness != 0.0) | (units.tail_weight != 1.0)))
    if shaped:
        announce(f"{counted(shaped, 'column')} of {units.scale.size} made nearly normal ({TRANSFORM}){better}")
    else:
        announce("columns are standardised; none has enough distinct values for a transform")
    _announce_outliers(units, observations)
    return units
