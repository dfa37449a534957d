"""The verdicts on a run in the output of commands, and in their exit codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifill.cli.command_words import in_command_words
from manifill.cli.console import CommandExit, ExitCode

if TYPE_CHECKING:
    from manifill.posterior import Diagnostics, UseVerdict

__all__ = ["exit_unless_converged", "verdict_fields"]


def verdict_fields(found: Diagnostics) -> dict[str, Any]:
    """Return the verdicts for JSON; ``converged`` is whether predictions are green."""
    return {
        "converged": found.converged,
        "verdict": in_command_words(found.verdict),
        "predictions": _fields(found.predictions),
        "global_quantities": _fields(found.global_quantities),
    }


def _fields(found: UseVerdict) -> dict[str, Any]:
    return {"colour": found.colour, "reasons": list(map(in_command_words, found.reasons))}


def exit_unless_converged(found: Diagnostics, *, strict: bool) -> None:
    """End the command with code 3 if predictions are not green, or with ``strict`` if anything is not green."""
    if not (found.all_converged if strict else found.converged):
        raise CommandExit(ExitCode.NOT_CONVERGED)
