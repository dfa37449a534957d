"""Draws on disk: a Zarr store with ArviZ's groups, which xarray opens as a tree.

Every array is ``(chain, draw, …)`` in chunks of one chain.  A chunk is one file, which Zarr writes under a temporary
name and renames, so chains in separate processes never write the same file, and no file is ever half-written.  Every
chunk ends with a checksum.  Nothing is compressed, since noise does not compress.  Factors are in single precision,
everything else in double, since a mean or an effect may be far from zero.  Arrays are allocated in full and filled with
NaN.  A separate array holds the number of completed draws per chain, and is updated after the draws are written.  The
format number is written last: a store without it is incomplete and holds no draws.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from manifill.base.atomic_files import replacing, reporting_full_disk
from manifill.base.errors import Damage, DamagedRunError
from manifill.base.variables import Variable
from manifill.posterior.checked_arrays import open_checked
from manifill.posterior.store_layout import (
    COMPLETED,
    COORDINATES,
    FORMAT,
    FORMAT_KEY,
    METADATA,
    POSTERIOR,
    PROGRESS,
    READABLE,
    STATISTICS,
    WARMUP_STATISTICS,
    array_folders,
    has_draws,
)

__all__ = ["create_store", "extend_store", "extension", "read_attributes", "store_attributes", "store_format"]

CHUNK_BYTES = 4 * 2**20


def create_store(
    path: str | Path,
    variables: tuple[Variable, ...],
    statistic_names: tuple[str, ...],
    chains: int,
    draws: int,
    warmup: int,
    attributes: Mapping[str, Any],
) -> None:
    """Allocate a store for a run, full of NaN; ``attributes`` must be JSON."""
    import zarr

    _check_free(Path(path))
    with reporting_full_disk(path), zarr.config.set({"array.write_empty_chunks": True}):
        root = zarr.open_group(path, mode="w-", zarr_format=3)
        posterior = _create_group(root, POSTERIOR, chains, draws)
        lengths = _chunk_lengths(variables, draws)
        for variable in variables:
            name, dims, shape = variable
            _create_array(posterior, name, (chains, draws, *shape), lengths[name], _dtype(variable), dims)
        for group_name, length in ((STATISTICS, draws), (WARMUP_STATISTICS, warmup)):
            if length:
                group = _create_group(root, group_name, chains, length)
                for name in statistic_names:
                    _create_array(group, name, (chains, length), length, "float64", ())
        counts = np.zeros(chains, dtype=np.int64)
        root.create_group(PROGRESS).create_array(
            COMPLETED, data=counts, chunks=(1,), dimension_names=("chain",), compressors=_checksum()
        )
        root.attrs.update({**attributes, FORMAT_KEY: FORMAT})


def extension(path: Path, draws: int, attributes: Mapping[str, Any]) -> dict[Path, bytes]:
    """Return the metadata of a store that change when it gets ``draws`` per chain and these attributes, by file.

    Arrays get the length of the longest: an earlier extension may have been interrupted.  The attributes, which hold
    the number of draws, come last.
    """
    folders = (folder for group in (POSTERIOR, STATISTICS) for folder in array_folders(path, group))
    trees = {folder / METADATA: json.loads((folder / METADATA).read_bytes()) for folder in folders}
    axes = {file: tree["dimension_names"].index("draw") for file, tree in trees.items() if file.parent.name != "chain"}
    longest = max(draws, *(trees[file]["shape"][axis] for file, axis in axes.items()))
    found: dict[Path, bytes] = {}
    for file, axis in axes.items():
        if trees[file]["shape"][axis] < longest:
            trees[file]["shape"][axis] = longest
            found[file] = _json_bytes(trees[file])
    root = json.loads((path / METADATA).read_bytes())
    if root["attributes"] != (changed := root["attributes"] | attributes):
        found[path / METADATA] = _json_bytes(root | {"attributes": changed})
    return found


def extend_store(path: str | Path, draws: int, attributes: Mapping[str, Any]) -> None:
    """Extend a store to ``draws`` per chain, if it is shorter, and replace attributes."""
    path = Path(path)
    for file, content in extension(path, draws, attributes).items():
        with replacing(file) as opened:
            opened.write(content)
    for group in (POSTERIOR, STATISTICS):
        coordinates = open_checked(path / group / "draw", "r+").array
        coordinates[:] = np.arange(coordinates.shape[0])


def store_format(path: str | Path) -> int | None:
    """Return the format of a store, or None if the store is missing or incomplete.

    Raise a ValueError if the store cannot be read, or if its format is unknown.
    """
    path = Path(path)
    if not (path / METADATA).exists() and not has_draws(path):
        return None
    found = read_attributes(path).get(FORMAT_KEY)
    if found is None and has_draws(path):
        raise DamagedRunError.of([Damage(path / METADATA, "is damaged: there are draws, but no attributes")])
    if found is not None:
        _check_readable(path, found)
    return found


def store_attributes(path: str | Path) -> dict[str, Any]:
    """Return the attributes of a store, which may have no draws yet."""
    attributes = read_attributes(Path(path))
    attributes.pop(FORMAT_KEY)
    return attributes


def read_attributes(path: Path) -> dict[str, Any]:
    """Return the attributes of a store with its format number, or raise a DamagedRunError if they cannot be read."""
    import zarr

    file = path / METADATA
    if not file.exists():
        raise DamagedRunError.of([Damage(file, "is missing")])
    try:
        return dict(zarr.open_group(path, mode="r", zarr_format=3).attrs)
    except Exception as error:  # damaged metadata raise errors of every kind
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DamagedRunError.of([Damage(file, f"is damaged: {reason}")]) from None


def _check_readable(path: Path, found: Any) -> None:
    if found not in READABLE:
        known = " and ".join(map(str, READABLE))
        raise ValueError(
            f"{path} has the format {found!r}, and this version of manifill reads the formats {known}; open it with "
            "the version that wrote it."
        )


def _check_free(path: Path) -> None:
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise ValueError(f"{path} already exists; delete it, or choose another path to write the draws to.")


def _dtype(variable: Variable) -> str:
    return "float32" if len(variable.shape) > 1 else "float64"


def _chunk_lengths(variables: tuple[Variable, ...], draws: int) -> dict[str, int]:
    """Return how many draws of each variable to put in a chunk.

    The largest variable determines how often all are written.  A variable whose draws all fit in one chunk gets a
    single chunk, which is rewritten as it fills: reading many small files of s and σ would take longer than reading U.
    """
    sizes = {v.name: np.dtype(_dtype(v)).itemsize * math.prod(v.shape) for v in variables}
    rhythm = min(max(CHUNK_BYTES // max(sizes.values()), 1), draws)
    return {name: draws if draws * size <= CHUNK_BYTES else rhythm for name, size in sizes.items()}


def _create_group(root: Any, name: str, chains: int, draws: int) -> Any:
    """Create a group with the coordinates that xarray expects."""
    group = root.create_group(name)
    for dim, size in zip(COORDINATES, (chains, draws), strict=True):
        group.create_array(dim, data=np.arange(size), dimension_names=(dim,), compressors=_checksum())
    return group


def _create_array(
    group: Any, name: str, shape: tuple[int, ...], chunk_length: int, dtype: str, dims: tuple[str, ...]
) -> None:
    group.create_array(
        name,
        shape=shape,
        chunks=(1, chunk_length, *shape[2:]),
        dtype=dtype,
        fill_value=np.nan,
        compressors=_checksum(),
        dimension_names=("chain", "draw", *dims),
    )


def _checksum() -> Any:
    from zarr.codecs import Crc32cCodec

    return Crc32cCodec()


def _json_bytes(tree: dict[str, Any]) -> bytes:
    return json.dumps(tree, indent=2).encode()
