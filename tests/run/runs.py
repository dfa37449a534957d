"""Small runs on disk, and what can happen to them."""

from pathlib import Path
from typing import Any

import zarr

from manifill import MatrixCompletion
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from tests.estimators.tables import low_rank_table

SETTINGS: dict[str, Any] = {"rank": 2, "sampler": "factors", "chains": 2, "warmup": 20, "draws": 40, "seed": 3}
SETTINGS["column_transform"] = None


def fit(
    path: Path | None,
    data: Any = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    held_out: Any = None,
    **changes: Any,
) -> MatrixCompletion:
    """Fit a small table into a folder, or resume or replace the run in it."""
    data = low_rank_table()[1] if data is None else data
    model = MatrixCompletion(**{**SETTINGS, **changes}, path=path, jobs=1, progress=False)
    return model.fit(data, held_out=held_out, resume=resume, overwrite=overwrite)


def make_older(path: Path, number: Any = 2) -> None:
    """Give a run the number of another format; without a resolved model, as format 2 was, unless it is newer."""
    root = zarr.open_group(path / "draws.zarr", mode="r+")
    attributes = dict(root.attrs)
    if number == 2:
        for name in ("model", "sampler", "held_out"):
            del attributes[name]
    root.attrs.clear()
    root.attrs.update(attributes | {"manifill_format": number})
    if number == 2:
        (path / "manifest.json").unlink(missing_ok=True)
    else:
        write_manifest(RunFolder(path))


def files_of(path: Path) -> dict[Path, bytes]:
    """Return every file of a run except the lock files."""
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file() and file.suffix != ".lock"}


def make_of_earlier_noise(path: Path) -> None:
    """Make a run look as one from before noise by row existed."""
    root = zarr.open_group(path / "draws.zarr", mode="r+")
    attributes: dict[str, Any] = dict(root.attrs)
    del attributes["settings"]["tails"]
    noise = attributes["model"]["noise"]
    attributes["model"]["noise"] = {"precision": noise["precision"], "by_column": False}
    root.attrs.update(attributes)
    write_manifest(RunFolder(path))
