"""The end of ``manifill fit``: verdict, accuracy on held-out cells, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifill.base.wording import as_argument, counted
from manifill.cli.command_words import in_command_words
from manifill.cli.console import CommandExit, Console, ExitCode
from manifill.cli.convergence import exit_unless_converged, verdict_fields

if TYPE_CHECKING:
    from manifill.estimators.held_out_accuracy import HeldOutAccuracy
    from manifill.estimators.matrix_completion import MatrixCompletion
    from manifill.posterior import Diagnostics
    from manifill.problem import Observations
    from manifill.run.folder import RunFolder

__all__ = ["conclude"]


def conclude(
    model: MatrixCompletion, held_out: Observations | None, folder: RunFolder, console: Console, *, strict: bool
) -> None:
    """Print the result and exit with the matching code."""
    from manifill.estimators.held_out_accuracy import evaluate
    from manifill.run.draw_rule import Ending, limit_sentence

    posterior, diagnostics = model.posterior_, model.diagnostics_
    interrupted = model.ended_by_ == Ending.INTERRUPT
    limit = limit_sentence(model.ended_by_, model.max_draws, model.max_minutes)
    facts: dict[str, Any] = {
        "run": str(folder.path),
        "chains": posterior.chains,
        "draws": posterior.draws,
        "interrupted": interrupted,
        "ended_by": model.ended_by_,
        **verdict_fields(diagnostics),
    }
    if interrupted:
        kept = f"{counted(posterior.draws, 'draw')} of {counted(posterior.chains, 'chain')}"
        console.result(f"interrupted: {kept} in {folder.path}; continue with --resume", facts)
        raise CommandExit(ExitCode.INTERRUPTED)
    accuracy = None if held_out is None else evaluate(model, held_out)
    lines = [
        in_command_words(diagnostics.predictions.sentence),
        in_command_words(diagnostics.global_quantities.sentence),
        *([] if limit is None else [in_command_words(limit)]),
        *([] if accuracy is None else [*accuracy_lines(accuracy), *monte_carlo_lines(diagnostics)]),
        f"Next: manifill report {as_argument(folder.path)}",
    ]
    console.result("\n".join(lines), facts | {"held_out": None if accuracy is None else _facts(accuracy)})
    exit_unless_converged(diagnostics, strict=strict)


def accuracy_lines(found: HeldOutAccuracy) -> list[str]:
    """Return the errors as a table, and sentences that compare them."""
    units = ", in units of the columns' spreads" if found.in_spreads else ""
    title = f"On {counted(found.cells, 'held-out cell')}{units}:"
    width = max(len(title), *(len(each.name) + 2 for each in found.errors))
    return [
        f"{title:{width}}      RMSE       MAE",
        *(f"{'  ' + each.name:{width}}{each.rmse:10.4g}{each.mae:10.4g}" for each in found.errors),
        f"{found.summary} The 90 % intervals cover {100.0 * found.coverage:.1f} %.",
    ]


def monte_carlo_lines(found: Diagnostics) -> list[str]:
    """Return a sentence on how much the scores of held-out cells would change in another run of the same length."""
    from manifill.posterior.held_out_series import LOG_DENSITY, SQUARED_ERROR

    scores = {q.name: q for q in found.predictions.quantities if q.name in (LOG_DENSITY, SQUARED_ERROR)}
    if len(scores) < 2 or scores[SQUARED_ERROR].mean <= 0.0:
        return []
    square, density = scores[SQUARED_ERROR], scores[LOG_DENSITY]
    rmse = square.monte_carlo_error / (2.0 * square.mean**0.5)
    return [f"Monte Carlo errors: {rmse:.2g} of the RMSE, {density.monte_carlo_error:.2g} of the mean log density."]


def _facts(found: HeldOutAccuracy) -> dict[str, Any]:
    errors = {name.replace(" ", "_"): {"rmse": rmse, "mae": mae} for name, rmse, mae in found.errors}
    return {"cells": found.cells, "in_spreads": found.in_spreads, "coverage": found.coverage, **errors}
