"""``manifill complete``: the whole matrix, with its missing entries filled in."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manifill.cli.console import Console
from manifill.cli.finished_run import load_with_verdict
from manifill.cli.options import Quiet, RawLabels, Run, SkipDamaged, TableOut

if TYPE_CHECKING:
    from manifill.base.arrays import Matrix
    from manifill.estimators.matrix_completion import MatrixCompletion
    from manifill.problem import Observations

__all__ = ["complete"]


def complete(
    run: Run,
    out: TableOut = None,
    long: Annotated[
        bool, typer.Option("--long/--wide", help="One line per cell with mean and sd, or the matrix itself.")
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(help="Fill in draws instead of means, and write so many tables, for multiple imputation."),
    ] = None,
    raw_labels: RawLabels = False,
    skip_damaged: SkipDamaged = False,
    quiet: Quiet = False,
) -> None:
    """Write the whole matrix: observed values unchanged, missing entries filled in with the predictive mean.

    Values that were held out of the fit are observed values, and also unchanged. With `--draws 20`, twenty matrices
    are written, to `completed-01.csv` and so on, or with `--long` to one file with the column `draw`.

    **Example**

        manifill complete run/ --out completed.csv
    """
    from manifill.base.progress_display import displayed
    from manifill.cli.table_output import check_output, output_table

    console = Console(quiet=quiet)
    if draws is not None:
        _complete_by_draws(run, out, console, draws, long=long, raw_labels=raw_labels, skip_damaged=skip_damaged)
        return
    check_output(out)
    with displayed(visible=not quiet):
        model = load_with_verdict(run, console, skip_damaged=skip_damaged)
        frame = _long(model) if long else _wide(model)
    m, n = model.observations_.shape
    output_table(frame, out, console, f"the {m} x {n} matrix", raw_labels=raw_labels)


def _complete_by_draws(
    run: Path, out: Path | None, console: Console, draws: int, *, long: bool, raw_labels: bool, skip_damaged: bool
) -> None:
    """Write completed matrices with draws in the missing entries, each to a file, or all to one as a long table."""
    from manifill.base.progress_display import displayed
    from manifill.cli.table_output import check_output, output_table

    if draws < 1:
        raise ValueError(f"--draws is the number of completed tables, at least 1, not {draws}.")
    if out is None and not long:
        raise ValueError("--draws writes several tables; name their files with --out, or add --long.")
    files = [out] if out is None or long else _numbered(out, draws)
    for file in files:
        check_output(file)
        if file != out and file is not None and file.exists():  # numbered files are not named by the user
            raise ValueError(f"{file} exists and is not overwritten; remove it, or choose another --out.")
    with displayed(visible=not console.quiet):
        model = load_with_verdict(run, console, skip_damaged=skip_damaged)
        tables = model.impute(draws)
    m, n = model.observations_.shape
    if long:
        content = f"{draws} draws of the {m} x {n} matrix"
        output_table(_long_draws(model, tables), out, console, content, raw_labels=raw_labels)
        return
    for number, (file, table) in enumerate(zip(files, tables, strict=True), start=1):
        content = f"draw {number} of the {m} x {n} matrix"
        output_table(_framed(model, table), file, console, content, raw_labels=raw_labels)


def _numbered(out: Path, count: int) -> list[Path]:
    """Return the names of so many files: completed-01.csv, completed-02.csv, …"""
    digits = len(str(count))
    return [out.with_name(f"{out.stem}-{number:0{digits}}{out.suffix}") for number in range(1, count + 1)]


def _wide(model: "MatrixCompletion") -> Any:
    """Return the matrix with means as a DataFrame, (m, 1 + n), with the row labels in its first column."""
    import numpy as np

    known = model.known_cells_  # reading them is a phase of its own
    mean = np.array(model.complete()[0])
    _write_known(known, mean)
    return _framed(model, mean)


def _framed(model: "MatrixCompletion", matrix: Any) -> Any:
    """Return a matrix as a DataFrame, (m, 1 + n), with the row labels in its first column."""
    import numpy as np
    import pandas as pd

    from manifill.cli.run_labels import labels_of, layout_of

    row_labels, column_labels = labels_of(model)
    frame = pd.DataFrame(np.asarray(matrix), index=row_labels, columns=column_labels)
    return frame.rename_axis(layout_of(model).row or "row").reset_index()


def _long_draws(model: "MatrixCompletion", tables: list[Any]) -> Any:
    """Return completed matrices as one DataFrame with a line per draw and cell."""
    import numpy as np
    import pandas as pd

    from manifill.cli.run_labels import labels_of, layout_of

    row_labels, column_labels = labels_of(model)
    layout, (m, n), count = layout_of(model), model.observations_.shape, len(tables)
    return pd.DataFrame(
        {
            "draw": np.repeat(np.arange(1, count + 1), m * n),
            layout.row or "row": np.tile(np.repeat(row_labels, n), count),
            layout.col or "column": np.tile(column_labels, count * m),
            "value": np.concatenate([np.asarray(table).ravel() for table in tables]),
        }
    )


def _long(model: "MatrixCompletion") -> Any:
    """Return a DataFrame with one line per cell, (m · n, 5): labels, observed value or NaN, mean and sd."""
    import numpy as np
    import pandas as pd

    from manifill.cli.run_labels import labels_of, layout_of

    known = model.known_cells_  # reading them is a phase of its own
    mean, sd = map(np.asarray, model.complete())
    observed = np.full(mean.shape, np.nan)
    _write_known(known, observed)
    row_labels, column_labels = labels_of(model)
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


def _write_known(known: "tuple[Observations, ...]", matrix: "Matrix") -> None:
    """Write the known values into a matrix, (m, n), held-out ones among them."""
    for cells in known:
        rows, cols, values = cells.triples()
        matrix[rows, cols] = values
