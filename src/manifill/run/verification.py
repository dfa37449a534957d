"""Reads every file of a run, and lists those that are missing or damaged."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from manifill.base import progress
from manifill.base.errors import Damage, DamagedRunError
from manifill.posterior import FORMAT, store_attributes, store_format
from manifill.posterior.checked_arrays import CheckedArray, open_checked
from manifill.posterior.store_layout import COORDINATES, METADATA, POSTERIOR, STATISTICS, WARMUP_STATISTICS
from manifill.posterior.stored_draws import DIVERGING, LARGEST_LIST, StoreArrays, completed_draws, open_arrays
from manifill.run.attributes import check_attributes
from manifill.run.folder import RunFolder
from manifill.run.manifest import manifest_damage
from manifill.run.observations_file import load_observations
from manifill.run.run_files import own_files
from manifill.run.stored_run import check_is_run
from manifill.run.verdict import verdict_damage
from manifill.sampling.checkpoint import check_intact

__all__ = ["Verification", "verify_run"]


class Verification(NamedTuple):
    """The files of a run that are missing or damaged."""

    files: int  # of the run, except for the report
    has_checksums: bool  # a run of format 2 has none, so only missing and truncated files are noticed
    damage: tuple[Damage, ...]


def verify_run(path: str | Path) -> Verification:
    """Read every file of a run; raise a ValueError if the folder is not a run."""
    run = RunFolder(path)
    check_is_run(run)
    number, damage = _store_damage(run)
    damage = manifest_damage(run) + damage + verdict_damage(run)
    if number == FORMAT and not run.manifest.exists():
        damage.append(Damage(run.manifest, "is missing"))
    if number != FORMAT:
        damage += _data_damage(run)
    by_file = {one.file: one for one in reversed(damage)}  # the first problem of each
    files = sum(file != run.report for file in own_files(run.path))
    return Verification(files, number == FORMAT, tuple(sorted(by_file.values())))


def _store_damage(run: RunFolder) -> tuple[int | None, list[Damage]]:
    """Return the format of the store, None if it cannot be read, and what is wrong with the store and checkpoints."""
    try:
        number = store_format(run.draws)
        if number is None:
            return None, [Damage(run.draws / METADATA, "is missing, or holds no run")]
        check_attributes(run, store_attributes(run.draws))
        arrays = open_arrays(run.draws)
    except DamagedRunError as error:
        return None, list(error.damage)
    counts, damage = completed_draws(arrays)
    progress.begin("verifying", sum(_chunks_to_read(arrays, count) for count in counts), "files")
    for chain, count in enumerate(counts):
        damage += itertools.islice(_chain_damage(arrays, chain, count), LARGEST_LIST)
        if number == FORMAT:
            damage += _checkpoint_damage(run, arrays, chain, count)
    for group in (POSTERIOR, STATISTICS, WARMUP_STATISTICS):
        if (run.draws / group).is_dir():
            damage += itertools.islice(_coordinate_damage(run.draws / group), LARGEST_LIST)
    return number, damage


def _chain_damage(arrays: StoreArrays, chain: int, count: int) -> Iterator[Damage]:
    for array in arrays.posterior.values():
        yield from _array_damage(array, chain, count, are_draws=True)
    for name, array in arrays.statistics.items():
        yield from _array_damage(array, chain, count, are_draws=name == DIVERGING)
    for array in arrays.warmup_statistics.values():
        yield from _array_damage(array, chain, array.shape[1] if count else 0)


def _chunks_to_read(arrays: StoreArrays, count: int) -> int:
    """Return the number of chunks of a chain with ``count`` draws."""
    drawn = sum(_chunks(array, count) for array in (*arrays.posterior.values(), *arrays.statistics.values()))
    return drawn + sum(_chunks(array, array.shape[1]) for array in arrays.warmup_statistics.values() if count)


def _chunks(array: CheckedArray, count: int) -> int:
    return -(-count // array.chunks[1])


def _array_damage(array: CheckedArray, chain: int, count: int, *, are_draws: bool = False) -> Iterator[Damage]:
    """Yield the damaged chunks of a chain with ``count`` draws; chunks beyond these may be missing."""
    length = array.chunks[1]
    needed = range(_chunks(array, count))
    beyond = (index for index in array.indices_on_disk(chain) if index not in needed)
    for index in itertools.chain(needed, beyond):
        progress.advance(float(index in needed))
        first = index * length
        try:
            values = array.read(chain, first, min(first + length, array.shape[1]))
        except DamagedRunError as error:
            yield from error.damage
            continue
        problem = array.problem_of(values[: max(count - first, 0)]) if are_draws else None
        if problem is not None:
            yield Damage(array.file_of(chain, index), problem, chain)


def _coordinate_damage(group: Path) -> Iterator[Damage]:
    for name in COORDINATES:
        try:
            array = open_checked(group / name)
        except DamagedRunError as error:
            yield from error.damage
            continue
        for index in range(-(-array.shape[0] // array.chunks[0])):
            if array.has_checksums or array.file_of(index, 0).exists():
                yield from (one._replace(chain=None) for one in array.damaged(index, 0))


def _checkpoint_damage(run: RunFolder, arrays: StoreArrays, chain: int, count: int) -> Iterator[Damage]:
    """Yield the damage of a chain's checkpoint; a chain that has not begun has none."""
    file = run.checkpoints / f"chain-{chain}.npz"
    try:
        check_intact(file)
    except FileNotFoundError:
        warmed = any(array.file_of(chain, 0).exists() for array in arrays.warmup_statistics.values())
        if count or warmed:
            yield Damage(file, "is missing", chain)
    except OSError as error:
        yield Damage(file, f"cannot be read: {error.strerror}", chain)
    except ValueError as error:
        yield Damage(file, f"is damaged: {error}", chain)


def _data_damage(run: RunFolder) -> Iterator[Damage]:
    """Yield what is wrong with the data of a run whose manifest does not tell."""
    for file in (run.data, run.held_out):
        if file == run.data or file.exists():
            try:
                load_observations(file)
            except DamagedRunError as error:
                yield from error.damage
