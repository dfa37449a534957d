"""``manifill predict``: predictions with intervals for the cells listed in a file."""

from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manifill.cli.console import Console
from manifill.cli.options import Quiet, Run, TableOut

if TYPE_CHECKING:
    from manifill.estimators.matrix_completion import MatrixCompletion

__all__ = ["predict"]


def predict(
    run: Run,
    pairs: Annotated[Path, typer.Argument(help="A table with a column of row labels and one of column labels.")],
    interval: Annotated[float, typer.Option(help="Probability that a value lies between the bounds.")] = 0.9,
    out: TableOut = None,
    quiet: Quiet = False,
) -> None:
    """Predict cells: the table PAIRS with the columns mean, sd, lower and upper added.

    **Example**

        manifill predict run/ pairs.csv --interval 0.9 --out predictions.csv
    """
    from manifill.cli.run_labels import layout_of
    from manifill.cli.table_output import check_output, output_table
    from manifill.estimators.loading import load
    from manifill.tables import read_pairs

    console = Console(quiet=quiet)
    check_output(out)
    model = load(run)
    asked = read_pairs(pairs, layout_of(model))
    _check_header(model, pairs, list(asked.frame))
    for note in asked.notes:
        console.note(note)
    found = model.predict(asked.rows, asked.cols, interval=interval)
    frame = asked.frame.assign(mean=found.mean, sd=found.sd, lower=found.lower, upper=found.upper)
    output_table(frame, out, console, f"{len(frame)} predictions")


def _check_header(model: "MatrixCompletion", file: Path, names: list[Any]) -> None:
    """Raise a ValueError if the first line of the file is a pair of labels rather than the names of its columns."""
    from manifill.cli.run_labels import labels_of

    rows, columns = (set(map(str, labels)) for labels in labels_of(model))
    if any(one in rows and other in columns for one, other in permutations(map(str, names[:10]), 2)):
        raise ValueError(f"the first line of {file} is a cell of the run; add a line with the columns' names above it.")
