"""``manifill predict``, ``complete`` and ``top``: answers from a run."""

import sys
from itertools import permutations
from pathlib import Path
from typing import Annotated, Any

import typer

from manifill.cli.options import AsJson, Quiet, Run
from manifill.cli.words import Voice
from manifill.estimator import MatrixCompletion
from manifill.loading import load
from manifill.tables import Layout, check_destination, read_pairs, write_table

__all__ = ["complete", "predict", "top"]

Out = Annotated[Path | None, typer.Option(help="A .csv, .tsv or .parquet file [default: standard output].")]


def predict(
    run: Run,
    pairs: Annotated[Path, typer.Argument(help="A table with a column of row labels and one of column labels.")],
    interval: Annotated[float, typer.Option(help="Probability that a value lies between the bounds.")] = 0.9,
    out: Out = None,
    quiet: Quiet = False,
) -> None:
    """Predict cells: labels in, labels out, with mean, sd, lower and upper beside them.

    **Example**

        manifill predict run/ pairs.csv --interval 0.9 --out predictions.csv
    """
    voice = Voice(quiet=quiet)
    _check_out(out)
    model = load(run)
    asked = read_pairs(pairs, layout_of(model))
    _check_header(model, pairs, list(asked.frame))
    for sentence in asked.said:
        voice.say(sentence)
    found = model.predict(asked.rows, asked.cols, interval=interval)
    frame = asked.frame.assign(mean=found.mean, sd=found.sd, lower=found.lower, upper=found.upper)
    _give(frame, out, voice, f"{len(frame)} predictions")


def complete(
    run: Run,
    out: Out = None,
    long: Annotated[
        bool, typer.Option("--long/--wide", help="One line a cell with mean and sd, or the matrix itself.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write the whole matrix: what was observed as it was, and the mean where nothing was.

    **Example**

        manifill complete run/ --out completed.csv
    """
    voice = Voice(quiet=quiet)
    _check_out(out)
    model = load(run)
    frame = _long(model) if long else _wide(model)
    m, n = model.observations_.shape
    _give(frame, out, voice, f"the {m} x {n} matrix")


def top(
    run: Run,
    row: Annotated[str, typer.Option(help="The row's label.")],
    n: Annotated[int, typer.Option("--n", "-n", help="How many columns.")] = 10,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Show the best unseen columns for a row, with the probability that each is among the best n.

    **Example**

        manifill top run/ --row 42 --n 10
    """
    model = load(run)
    label = _label(model, row)
    best = model.top(label, n)
    frame = best.to_frame()
    Voice(quiet=quiet, as_json=as_json).tell(
        frame.to_string(index=False, float_format="{:.3f}".format), {"row": label, "top": frame.to_dict("records")}
    )


def _check_header(model: MatrixCompletion, file: Path, names: list[Any]) -> None:
    """Refuse a file whose first line is not the names of its columns but a pair already."""
    row, col = (set(map(str, labels)) for labels in _labels(model))
    if any(one in row and other in col for one, other in permutations(map(str, names[:10]), 2)):
        raise ValueError(f"the first line of {file} names a cell of the run; write the columns' names above it.")


def layout_of(model: MatrixCompletion) -> Layout:
    """Return how the table of a run was read; a run made in Python has rows and columns in that order."""
    saved = model.posterior_.attributes.get("layout")
    return Layout("long") if saved is None else Layout.from_json(saved)


def _label(model: MatrixCompletion, text: str) -> Any:
    """Return a label as the fit has it: a number where rows have numbers."""
    if layout_of(model).row_labels != "integer":
        return text
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"--row {text} is no label of this run, whose rows are whole numbers.") from None


def _labels(model: MatrixCompletion) -> tuple[Any, Any]:
    """Return the labels of rows and columns, numbers where there are none."""
    observations = model.observations_
    given = zip((observations.row_labels, observations.column_labels), observations.shape, strict=True)
    rows, columns = (range(size) if labels is None else labels for labels, size in given)
    return rows, columns


def _wide(model: MatrixCompletion) -> Any:
    """Return the matrix as a DataFrame, rows named in its first column."""
    import pandas as pd

    mean, _ = model.complete()
    rows, cols, values = model.observations_.triples()
    mean[rows, cols] = values
    row_labels, column_labels = _labels(model)
    frame = pd.DataFrame(mean, index=row_labels, columns=column_labels)
    return frame.rename_axis(layout_of(model).row or "row").reset_index()


def _long(model: MatrixCompletion) -> Any:
    """Return a line for each cell: labels, mean, sd, and the value where there is one."""
    import numpy as np
    import pandas as pd

    mean, sd = model.complete()
    rows, cols, values = model.observations_.triples()
    observed = np.full(mean.shape, np.nan)
    observed[rows, cols] = values
    row_labels, column_labels = _labels(model)
    layout, (m, n) = layout_of(model), mean.shape
    return pd.DataFrame(
        {
            layout.row or "row": np.repeat(np.asarray(row_labels), n),
            layout.col or "column": np.tile(np.asarray(column_labels), m),
            "observed": observed.ravel(),
            "mean": mean.ravel(),
            "sd": sd.ravel(),
        }
    )


def _check_out(out: Path | None) -> None:
    """Refuse a file that cannot be written before the work is done."""
    if out is not None:
        check_destination(out)


def _give(frame: Any, out: Path | None, voice: Voice, what: str) -> None:
    """Write a table to a file, or to standard output."""
    if out is None:
        frame.to_csv(sys.stdout, index=False)
        return
    write_table(frame, out)
    voice.say(f"{what} written to {out}")
