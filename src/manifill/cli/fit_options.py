"""The arguments of ``manifill fit``: their types, and what its help says of them."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

__all__ = [
    "DEFAULT_RANK",
    "Chains",
    "Col",
    "ColumnScales",
    "Draws",
    "Duplicates",
    "Effects",
    "File",
    "Holdout",
    "IdColumn",
    "Jobs",
    "Lambda",
    "Likelihood",
    "MaxDepth",
    "Noise",
    "NoisePrior",
    "Out",
    "Rank",
    "Resume",
    "Row",
    "Sampler",
    "Seed",
    "Sigma",
    "Step",
    "TargetAcceptance",
    "Trials",
    "Value",
    "Warmup",
    "Wide",
]

DEFAULT_RANK = 10

File = Annotated[Path, typer.Argument(help="A .csv, .tsv, .parquet, .mtx or .npz file; .gz is fine.")]

table = partial(typer.Option, rich_help_panel="The table")
Row = Annotated[str | None, table(help="Long table: the column of row labels.")]
Col = Annotated[str | None, table(help="Long table: the column of column labels.")]
Value = Annotated[str | None, table(help="Long table: the column of values.")]
Wide = Annotated[bool | None, table("--wide/--long", help="A matrix with empty cells, or one line a cell.")]
IdColumn = Annotated[str | None, table("--id", help="Wide table: the column that names the rows.")]
Duplicates = Annotated[Literal["error", "average"], table(help="What to do with a cell given twice.")]

model = partial(typer.Option, rich_help_panel="The model")
Likelihood = Annotated[
    Literal["gaussian", "softplus", "binomial"], model(help="Real numbers, positive ones, or counts and ratings.")
]
Trials = Annotated[int | None, model(help="Binomial: the largest value divided by --step.")]
Step = Annotated[float, model(help="Binomial: values are multiples of this.")]
Rank = Annotated[int | None, model(help=f"Number of components [default: {DEFAULT_RANK}].")]
Effects = Annotated[bool, model(help="A mean, row and column effects beside them.")]
Noise = Annotated[Literal["shared", "column"], model(help="One noise, or one for each column.")]
Sigma = Annotated[float | None, model(help="The noise's standard deviation, where it is known.")]
NoisePrior = Annotated[Literal["paper"] | None, model(help="The paper's prior of the noise.")]
Lambda = Annotated[float | None, model("--lambda", help="The rate of the singular values, where it is known.")]
ColumnScales = Annotated[
    Literal["auto", "standardize", "none"],
    model(help="Divide columns by their spreads: where these differ widely, always, or never."),
]
Sampler = Annotated[
    Literal["joint", "gibbs", "factors"], model(help="How to sample; the others are the paper's and its baseline.")
]

run = partial(typer.Option, rich_help_panel="The run")
Out = Annotated[Path | None, run(help="Folder for the run [default: FILE-run].")]
Chains = Annotated[int, run(help="Independent chains.")]
Warmup = Annotated[int, run(help="Iterations of each to learn from.")]
Draws = Annotated[int, run(help="Iterations of each to keep.")]
TargetAcceptance = Annotated[float, run(help="Acceptance that warm-up aims at; raise it when draws diverge.")]
MaxDepth = Annotated[int, run(help="Doublings after which a tree of NUTS ends.")]
Holdout = Annotated[float, run(help="Share of the observed cells to keep back and judge the fit by.")]

Seed = Annotated[int | None, typer.Option(help="Of everything random; the same gives the same.")]
Jobs = Annotated[int | None, typer.Option(help="Chains to run at a time [default: all processors].")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the run in --out until it has --draws.")]
