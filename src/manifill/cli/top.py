"""``manifill top``: the best columns for a row among those without an observation."""

from typing import Annotated

import typer

from manifill.cli.console import Console
from manifill.cli.finished_run import load_with_verdict
from manifill.cli.options import AsJson, Quiet, Run, SkipDamaged

__all__ = ["top"]


def top(
    run: Run,
    row: Annotated[str, typer.Option(help="The row's label.")],
    n: Annotated[int, typer.Option("--n", "-n", help="Number of columns to show.")] = 10,
    as_json: AsJson = False,
    skip_damaged: SkipDamaged = False,
    quiet: Quiet = False,
) -> None:
    """Rank the unseen columns of a row by expected value, with the probability that each is among the best n.

    The columns mean and sd are those of `manifill predict`. A value that was held out of the fit is not unseen.

    **Example**

        manifill top run/ --row 42 --n 10
    """
    from manifill.base.progress_display import displayed
    from manifill.cli.run_labels import row_label

    console = Console(quiet=quiet, as_json=as_json)
    with displayed(visible=not quiet):
        model = load_with_verdict(run, console, skip_damaged=skip_damaged)
        label = row_label(model, row)
        frame = model.top(label, n).to_frame()
    console.result(
        frame.to_string(index=False, float_format="{:.3f}".format), {"row": label, "top": frame.to_dict("records")}
    )
