"""``manifill complete``: the whole matrix, with its missing entries filled in."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from manifill.cli.console import Console
from manifill.cli.finished_run import load_with_verdict
from manifill.cli.options import Quiet, RawLabels, Run, SkipDamaged, TableOut

if TYPE_CHECKING:
    from manifill.estimators.matrix_completion import MatrixCompletion

__all__ = ["complete"]


def complete(
    run: Run,
    out: TableOut = None,
    long: Annotated[
        bool, typer.Option("--long/--wide", help="One line per cell with mean and sd, or the matrix itself.")
    ] = False,
    raw_labels: RawLabels = False,
    skip_damaged: SkipDamaged = False,
    quiet: Quiet = False,
) -> None:
    """Write the whole matrix: observed values unchanged, missing entries filled in with the predictive mean.

    **Example**

        manifill complete run/ --out completed.csv
    """
    from manifill.base.progress_display import displayed
    from manifill.cli.table_output import check_output, output_table

    check_output(out)
    console = Console(quiet=quiet)
    with displayed(visible=not quiet):
        model = load_with_verdict(run, console, skip_damaged=skip_damaged)
        frame = _long(model) if long else _wide(model)
    m, n = model.observations_.shape
    output_table(frame, out, console, f"the {m} x {n} matrix", raw_labels=raw_labels)


def _wide(model: "MatrixCompletion") -> Any:
    """Return the matrix as a DataFrame, (m, 1 + n), with the row labels in its first column."""
    import numpy as np
    import pandas as pd

    from manifill.cli.run_labels import labels_of, layout_of

    mean = np.array(model.complete()[0])
    rows, cols, values = model.observations_.triples()
    mean[rows, cols] = values
    row_labels, column_labels = labels_of(model)
    frame = pd.DataFrame(mean, index=row_labels, columns=column_labels)
    return frame.rename_axis(layout_of(model).row or "row").reset_index()


def _long(model: "MatrixCompletion") -> Any:
    """Return a DataFrame with one line per cell, (m · n, 5): labels, observed value or NaN, mean and sd."""
    import numpy as np
    import pandas as pd

    from manifill.cli.run_labels import labels_of, layout_of

    mean, sd = map(np.asarray, model.complete())
    rows, cols, values = model.observations_.triples()
    observed = np.full(mean.shape, np.nan)
    observed[rows, cols] = values
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
