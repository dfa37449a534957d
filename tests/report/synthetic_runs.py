"""Synthetic runs: draws scattered around a known matrix, made without a sampler."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manifill import Binomial, MatrixCompletion, Observations
from manifill.base.arrays import Array, Generator
from manifill.estimators.loading import load
from manifill.posterior import Draws, Variable
from manifill.problem.column_units import ColumnUnits
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from manifill.run.observations_file import save_observations
from manifill.run.provenance import fingerprint

SCATTER, NOISE = 0.05, 0.5


def synthetic_run(
    folder: Path,
    shape: tuple[int, int] = (24, 15),
    rank: int = 2,
    chains: int = 4,
    draws: int = 200,
    observed: float = 0.5,
    held_out: float | None = 0.2,
    scales: Array | None = None,
    labels: tuple[Array | None, Array | None] = (None, None),
    level: float = 5.0,
    stuck: float = 0.0,
    nuisance: float = 0.0,
    attributes: dict[str, Any] | None = None,
    **settings: Any,
) -> Path:
    """Write a run whose chains differ by ``stuck`` in every cell, and by ``nuisance`` in their log density.

    If ``stuck`` is 0, the draws are consistent with the data.
    """
    rng = np.random.default_rng(0)
    m, n = shape
    variables = _variables(m, n, rank)
    posterior = _posterior(rng, variables, chains, draws)
    posterior["mu"] += level + stuck * np.arange(chains)[:, None]
    truth = _mean_matrix(posterior) * (1.0 if scales is None else scales)
    rows, cols = np.nonzero(rng.random(shape) < observed)
    noise = NOISE if scales is None else NOISE * scales[cols]
    if settings.get("likelihood") == "binomial":
        values = Binomial(settings["trials"], settings["step"]).sample(rng, truth[rows, cols], {}).round(9)
    else:
        values = truth[rows, cols] + noise * rng.normal(size=rows.size)
    seen = Observations.from_triples(rows, cols, values, shape, row_labels=labels[0], column_labels=labels[1])
    if held_out is not None:
        seen, hidden = seen.split(rng, held_out)
    fixed: dict[str, Any] = {"sampler": "joint", "chains": chains, "draws": draws, "seed": 0, "progress": False}
    model = MatrixCompletion(rank=rank, **(fixed | settings))
    about = {
        "settings": model.get_params(),
        "seed": 0,
        "fingerprint": fingerprint(seen),
        "versions": {"manifill": "0"},
        **replace(model._resolve(seen, 0), units=ColumnUnits.divided_by(1.0 if scales is None else scales)).to_json(),
        **(attributes or {}),
    }
    lp = rng.normal(size=(chains, draws)) + nuisance * np.arange(chains)[:, None]
    statistics = {"lp": lp, "diverging": np.zeros((chains, draws))}
    run = RunFolder(folder)
    folder.mkdir(parents=True)
    save_observations(run.data, seen)
    if held_out is not None:
        save_observations(run.held_out, hidden)
    Draws(variables, posterior, statistics, {}, about).save(run.draws)
    write_manifest(run)
    return folder


def synthetic_model(folder: Path, **options: Any) -> MatrixCompletion:
    """Return a synthetic run as a fitted model."""
    return load(synthetic_run(folder, **options))


def _variables(m: int, n: int, rank: int) -> tuple[Variable, ...]:
    return (
        Variable("U", ("row", "component"), (m, rank)),
        Variable("V", ("column", "component"), (n, rank)),
        Variable("column_effect", ("column",), (n,)),
        Variable("mu", (), ()),
        Variable("row_effect", ("row",), (m,)),
        Variable("s", ("component",), (rank,)),
        Variable("sigma", (), ()),
    )


def _posterior(rng: Generator, variables: tuple[Variable, ...], chains: int, draws: int) -> dict[str, Array]:
    centres = {v.name: rng.normal(size=v.shape) for v in variables}
    centres |= {"mu": np.array(0.0), "s": 4.0 / np.arange(1, centres["s"].size + 1)}
    found: dict[str, Array] = {
        v.name: (centres[v.name] + SCATTER * rng.normal(size=(chains, draws, *v.shape))).astype(np.float32)
        for v in variables
    }
    found["sigma"] = NOISE * np.exp(0.1 * rng.normal(size=(chains, draws)))
    return found


def _mean_matrix(posterior: dict[str, Array]) -> Array:
    """Return the matrix of the first draw."""
    U, s, V = (posterior[name][0, 0] for name in "UsV")
    row, column = posterior["row_effect"][0, 0], posterior["column_effect"][0, 0]
    return np.asarray((U * s) @ V.T + posterior["mu"][0, 0] + row[:, None] + column)
