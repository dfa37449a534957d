"""Arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "Quiet", "Run"]

Run = Annotated[Path, typer.Argument(help="The folder that `manifill fit --out` wrote.", metavar="RUN")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but results and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]
