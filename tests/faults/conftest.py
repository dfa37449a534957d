"""An undisturbed run, to compare with."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.faults.commands import kill_all, slow_fit, write_table

MOST_SECONDS = 10.0  # the first fit compiles, which the others do not


class Whole(NamedTuple):
    """A run that nobody disturbed, and how long such a command takes."""

    path: Path
    seconds: float


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """Fit the table once without disturbance."""
    folder = tmp_path_factory.mktemp("whole")
    write_table(folder)
    begin = time.monotonic()
    command = slow_fit(folder, "run")
    assert command.wait() in (0, 3), command.err
    return Whole(folder / "run", min(time.monotonic() - begin, MOST_SECONDS))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with the table; whatever runs there is killed in the end."""
    write_table(tmp_path)
    yield tmp_path
    kill_all()
