"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "Quiet", "Run", "TableOut"]

Run = Annotated[Path, typer.Argument(help="The folder that `manifill fit --out` wrote.", metavar="RUN")]
TableOut = Annotated[Path | None, typer.Option(help="A .csv, .tsv or .parquet file [default: standard output].")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
