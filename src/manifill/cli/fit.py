"""``manifill fit``: from a file to a run directory."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from manifill.base.wording import as_argument, counted
from manifill.cli import fit_options
from manifill.cli.command_words import in_command_words, parse_codes, parse_count, parse_size
from manifill.cli.console import Console
from manifill.cli.fit_result import conclude
from manifill.cli.hold_out import HoldOut, hold_out_before, parse_hold_out
from manifill.cli.options import AsJson, MaxSize, Quiet, Strict

if TYPE_CHECKING:
    from manifill.estimators.matrix_completion import MatrixCompletion
    from manifill.problem import Observations
    from manifill.run.folder import RunFolder, Start
    from manifill.tables import Table

__all__ = ["fit"]

SECONDS_TO_DIVIDE = 4e-7  # the training cells from the held-out ones, per cell; a guess


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
    missing: fit_options.Missing = None,
    max_size: MaxSize = None,
    likelihood: fit_options.Likelihood = "gaussian",
    trials: fit_options.Trials = None,
    step: fit_options.Step = 1.0,
    offset: fit_options.Offset = 0.0,
    rank: fit_options.Rank = "auto",
    off_components: fit_options.OffComponents = "drop",
    effects: fit_options.Effects = True,
    noise: fit_options.Noise = "auto",
    tails: fit_options.Tails = "normal",
    sigma: fit_options.Sigma = None,
    noise_prior: fit_options.NoisePrior = None,
    lambda_: fit_options.Lambda = None,
    column_scales: fit_options.ColumnScales = "auto",
    column_transform: fit_options.ColumnTransform = "auto",
    sampler: fit_options.Sampler = "auto",
    chains: fit_options.Chains = 4,
    warmup: fit_options.Warmup = "auto",
    draws: fit_options.Draws = "auto",
    max_draws: fit_options.MaxDraws = 4000,
    max_minutes: fit_options.MaxMinutes = None,
    target_acceptance: fit_options.TargetAcceptance = 0.8,
    max_depth: fit_options.MaxDepth = 10,
    hold_out: fit_options.HoldOut = "5%",
    hold_out_by: fit_options.HoldOutBy = "cell",
    seed: fit_options.Seed = None,
    jobs: fit_options.Jobs = None,
    resume: fit_options.Resume = False,
    overwrite: fit_options.Overwrite = False,
    strict: Strict = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Fit a table with missing entries and save the run.

    **Examples**

        manifill fit table.csv

        manifill fit ratings.csv --row userId --col movieId --value rating --likelihood binomial --trials 9 --step 0.5
        --offset 0.5 --out run/

        manifill fit wide.csv --wide --id MouseID --likelihood softplus --out run/

        manifill fit wide.csv --out run/ --resume --draws 2000

        manifill fit wide.csv --out run/ --overwrite
    """
    from manifill.base import progress
    from manifill.base.progress_display import displayed
    from manifill.cli.input_table import TableOptions, input_table
    from manifill.estimators.draw_arguments import choose_draws
    from manifill.estimators.matrix_completion import MatrixCompletion
    from manifill.run.folder import RunFolder, Start
    from manifill.run.resume import attributes_to_resume, recover
    from manifill.run.split import divided_as_before
    from manifill.tables import likely_cells

    console = Console(quiet=quiet, as_json=as_json)
    choose_draws(parse_count(draws), max_draws, max_minutes)  # may raise an error, before a large table is read
    given = any(_was_given(context, name) for name in ("hold_out", "hold_out_by"))
    held = parse_hold_out(hold_out, hold_out_by, is_default=not given)
    folder = RunFolder(out if out is not None else Path(f"{_stem(file)}-run"))
    start = Start.of(resume=resume, overwrite=overwrite)
    folder.check(start)
    recover(folder)
    before = attributes_to_resume(folder) if resume else None
    codes, max_bytes = tuple(parse_codes(missing)), parse_size(max_size)
    options = TableOptions(wide, row, col, value, id_column, codes, duplicates, max_bytes)
    lengths: dict[str, Any] = {"rank": rank, "warmup": warmup, "draws": draws}
    lengths = {name: parse_count(given) for name, given in lengths.items()} | {
        "chains": chains,
        "jobs": jobs,
        "sampler": sampler,
    }
    rest = partial(_seconds_after_reading, lengths)
    with displayed(visible=not quiet), progress.followed_by(rest(likely_cells(file))):
        table = input_table(file, options, before, console)
    settings: dict[str, Any] = {
        "rank": parse_count(rank),
        "off_components": off_components,
        "likelihood": likelihood,
        "trials": trials,
        "step": step,
        "offset": offset,
        "sampler": sampler,
        "effects": "additive" if effects else None,
        "noise": noise,
        "tails": tails,
        "sigma": sigma,
        "noise_prior": noise_prior,
        "lambda_": lambda_,
        "column_scales": None if column_scales == "none" else column_scales,
        "column_transform": None if column_transform == "none" else column_transform,
        "duplicates": duplicates,
        "chains": chains,
        "warmup": parse_count(warmup),
        "draws": parse_count(draws),
        "max_draws": max_draws,
        "max_minutes": max_minutes,
        "target_acceptance": target_acceptance,
        "max_depth": max_depth,
        "seed": seed,
    }
    if before is not None:
        settings, held = _as_before(context, folder, before, settings, held)
    else:
        settings["seed"] = secrets.randbits(32) if seed is None else seed
    with displayed(visible=not quiet), progress.followed_by(rest(table.observations.size)):
        progress.begin("holding out cells", guess=SECONDS_TO_DIVIDE * table.observations.size)
        if before is not None:
            split = divided_as_before(folder, before, table.observations)
        else:
            split = held.divide(table.observations, settings["seed"])
    model = MatrixCompletion(**settings, path=folder.path, jobs=jobs, progress=not quiet)
    _fit(model, table, split, file, held, start=start, console=console)
    conclude(model, split[1], folder, console, strict=strict)


def _seconds_after_reading(lengths: dict[str, Any], cells: int) -> float:
    """Return a guess of the seconds from the table to the end of the fit."""
    from manifill.run.time_guess import chain_seconds, checking_seconds

    return checking_seconds(cells) + chain_seconds(cells, **lengths)


def _stem(file: Path) -> str:
    """Return a file's name without its extensions."""
    return file.name.removesuffix(".gz").rpartition(".")[0] or file.name


def _as_before(
    context: typer.Context, folder: RunFolder, before: dict[str, Any], settings: dict[str, Any], held: HoldOut
) -> tuple[dict[str, Any], HoldOut]:
    """Return the settings of the resumed run, overridden by those given on the command line."""
    stored = settings | before["settings"]  # runs of earlier versions do not have all settings
    kept = {name: stored[name] for name in settings if not _was_given(context, name)}
    held_before = hold_out_before(before)
    for option, now, then in (("hold_out", held.amount, held_before.amount), ("hold_out_by", held.by, held_before.by)):
        if _was_given(context, option) and now != then:
            raise ValueError(
                f"the held-out cells of {folder.path} were chosen when the run was started; leave "
                f"--{option.replace('_', '-')} out, or choose another folder."
            )
    if _was_given(context, "draws") and isinstance(settings["draws"], int):
        _check_longer(folder, before, settings["draws"])
        kept.pop("max_minutes", None)  # a limit of --draws auto
    return settings | kept, held_before


def _check_longer(folder: RunFolder, before: dict[str, Any], draws: int) -> None:
    """Raise a ValueError if a run would be shortened."""
    from manifill.run.resume import least_draws

    least = least_draws(folder, before)
    if draws < least:
        has = "has" if before["settings"]["draws"] == "auto" else "already has"
        requested = "" if before["settings"]["draws"] == "auto" else " requested"
        raise ValueError(
            f"{folder.path} {has} {counted(least, 'draw')} per chain{requested}, and a run is never shortened; give a "
            "larger --draws, or leave it out."
        )


def _was_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _fit(
    model: MatrixCompletion,
    table: Table,
    split: tuple[Observations, Observations | None],
    file: Path,
    held: HoldOut,
    *,
    start: Start,
    console: Console,
) -> None:
    from manifill.base.progress_display import displayed
    from manifill.estimators.matrix_completion import ConvergenceWarning
    from manifill.run.folder import Start

    train, held_out = split
    m, n = train.shape
    size = table.observations.size
    console.note(
        f"{m} x {n} matrix, {counted(size, 'cell')} observed ({size / (m * n):.2%}), {held.describe(held_out)}; "
        f"seed {model.seed}; the run is written to {model.path}"
    )
    hold_out = {"amount": held.amount, "by": held.by}
    about = {"file": file.name, "layout": asdict(table.layout), "hold_out": hold_out}
    resume, overwrite = start is Start.RESUME, start is Start.OVERWRITE
    with warnings.catch_warnings(), _saying_how_to_continue(file, Path(model.path or ""), resume=resume):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict is printed
        with displayed(visible=not console.quiet, words=in_command_words):
            model.fit(train, held_out=held_out, resume=resume, overwrite=overwrite, about=about)


@contextmanager
def _saying_how_to_continue(file: Path, run: Path, *, resume: bool) -> Iterator[None]:
    """Add to the message of an interrupt, or of a killed chain, the command that continues the run, if it has begun.

    A run that was to be replaced, and is still there, is another one.
    """
    from manifill.base.errors import ChainsKilledError
    from manifill.run.folder import RunFolder

    before = _identity(RunFolder(run).manifest)
    remedy = f"`manifill fit {as_argument(file)} --out {as_argument(run)} --resume` continues"
    try:
        yield
    except ChainsKilledError as error:
        raise ChainsKilledError(error.killed, remedy) from None
    except KeyboardInterrupt as interrupt:
        message = str(interrupt) or "interrupted"
        is_begun = RunFolder(run).draws.exists() and (resume or _identity(RunFolder(run).manifest) != before)
        raise type(interrupt)(f"{message}; {remedy}" if is_begun else message) from None


def _identity(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from one that replaced it, or None if there is none."""
    if not file.exists():
        return None
    found = file.stat()
    return found.st_ino, found.st_mtime_ns
