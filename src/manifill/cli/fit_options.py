"""The arguments of ``manifill fit``: their types and help texts."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from manifill.likelihoods.registry import LIKELIHOODS

__all__ = [
    "Chains",
    "Col",
    "ColumnScales",
    "ColumnTransform",
    "Draws",
    "Duplicates",
    "Effects",
    "File",
    "HoldOut",
    "HoldOutBy",
    "IdColumn",
    "Jobs",
    "Lambda",
    "Likelihood",
    "MaxDepth",
    "MaxDraws",
    "MaxMinutes",
    "Missing",
    "Noise",
    "NoisePrior",
    "OffComponents",
    "Offset",
    "Out",
    "Overwrite",
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

COUNT = "INTEGER|auto"

File = Annotated[Path, typer.Argument(help="A .csv, .tsv, .parquet, .mtx or .npz file; text also as .gz.")]

table = partial(typer.Option, rich_help_panel="The table")
Row = Annotated[str | None, table(help="Long table: the column of row labels.")]
Col = Annotated[str | None, table(help="Long table: the column of column labels.")]
Value = Annotated[str | None, table(help="Long table: the column of values.")]
Wide = Annotated[bool | None, table("--wide/--long", help="One line per row, or per cell [default: guessed].")]
IdColumn = Annotated[str | None, table("--id", help="Wide table: the column that names the rows.")]
Duplicates = Annotated[Literal["error", "average"], table(help="What to do with a cell that occurs twice.")]

Missing = Annotated[str | None, table(help="Codes that mean missing, separated by commas, such as -999,NA,-.")]

model = partial(typer.Option, rich_help_panel="The model")
if TYPE_CHECKING:
    LikelihoodName = str
else:
    LikelihoodName = Literal[tuple(LIKELIHOODS)]  # the names in the registry, which Typer checks
Likelihood = Annotated[
    LikelihoodName,
    model(help="; ".join(f"{name} for {entry.values}" for name, entry in LIKELIHOODS.items()).capitalize() + "."),
]
Trials = Annotated[
    int | None, model(help="Binomial: the number of steps from the smallest possible value to the largest.")
]
Step = Annotated[float, model(help="Binomial: the distance between neighbouring values.")]
Offset = Annotated[float, model(help="Binomial: the smallest possible value, such as 1 for stars from 1 to 5.")]
Rank = Annotated[str, model(help="Number of components; auto: found from the data.", metavar=COUNT)]
OffComponents = Annotated[
    Literal["drop", "keep"],
    model(help="Components of a --rank above 16 without which left-out cells are predicted as well: drop, or keep."),
]
Effects = Annotated[bool, model(help="Add a mean and row and column effects.")]
Noise = Annotated[
    Literal["auto", "shared", "row", "column", "both"],
    model(
        help="One noise level for all cells, or one per row, per column, or a factor for each row and each column; "
        "auto: both if --sampler is factors, otherwise shared."
    ),
]
Tails = Annotated[Literal["normal", "student"], model(help="Normal noise, or Student's t, which allows outliers.")]
Sigma = Annotated[float | None, model(help="The noise's standard deviation, if it is known.")]
NoisePrior = Annotated[Literal["paper"] | None, model(help="The paper's prior on the noise.")]
Lambda = Annotated[float | None, model("--lambda", help="The prior rate of the singular values, if it is known.")]
ColumnTransform = Annotated[
    Literal["auto", "sinh-arcsinh", "none"],
    model(help="Make skewed and heavy-tailed columns nearly normal: if that predicts better, always, or never."),
]
ColumnScales = Annotated[
    Literal["auto", "standardize", "none"],
    model(help="Divide columns by their spreads: if these differ widely, always, or never."),
]
Sampler = Annotated[
    Literal["auto", "joint", "gibbs", "factors"],
    model(
        help="Trajectories on Stiefel manifolds, the paper's Gibbs sampler, or Gibbs sweeps over A Bᵀ; auto: factors "
        "if the likelihood is gaussian, otherwise joint."
    ),
]

run = partial(typer.Option, rich_help_panel="The run")
Out = Annotated[Path | None, run(help="Folder for the run [default: FILE-run].")]
Chains = Annotated[int, run(help="Number of independent chains.")]
Warmup = Annotated[
    str, run(help="Warm-up iterations per chain, which are discarded; auto: what suits the sampler.", metavar=COUNT)
]
Draws = Annotated[
    str, run(help="Draws to keep per chain; auto: until predictions are green, within the limits.", metavar=COUNT)
]
MaxDraws = Annotated[int, run(help="Limit of --draws auto: draws per chain.")]
MaxMinutes = Annotated[float | None, run(help="Limit of --draws auto: minutes of sampling [default: none].")]
TargetAcceptance = Annotated[float, run(help="Acceptance rate that warm-up aims for; raise it if draws diverge.")]
MaxDepth = Annotated[int, run(help="Largest number of doublings of a NUTS tree.")]
HoldOut = Annotated[
    str,
    run(
        "--hold-out",
        "--holdout",
        help="Observed cells to check the predictions on, not fitted: a share (5%, 0.05) or a number; 0 for none.",
    ),
]
HoldOutBy = Annotated[
    Literal["cell", "row", "column", "block"],
    run(help="Hold out single cells, whole rows or columns, or the cells that some rows and columns share."),
]

Seed = Annotated[int | None, typer.Option(help="Random seed; the same seed gives the same draws [default: random].")]
Jobs = Annotated[int | None, typer.Option(help="Chains to run at a time [default: all processors].")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the run in --out, if there is one.")]
Resume = Annotated[bool, typer.Option("--resume", help="Resume the run in --out until it has --draws draws.")]
