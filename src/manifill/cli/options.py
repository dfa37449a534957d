"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "MaxSize", "Quiet", "RawLabels", "Run", "SkipDamaged", "Strict", "TableOut"]

Run = Annotated[Path, typer.Argument(help="The folder that `manifill fit --out` wrote.", metavar="RUN")]
TableOut = Annotated[Path | None, typer.Option(help="A .csv, .tsv or .parquet file [default: standard output].")]
RawLabels = Annotated[
    bool,
    typer.Option("--raw-labels", help="Write text that a spreadsheet would run as a formula without an apostrophe."),
]
MaxSize = Annotated[
    str | None,
    typer.Option(help="What a compressed file may unpack to [default: 8GB, and 100 times its size if above 256MB]."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Exit with code 3 unless predictions and global quantities are both green."),
]
SkipDamaged = Annotated[
    bool, typer.Option("--skip-damaged", help="Leave out chains with damaged files instead of refusing the run.")
]
