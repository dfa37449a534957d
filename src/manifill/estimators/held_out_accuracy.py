"""Accuracy on held-out cells, compared with predictions by means."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Array, Vector
from manifill.base.wording import counted
from manifill.estimators.fitted_model import FittedModel
from manifill.posterior import predict
from manifill.problem import Observations
from manifill.problem.mean_baselines import mean_baselines
from manifill.run.seeds import Stream, generator

__all__ = [
    "Errors",
    "HeldOutAccuracy",
    "comparison",
    "errors_of",
    "evaluate",
    "in_new_rows_or_columns",
    "with_baselines",
]

INTERVAL = 0.9


class Errors(NamedTuple):
    """Root mean square error and mean absolute error of the predictions by one method."""

    name: str
    rmse: float
    mae: float


class HeldOutAccuracy(NamedTuple):
    """The errors of the model and of the means on held-out cells, and the coverage of the model's intervals."""

    cells: int
    errors: tuple[Errors, ...]  # the model first
    in_spreads: bool  # whether the errors are in units of the columns' spreads, since columns have different units
    coverage: float  # share of values in their 90 % intervals
    summary: str


def evaluate(model: FittedModel, held_out: Observations) -> HeldOutAccuracy:
    """Return the accuracy of a fitted model on held-out cells of its matrix."""
    draws, train = model.posterior_, model.observations_
    rows, cols, values = held_out.triples()
    rng = generator(draws.attributes["seed"], Stream.PREDICTION)
    found = predict(rng, draws, model.model_.likelihood, rows, cols, INTERVAL)
    in_spreads = draws.column_scales.ndim > 0
    units = draws.column_scales[cols] if in_spreads else np.ones(cols.size)
    errors = errors_of(with_baselines(found.mean, train, held_out, draws.column_scales), values, units)
    new = in_new_rows_or_columns(train, held_out)
    summary = " ".join(filter(None, [comparison(errors, is_new=bool(new)), new]))
    covered = float(np.mean((found.lower <= values) & (values <= found.upper)))
    return HeldOutAccuracy(values.size, errors, in_spreads, covered, summary)


def with_baselines(mean: Vector, train: Observations, held_out: Observations, scales: Array) -> dict[str, Vector]:
    """Return the predictions of the held-out cells by the model, which are given, and by means, (k,) each."""
    rows, cols, _ = held_out.triples()
    return {"model": mean, **mean_baselines(train, rows, cols, scales)}


def errors_of(predictions: Mapping[str, Vector], values: Vector, units: Vector) -> tuple[Errors, ...]:
    """Return the errors of each method, in these units, (k,)."""
    differences = {name: (predicted - values) / units for name, predicted in predictions.items()}
    return tuple(
        Errors(name, float(np.sqrt(np.mean(each**2))), float(np.mean(np.abs(each))))
        for name, each in differences.items()
    )


def comparison(errors: Sequence[Errors], *, is_new: bool) -> str:
    """Return a sentence that compares the model, which comes first, with the best of the means.

    Advice is added if the means are as good, unless cells are in new rows or columns, of which no model knows more.
    """
    model, *means = errors
    best = min(means, key=lambda each: each.rmse)
    if model.rmse < best.rmse:
        return f"The RMSE of the model is {100.0 * (1.0 - model.rmse / best.rmse):.1f} % below that of {best.name}."
    advice = "" if is_new else " Try another rank or likelihood, or use the means."
    return f"The model does not beat {best.name}, whose RMSE is {best.rmse:.4g} against {model.rmse:.4g}.{advice}"


def in_new_rows_or_columns(train: Observations, held_out: Observations) -> str:
    """Return a sentence about held-out cells in rows or columns without a fitted cell, or no text if there are none."""
    sentences = []
    parts = zip(("row", "column"), (train.by_row, train.by_column), held_out.triples()[:2], strict=True)
    for name, fitted, index in parts:
        unseen = int(np.count_nonzero(np.diff(fitted.starts)[index] == 0))
        if unseen == index.size:
            sentences.append(f"No cell of their {name}s was fitted: this is the accuracy for new {name}s.")
        elif unseen:
            verb = "is" if unseen == 1 else "are"
            cells = counted(unseen, "held-out cell")
            sentences.append(f"{cells} {verb} in {name}s of which no cell was fitted.")
    return " ".join(sentences)
