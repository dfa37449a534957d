"""The run that a command reads, with a line on standard error if its predictions are not green."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from manifill.base.wording import as_argument
from manifill.cli.console import Console, print_error

if TYPE_CHECKING:
    from manifill.estimators.matrix_completion import MatrixCompletion

__all__ = ["load_run", "load_with_verdict"]


def load_run(path: Path, *, skip_damaged: bool = False) -> "MatrixCompletion":
    """Return the fitted model of a run, without the warning of ``load`` about its convergence."""
    from manifill.estimators.loading import load
    from manifill.estimators.matrix_completion import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return load(path, skip_damaged=skip_damaged)


def load_with_verdict(path: Path, console: Console, *, skip_damaged: bool = False) -> "MatrixCompletion":
    """Return the fitted model of a run; say, even if quiet, if its predictions are known not to be green."""
    from manifill.run.folder import RunFolder
    from manifill.run.verdict import read_verdict

    model = load_run(path, skip_damaged=skip_damaged)
    stored = read_verdict(RunFolder(path), model.posterior_)
    if stored is None:
        command = f"manifill diagnose {as_argument(path)}{' --skip-damaged' if skip_damaged else ''}"
        console.note(f"convergence has not been checked; {command} checks it")
    elif not stored.converged:
        print_error(stored.sentence)
    return model
