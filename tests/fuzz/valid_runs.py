"""Small valid runs, from which cases are made: fitted once per process."""

import tempfile
import warnings
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zarr

from manifill import ConvergenceWarning, MatrixCompletion
from manifill.posterior import zarr_store
from manifill.problem import Observations, from_array
from manifill.run.chains_to_draws import Request
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from manifill.run.split import choose_held_out
from tests.estimators.tables import low_rank_table
from tests.fuzz.trials import SCRATCH
from tests.run.runs import files_of, make_older

__all__ = ["ValidRun", "valid_run"]

TEXT = np.array(["ann", "bob", "=c()", "d", "eve", "fay"], dtype=object), np.array(["x", "y y", "z", "0"], dtype=object)
NUMBERS = np.array([7, 30, 2, 11, 5, 8]), np.array([10, 20, 30, 25])
LAYOUT = {"kind": "long", "row": "userId", "col": "movieId", "value": "rating"}


class ValidRun(NamedTuple):
    """The files of a run, by name, and what it takes to resume it."""

    files: dict[str, bytes]
    table: Observations
    request: Request
    has_checksums: bool = True


def _table(labels: tuple[Any, Any] | tuple[None, None]) -> Observations:
    """Return a table of whole numbers from 0 to 6 with missing cells."""
    values = np.clip(np.round(low_rank_table(6, 4, 1)[1] + 3.0), 0.0, 6.0)
    rows, cols, cells = from_array(values).triples()
    return Observations.from_triples(rows, cols, cells, (6, 4), row_labels=labels[0], column_labels=labels[1])


def _fit(
    labels: tuple[Any, Any] | tuple[None, None] = (None, None),
    *,
    hold_out: bool = False,
    older: bool = False,
    about: Mapping[str, Any] | None = None,
    **settings: Any,
) -> ValidRun:
    table = _table(labels)
    observations, held_out = choose_held_out(table, 2 if hold_out else 0, 3, "cell", 0)
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=SCRATCH) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        path = Path(folder, "run")
        parameters: dict[str, Any] = {"rank": 1, "sampler": "factors", "seed": 3, "jobs": 1, "progress": False}
        model = MatrixCompletion(**{**parameters, **settings}, path=path)
        request = model._request(observations, held_out, about)
        model.fit(observations, held_out=held_out, about=about)
        _forget_times_and_path(path)
        if older:
            make_older(path)
        files = {file.relative_to(path).as_posix(): content for file, content in sorted(files_of(path).items())}
    return ValidRun(files, table, request, has_checksums=not older)


def _forget_times_and_path(path: Path) -> None:
    """Replace what the seed does not determine, so that a case is the same in every process."""
    root = zarr.open_group(path / "draws.zarr", mode="r+")
    for group in ("sample_stats", "warmup_sample_stats"):
        if group in root:
            root[f"{group}/process_time_diff"][:] = 0.001  # type: ignore[index]
    root.attrs["settings"] = {**root.attrs["settings"], "path": "run"}  # type: ignore[dict-item]
    write_manifest(RunFolder(path))


# Mostly of the sampler with the fewest arrays, since the time of a case is that of opening them.
RUNS = {
    "small": partial(_fit, chains=1, warmup=0, draws=5),
    "two chains": partial(
        _fit, NUMBERS, chains=2, warmup=2, draws=5, hold_out=True, about={"file": "t.csv", "layout": LAYOUT}
    ),
    "scaled": partial(_fit, TEXT, chains=2, warmup=0, draws=6, column_scales="standardize"),
    "older": partial(_fit, TEXT, chains=2, warmup=0, draws=5, older=True),
    "effects": partial(_fit, TEXT, sampler="joint", chains=1, warmup=2, draws=5, hold_out=True),
    "binomial": partial(
        _fit, NUMBERS, sampler="joint", likelihood="binomial", trials=6, effects=None, chains=1, warmup=0, draws=5
    ),
}


@cache
def valid_run(name: str) -> ValidRun:
    """Return a run by its name."""
    chunk_bytes = zarr_store.CHUNK_BYTES
    zarr_store.CHUNK_BYTES = 3 * 6 * 4  # so that a chain has two chunks of rows
    try:
        return RUNS[name]()
    finally:
        zarr_store.CHUNK_BYTES = chunk_bytes
