"""The groups and files of a store, and its format number."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePath

from manifill.base.atomic_files import TEMPORARY_NAME

__all__ = [
    "COMPLETED",
    "COORDINATES",
    "FORMAT",
    "FORMAT_KEY",
    "METADATA",
    "POSTERIOR",
    "PROGRESS",
    "READABLE",
    "STATISTICS",
    "WARMUP_STATISTICS",
    "array_folders",
    "has_draws",
    "is_store_file",
    "metadata_files",
]

POSTERIOR, STATISTICS, WARMUP_STATISTICS = "posterior", "sample_stats", "warmup_sample_stats"
PROGRESS, COMPLETED = "progress", "completed"
COORDINATES = ("chain", "draw")  # arrays that xarray expects in each group
METADATA = "zarr.json"

FORMAT_KEY, FORMAT = "manifill_format", 3

# Formats that can be read.  Format 2 has the same arrays, but without checksums, and its attributes hold no resolved
# model.
READABLE = (2, 3)

GROUPS = (POSTERIOR, STATISTICS, WARMUP_STATISTICS, PROGRESS)

GROUP, ARRAY = "|".join(GROUPS), r"[A-Za-z_]\w*"
PARTIAL = r"\.[0-9a-f]{32}\.partial"  # ends the names of Zarr's temporary files

# Metadata of the store, its groups and its arrays, and chunks.
STORE_FILE = re.compile(
    rf"(?:(?:{GROUP})/(?:{ARRAY}/)?)?(?:zarr\.json|zarr{PARTIAL}|{TEMPORARY_NAME.format('zarr.json')})"
    rf"|(?:{GROUP})/{ARRAY}/c/(?:\d+/)*(?:\d+|\d+{PARTIAL}|{TEMPORARY_NAME.format('[0-9]+')})"
)


def is_store_file(file: PurePath) -> bool:
    """Return whether a path, relative to a store, is that of one of its files."""
    return STORE_FILE.fullmatch(file.as_posix()) is not None


def has_draws(path: Path) -> bool:
    """Return whether a store has chunks of draws or statistics; a chain writes them before it counts its draws."""
    groups = (POSTERIOR, STATISTICS, WARMUP_STATISTICS)
    return any(chunks.parent.name not in COORDINATES for group in groups for chunks in (path / group).glob("*/c"))


def array_folders(path: Path, group: str) -> Iterator[Path]:
    """Yield the folders of the arrays of a group, in alphabetical order; anything else in the group is passed over."""
    for folder in sorted((path / group).glob("*/")):
        if (folder / METADATA).exists() or (folder / "c").exists():
            yield folder


def metadata_files(path: Path) -> list[Path]:
    """Return the metadata files of a store, sorted."""
    return sorted(file for pattern in (METADATA, f"*/{METADATA}", f"*/*/{METADATA}") for file in path.glob(pattern))
