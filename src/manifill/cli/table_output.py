"""Result tables of the commands: to a file, or to standard output."""

import io
import sys
from pathlib import Path
from typing import Any

from manifill.base.progress_display import displayed
from manifill.cli.console import Console
from manifill.tables import check_destination, guarded_frame, write_table

__all__ = ["check_output", "output_table"]


def check_output(out: Path | None) -> None:
    """Raise a ValueError if the file cannot be written, before anything is computed."""
    if out is not None:
        check_destination(out)


def output_table(frame: Any, out: Path | None, console: Console, content: str, *, raw_labels: bool = False) -> None:
    """Write a DataFrame to ``out``, or to standard output if it is None."""
    if out is None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # as files are, whatever the locale is
        (frame if raw_labels else guarded_frame(frame)).to_csv(sys.stdout, index=False)
        return
    with displayed(visible=not console.quiet):
        write_table(frame, out, raw_labels=raw_labels)
    console.note(f"{content} written to {out}")
