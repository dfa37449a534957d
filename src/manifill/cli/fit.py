"""``manifill fit``: from a file to a run directory."""

from __future__ import annotations

import secrets
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from manifill.cli import fit_options
from manifill.cli.console import CommandExit, Console, ExitCode
from manifill.cli.options import AsJson, Quiet

if TYPE_CHECKING:
    from manifill.estimators.matrix_completion import MatrixCompletion
    from manifill.problem import Observations
    from manifill.run.folder import RunFolder
    from manifill.tables import Table

__all__ = ["fit"]


def fit(
    context: typer.Context,
    file: fit_options.File,
    out: fit_options.Out = None,
    row: fit_options.Row = None,
    col: fit_options.Col = None,
    value: fit_options.Value = None,
    wide: fit_options.Wide = None,
    id_column: fit_options.IdColumn = None,
    duplicates: fit_options.Duplicates = "error",
    likelihood: fit_options.Likelihood = "gaussian",
    trials: fit_options.Trials = None,
    step: fit_options.Step = 1.0,
    rank: fit_options.Rank = None,
    effects: fit_options.Effects = True,
    noise: fit_options.Noise = "shared",
    sigma: fit_options.Sigma = None,
    noise_prior: fit_options.NoisePrior = None,
    lambda_: fit_options.Lambda = None,
    column_scales: fit_options.ColumnScales = "auto",
    sampler: fit_options.Sampler = "joint",
    chains: fit_options.Chains = 4,
    warmup: fit_options.Warmup = 500,
    draws: fit_options.Draws = 1000,
    target_acceptance: fit_options.TargetAcceptance = 0.8,
    max_depth: fit_options.MaxDepth = 10,
    holdout: fit_options.Holdout = 0.05,
    seed: fit_options.Seed = None,
    jobs: fit_options.Jobs = None,
    resume: fit_options.Resume = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fit a table with missing entries and save the run.

    **Examples**

        manifill fit table.csv

        manifill fit ratings.csv --row userId --col movieId --value rating --likelihood binomial --trials 10 --step 0.5
        --rank 20 --out run/

        manifill fit wide.csv --wide --id MouseID --likelihood softplus --out run/

        manifill fit wide.csv --out run/ --resume --draws 2000
    """
    from manifill.estimators.matrix_completion import MatrixCompletion
    from manifill.run.folder import RunFolder
    from manifill.run.resume import attributes_to_resume
    from manifill.run.split import divided_as_before
    from manifill.tables import read_table

    console = Console(quiet=quiet, as_json=as_json)
    folder = RunFolder(out if out is not None else Path(f"{_stem(file)}-run"))
    folder.check_free(resume=resume)
    table = read_table(file, wide=wide, row=row, col=col, value=value, id_column=id_column, duplicates=duplicates)
    for sentence in table.notes:
        console.note(sentence)
    settings: dict[str, Any] = {
        "rank": rank if rank is not None else min(fit_options.DEFAULT_RANK, *table.observations.shape),
        "likelihood": likelihood,
        "trials": trials,
        "step": step,
        "sampler": sampler,
        "effects": "additive" if effects else None,
        "noise": noise,
        "sigma": sigma,
        "noise_prior": noise_prior,
        "lambda_": lambda_,
        "column_scales": None if column_scales == "none" else column_scales,
        "duplicates": duplicates,
        "chains": chains,
        "warmup": warmup,
        "draws": draws,
        "target_acceptance": target_acceptance,
        "max_depth": max_depth,
        "seed": seed,
    }
    before = attributes_to_resume(folder) if resume else None
    if before is not None:
        settings, holdout = _as_before(context, folder, before, settings, holdout)
        split = divided_as_before(folder, before, table.observations)
    else:
        settings["seed"] = secrets.randbits(32) if seed is None else seed
        split = _split(table.observations, holdout, settings["seed"])
    model = MatrixCompletion(**settings, path=folder.path, jobs=jobs, progress=not quiet)
    console.show_log("manifill")  # messages of the estimator, such as that columns are scaled
    _fit(model, table, split, file, holdout, resume=resume, console=console)
    _conclude(model, folder, console)


def _stem(file: Path) -> str:
    """Return a file's name without its extensions."""
    return file.name.removesuffix(".gz").rpartition(".")[0] or file.name


def _as_before(
    context: typer.Context, folder: RunFolder, before: dict[str, Any], settings: dict[str, Any], holdout: float
) -> tuple[dict[str, Any], float]:
    """Return the settings of the resumed run, overridden by those given on the command line."""
    kept = {name: before["settings"][name] for name in settings if not _was_given(context, name)}
    if _was_given(context, "holdout") and holdout != before.get("holdout", 0.0):
        raise ValueError(
            f"the held-out cells of {folder.path} were chosen when the run was started; leave --holdout out, or choose "
            "another folder."
        )
    holdout = before.get("holdout", 0.0)
    if settings["draws"] < before["settings"]["draws"] and _was_given(context, "draws"):
        raise ValueError(
            f"{folder.path} already has {before['settings']['draws']} draws per chain requested, and a run is never "
            "shortened; give a larger --draws, or leave it out."
        )
    return settings | kept, holdout


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _fit(
    model: MatrixCompletion,
    table: Table,
    split: tuple[Observations, Observations | None],
    file: Path,
    holdout: float,
    *,
    resume: bool,
    console: Console,
) -> None:
    from manifill.estimators.matrix_completion import ConvergenceWarning
    from manifill.run.split import LEAST_TO_HOLD_OUT

    train, held_out = split
    m, n = train.shape
    kept_back = f"{0 if held_out is None else held_out.size} of them held out"
    if held_out is None and holdout > 0.0:
        kept_back = f"none of them held out, since there are fewer than {LEAST_TO_HOLD_OUT}"
    console.note(
        f"{m} x {n} matrix, {table.observations.size} cells observed ({table.observations.size / (m * n):.2%}), "
        f"{kept_back}; rank {model.rank}, seed {model.seed}; the run is written to {model.path}"
    )
    about = {"file": file.name, "layout": asdict(table.layout), "holdout": holdout}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict is printed
        model.fit(train, held_out=held_out, resume=resume, about=about)


def _split(observations: Observations, share: float, seed: int) -> tuple[Observations, Observations | None]:
    """Return the training cells and the held-out cells."""
    from manifill.run.split import choose_held_out

    if not 0.0 <= share < 1.0:
        raise ValueError(f"--holdout is a fraction of the observed cells, at least 0 and below 1, not {share:g}.")
    return choose_held_out(observations, share, seed)


def _conclude(model: MatrixCompletion, folder: RunFolder, console: Console) -> None:
    """Print the result and exit with the matching code."""
    posterior, diagnostics = model.posterior_, model.diagnostics_
    interrupted = (posterior.chains, posterior.draws) != (model.chains, posterior.attributes["settings"]["draws"])
    facts = {
        "run": str(folder.path),
        "chains": posterior.chains,
        "draws": posterior.draws,
        "interrupted": interrupted,
        "converged": diagnostics.converged,
        "verdict": diagnostics.verdict,
    }
    if interrupted:
        kept = f"interrupted: {posterior.draws} draws of {posterior.chains} chains are in {folder.path}"
        console.result(f"{kept}; continue with --resume", facts)
        raise CommandExit(ExitCode.INTERRUPTED)
    console.result(f"{diagnostics.verdict}\nNext: manifill report {folder.path}", facts)
    if not diagnostics.converged:
        raise CommandExit(ExitCode.NOT_CONVERGED)
