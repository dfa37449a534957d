"""Files that are there as a whole or not at all."""

from pathlib import Path

import pytest

from manifill.base.atomic_files import locked, replacing


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def write_and_fail(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        write_and_fail(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_rename_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError, match="directory"), replacing(path) as file:
        file.write(b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_one_holder_of_a_lock_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with locked(path, wait=False) as first:
        assert first
        with locked(path, wait=False) as second:
            assert not second
    with locked(path, wait=True) as third:
        assert third
