"""Locks that somebody deletes while a run is written: a second process may join, and the draws are the same."""

from pathlib import Path

import pytest

from tests.faults.commands import assert_same_draws, slow_fit, write_table
from tests.faults.conftest import Whole
from tests.faults.test_signals import wait_for_iterations

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


def test_a_second_process_is_refused_and_without_locks_draws_the_same(whole: Whole, folder: Path) -> None:
    first = slow_fit(folder, "run", seconds=0.1)
    wait_for_iterations(folder, 10)
    other = folder / "other"
    other.mkdir()
    write_table(other)
    second = slow_fit(other, "../run", resume=True)
    assert second.wait() == 2
    assert second.err.splitlines()[-1] == (
        "manifill: another process is writing to ../run; wait for it, or choose another folder."
    )
    for lock in (folder / "run" / "checkpoints").glob("*.lock"):
        lock.unlink()
    third = slow_fit(other, "../run", resume=True)
    for command in (first, third):
        code = command.wait()
        # The first to end may find files that the other is writing again, with fewer draws than it has drawn itself: a
        # chunk, which it refuses, or the count, which makes it tell how to continue.
        refused = code == 2 and "it lacks draws that are counted" in command.err.splitlines()[-1]
        fewer = code == 130 and command.out.startswith("interrupted: ")
        assert code in (0, 3) or refused or fewer, command.err
    assert_same_draws(whole.path, folder / "run")
