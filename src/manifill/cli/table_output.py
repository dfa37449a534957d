"""Result tables of the commands: to a file, or to standard output."""

import sys
from pathlib import Path
from typing import Any

from manifill.cli.console import Console
from manifill.tables import check_destination, write_table

__all__ = ["check_output", "output_table"]


def check_output(out: Path | None) -> None:
    """Raise a ValueError if the file cannot be written, before anything is computed."""
    if out is not None:
        check_destination(out)


def output_table(frame: Any, out: Path | None, console: Console, content: str) -> None:
    """Write a DataFrame to ``out``, or to standard output if it is None."""
    if out is None:
        frame.to_csv(sys.stdout, index=False)
        return
    write_table(frame, out)
    console.note(f"{content} written to {out}")
