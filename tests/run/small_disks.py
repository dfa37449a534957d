"""Disks of a few hundred kilobytes, to be filled."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PAGE = 4096


@contextmanager
def small_disk(path: Path, size: int) -> Iterator[Path]:
    """Mount an empty file system of so many bytes; skip the test where that is not allowed."""
    path.mkdir()
    mounted = _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path))
    if mounted.returncode:
        pytest.skip(f"a disk cannot be filled here, since this process may not mount one: {mounted.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def change_disk(path: Path, options: str) -> None:
    """Mount a disk again with other options, such as ``size=1000000`` or ``ro``."""
    done = _mount("-o", f"remount,{options}", str(path))
    assert done.returncode == 0, done.stderr


def size_on_disk(path: Path) -> int:
    """Return how many bytes the files in a folder take up."""
    return sum(-(-file.stat().st_size // PAGE) * PAGE for file in path.rglob("*") if file.is_file())


def _mount(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
