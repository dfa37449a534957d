"""``manifill diagnose``: whether the chains have converged."""

from manifill.cli.console import CommandExit, Console, ExitCode
from manifill.cli.options import AsJson, Quiet, Run

__all__ = ["diagnose"]


def diagnose(run: Run, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Check whether the chains have converged; exit code 0 if they have, 3 if not.

    **Example**

        manifill diagnose run/ && echo converged
    """
    from manifill.estimators.loading import load

    found = load(run).diagnostics_
    fields = {
        "converged": found.converged,
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "divergences": found.divergences,
        "quantities": [quantity._asdict() for quantity in found.quantities],
    }
    Console(quiet=quiet, as_json=as_json).result(str(found), fields)
    if not found.converged:
        raise CommandExit(ExitCode.NOT_CONVERGED)
