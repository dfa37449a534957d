"""``manifill fit``: from a file to a run directory."""

import secrets
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import typer

from manifill.cli import fit_options
from manifill.cli.options import AsJson, Quiet
from manifill.cli.words import INTERRUPTED, NOT_CONVERGED, EndWith, Voice
from manifill.estimator import ConvergenceWarning, MatrixCompletion
from manifill.posterior import is_store, store_attributes
from manifill.problem import Observations
from manifill.runs import RunFolder, save_observations
from manifill.tables import Table, read_table

__all__ = ["fit"]

# Fewer observed cells than this are all needed for the fit.
LEAST_TO_HOLD_OUT = 200

# The spawn key of the generator that picks held-out cells; chains have 0, 1, ….
HOLDOUT_KEY = (1 << 30) + 2


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
    """Fit a table with holes, and keep the run.

    **Examples**

        manifill fit table.csv

        manifill fit ratings.csv --row userId --col movieId --value rating --likelihood binomial --trials 10 --step 0.5
        --rank 20 --out run/

        manifill fit wide.csv --wide --id MouseID --likelihood softplus --out run/

        manifill fit wide.csv --out run/ --resume --draws 2000
    """
    voice = Voice(quiet=quiet, as_json=as_json)
    folder = RunFolder(out if out is not None else Path(f"{_stem(file)}-run"))
    folder.check_free(resume=resume)
    table = read_table(file, wide=wide, row=row, col=col, value=value, id_column=id_column, duplicates=duplicates)
    for sentence in table.said:
        voice.say(sentence)
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
    if resume and is_store(folder.draws):
        settings, holdout = _as_before(context, folder, settings, holdout)
    elif seed is None:
        settings["seed"] = secrets.randbits(32)
    model = MatrixCompletion(**settings, path=folder.path, jobs=jobs, progress=not quiet)
    voice.pass_on("manifill")  # what the estimator notes, such as columns that it scales
    _fit(model, table, folder, file, holdout, resume=resume, voice=voice)
    _conclude(model, folder, voice)


def _stem(file: Path) -> str:
    """Return a file's name without its extensions."""
    return file.name.removesuffix(".gz").rpartition(".")[0] or file.name


def _as_before(
    context: typer.Context, folder: RunFolder, settings: dict[str, Any], holdout: float
) -> tuple[dict[str, Any], float]:
    """Return the settings of a run that goes on, but for those that were given on the command line."""
    before = store_attributes(folder.draws)
    kept = {name: before["settings"][name] for name in settings if not _was_given(context, name)}
    if not _was_given(context, "holdout"):
        holdout = before.get("holdout", holdout)
    if settings["draws"] < before["settings"]["draws"] and _was_given(context, "draws"):
        raise ValueError(
            f"{folder.path} asks for {before['settings']['draws']} draws already, and a run is never cut; give --draws "
            "above that, or leave it out."
        )
    return settings | kept, holdout


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _fit(
    model: MatrixCompletion,
    table: Table,
    folder: RunFolder,
    file: Path,
    holdout: float,
    *,
    resume: bool,
    voice: Voice,
) -> None:
    train, held_out = _split(table.observations, holdout, model.seed)
    m, n = train.shape
    kept_back = f"{0 if held_out is None else held_out.size} of them held out"
    if held_out is None and holdout > 0.0:
        kept_back = f"none of them held out, since there are fewer than {LEAST_TO_HOLD_OUT}"
    voice.say(
        f"{m} x {n} matrix, {table.observations.size} cells observed ({table.observations.size / (m * n):.2%}), "
        f"{kept_back}; rank {model.rank}, seed {model.seed}; the run goes to {folder.path}"
    )
    about = {"file": file.name, "layout": asdict(table.layout), "holdout": holdout}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict is said
        model.fit(train, resume=resume, about=about)
    if held_out is not None:
        save_observations(folder.held_out, held_out)


def _split(observations: Observations, share: float, seed: int | None) -> tuple[Observations, Observations | None]:
    """Return the cells to fit and those to judge by."""
    if not 0.0 <= share < 1.0:
        raise ValueError(f"--holdout is a share of the observed cells, at least 0 and below 1, not {share:g}.")
    if share == 0.0 or observations.size < LEAST_TO_HOLD_OUT:
        return observations, None
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(HOLDOUT_KEY,)))
    return observations.split(rng, share)


def _conclude(model: MatrixCompletion, folder: RunFolder, voice: Voice) -> None:
    """Say what came out, and end with the code that fits it."""
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
        voice.tell(f"{kept}; --resume goes on", facts)
        raise EndWith(INTERRUPTED)
    voice.tell(f"{diagnostics.verdict}\nNext: manifill report {folder.path}", facts)
    if not diagnostics.converged:
        raise EndWith(NOT_CONVERGED)
