"""``manifill predict``: predictions with intervals for the cells listed in a file."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manifill.base.wording import counted
from manifill.cli.command_words import parse_size
from manifill.cli.console import Console
from manifill.cli.finished_run import load_with_verdict
from manifill.cli.options import MaxSize, Quiet, RawLabels, Run, SkipDamaged, TableOut

if TYPE_CHECKING:
    from manifill.estimators.matrix_completion import MatrixCompletion
    from manifill.tables import Pairs

__all__ = ["predict"]

LOOKUP = 1e-6  # seconds per label; a guess


def predict(
    run: Run,
    pairs: Annotated[Path, typer.Argument(help="A table with a column of row labels and one of column labels.")],
    interval: Annotated[float, typer.Option(help="Probability that a value lies between the bounds.")] = 0.9,
    out: TableOut = None,
    raw_labels: RawLabels = False,
    max_size: MaxSize = None,
    skip_damaged: SkipDamaged = False,
    quiet: Quiet = False,
) -> None:
    """Predict cells: the table PAIRS with the columns mean, sd, lower and upper added.

    **Example**

        manifill predict run/ pairs.csv --interval 0.9 --out predictions.csv
    """
    from manifill.base.progress_display import displayed
    from manifill.cli.run_labels import layout_of
    from manifill.cli.table_output import check_output, output_table
    from manifill.tables import read_pairs

    console = Console(quiet=quiet)
    check_output(out)
    with displayed(visible=not quiet):
        model = load_with_verdict(run, console, skip_damaged=skip_damaged)
        asked = read_pairs(pairs, layout_of(model), max_bytes=parse_size(max_size))
        _check_header(model, pairs, list(asked.frame))
        for note in asked.notes:
            console.note(note)
        rows, cols = _labels(model, pairs, asked)
        found = model.predict(rows, cols, interval=interval)
    frame = asked.frame.assign(mean=found.mean, sd=found.sd, lower=found.lower, upper=found.upper)
    output_table(frame, out, console, counted(len(frame), "prediction"), raw_labels=raw_labels)


def _check_header(model: "MatrixCompletion", file: Path, names: list[Any]) -> None:
    """Raise a ValueError if the first line of the file is a pair of labels rather than the names of its columns."""
    from manifill.cli.run_labels import labels_of

    rows, columns = (set(map(str, labels)) for labels in labels_of(model))
    if any(one in rows and other in columns for one, other in permutations(map(str, names[:10]), 2)):
        raise ValueError(f"the first line of {file} is a cell of the run; add a line with the columns' names above it.")


def _labels(model: "MatrixCompletion", file: Path, asked: "Pairs") -> Iterator[list[Any]]:
    """Yield the row labels and the column labels of the pairs; a ValueError names one that the run does not have."""
    from manifill.base import progress
    from manifill.cli.run_labels import by_text, labels_of

    parts = zip(("row", "column"), (asked.rows, asked.cols), labels_of(model), strict=True)
    for noun, labels, known in progress.counted(parts, "looking up labels", 2, "columns", LOOKUP * len(asked.rows)):
        found = by_text(known)
        texts = [str(label) for label in labels.tolist()]
        for record, text in enumerate(texts):
            if text not in found:
                raise ValueError(
                    f"{asked.location(record)} of {file} has the {noun} {labels.tolist()[record]!r}, which is not a "
                    "label of the run; correct it, or remove the line."
                )
        yield [found[text] for text in texts]
