"""Damage to the files of a run, as accidents do it: checksums are left as they are."""

from random import Random
from typing import NamedTuple

from tests.fuzz.mutations import mutated_bytes

__all__ = ["Damaged", "damaged"]

ADDED = (
    "notes.txt", "report.html", "data.npz.bak", ".data.npz-abcdefgh", "checkpoints/chain-9.npz", "checkpoints/run.lock",
    "checkpoints/chain-x.npz", "draws.zarr/x", "draws.zarr/posterior/x", "draws.zarr/posterior/x/zarr.json",
    "draws.zarr/posterior/chain/c/1", "draws.zarr/posterior/A/c/0/9/0/0", "draws.zarr/posterior/A/c/x/0/0/0",
    "draws.zarr/posterior/B/c/7/0/0/0", "draws.zarr/other/x/zarr.json", "draws.zarr/sample_stats/lp/c/0/x",
    ".new-run/x",
)  # fmt: skip
TARGETS = ("missing", ".", "..", "x/y", "manifest.json", "/dev/null", "a\nb")


class Damaged(NamedTuple):
    """The files of a run, and whether a change in them is one that checksums do not show."""

    files: dict[str, bytes]
    folders: tuple[str, ...]
    links: dict[str, str]
    is_sealed: bool


def damaged(random: Random, whole: dict[str, bytes]) -> Damaged:
    """Damage one file of a run, or two or three."""
    files, links, is_sealed = dict(whole), dict[str, str](), False
    folders: list[str] = []
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        name = random.choice(sorted(files))
        kind = random.random()
        if kind < 0.45:
            files[name] = mutated_bytes(random, files[name])
        elif kind < 0.55:
            files[name] = files[name][: random.randrange(len(files[name]) + 1)]
        elif kind < 0.65:
            del files[name]
        elif kind < 0.7:
            _remove_folder(random, files, name)
        elif kind < 0.78:
            other = random.choice(sorted(files))
            files[name], files[other] = files[other], files[name]
            is_sealed |= _is_like(name, other)
        elif kind < 0.85:
            _add(random, files)
        elif kind < 0.9:
            del files[name]
            folders.append(name)
        else:
            _link(random, files, links, name)
        if not files:
            break
    folders = [name for name in folders if not any(other.startswith(f"{name}/") for other in files)]
    return Damaged(files, tuple(folders), links, is_sealed)


def _is_like(name: str, other: str) -> bool:
    """Return whether two files are both chunks, or checkpoints, whose checksums do not say where they belong."""
    return ("/c/" in name and "/c/" in other) or (name.startswith("checkpoints") and other.startswith("checkpoints"))


def _remove_folder(random: Random, files: dict[str, bytes], name: str) -> None:
    parts = name.split("/")
    prefix = "/".join(parts[: random.randrange(1, len(parts) + 1)])
    for other in [other for other in files if other == prefix or other.startswith(f"{prefix}/")]:
        del files[other]


def _add(random: Random, files: dict[str, bytes]) -> None:
    name = random.choice(ADDED)
    if not any(other == name or other.startswith(f"{name}/") or name.startswith(f"{other}/") for other in files):
        files[name] = random.choice((b"", b"x", files[random.choice(sorted(files))]))


def _link(random: Random, files: dict[str, bytes], links: dict[str, str], name: str) -> None:
    """Put a link in the place of a file: to the file, which was moved, or to something else."""
    content = files.pop(name)
    links[name] = random.choice((*TARGETS, name.rpartition("/")[2]))
    if random.random() < 0.3:
        moved = f"{name}.moved"
        files[moved] = content
        links[name] = moved.rpartition("/")[2]
