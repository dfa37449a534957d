"""Ctrl-C once, twice and while importing, and SIGTERM: one line, the documented exit codes, and nothing lost."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from manifill.sampling.checkpoint import next_iteration
from tests.faults.commands import FIT, Command, assert_same_draws, slow_fit, wait_until
from tests.faults.conftest import Whole

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")

CONTINUES = "`manifill fit table.csv --out run --resume` continues"


def wait_for_iterations(folder: Path, least: int) -> None:
    """Wait until both chains have done so many iterations."""
    checkpoints = [folder / "run" / "checkpoints" / f"chain-{chain}.npz" for chain in range(2)]
    wait_until(lambda: all(next_iteration(path) >= least for path in checkpoints))


def check_resumed(folder: Path, whole: Whole) -> None:
    assert slow_fit(folder, "run", resume=True).wait() in (0, 3)
    assert_same_draws(whole.path, folder / "run")


def test_ctrl_c_once_keeps_the_draws(whole: Whole, folder: Path) -> None:
    command = slow_fit(folder, "run")
    wait_for_iterations(folder, 35)
    command.send(signal.SIGINT)
    assert command.wait() == 130
    assert command.out.startswith("interrupted: ")
    assert "draws of 2 chains in run; continue with --resume" in command.out
    assert "Traceback" not in command.err
    command.check_gone()
    check_resumed(folder, whole)


def test_ctrl_c_twice_stops_at_once(whole: Whole, folder: Path) -> None:
    """The first Ctrl-C would wait for the end of an iteration, which takes half a minute here."""
    command = slow_fit(folder, "run", seconds=30.0)
    wait_until(lambda: all((folder / "run" / "checkpoints" / f"chain-{k}.npz").exists() for k in range(2)))
    wait_until(lambda: len(command.workers()) == 2)
    time.sleep(1.0)
    begin = time.monotonic()
    command.send(signal.SIGINT)
    time.sleep(0.5)
    assert command.process.poll() is None
    command.send(signal.SIGINT)
    assert command.wait() == 130
    assert time.monotonic() - begin < 15.0
    assert command.err.splitlines()[-1] == f"manifill: interrupted; {CONTINUES}"
    assert "Traceback" not in command.err
    command.check_gone()
    check_resumed(folder, whole)


@pytest.mark.parametrize(
    "to_all", [True, pytest.param(False, marks=pytest.mark.faults)], ids=["all processes", "one process"]
)
def test_sigterm_keeps_the_draws(to_all: bool, whole: Whole, folder: Path) -> None:
    command = slow_fit(folder, "run")
    wait_for_iterations(folder, 35)
    (os.killpg if to_all else os.kill)(command.process.pid, signal.SIGTERM)
    assert command.wait() == 143
    assert command.err.splitlines()[-1] == f"manifill: terminated; {CONTINUES}"
    assert "Traceback" not in command.err
    wait_for_iterations(folder, 35)
    command.check_gone()
    check_resumed(folder, whole)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.faults)],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_an_interrupt_while_kernels_compile_is_one_line(number: int, code: int, whole: Whole, folder: Path) -> None:
    arguments = ["-m", "manifill", "fit", "table.csv", *FIT, "--out", "run"]
    command = Command(folder, *arguments, NUMBA_CACHE_DIR=str(folder / "kernels"))
    wait_until(lambda: "compiling" in command.err and len(command.workers()) == 2)
    command.send(number)
    assert command.wait() == code
    assert "Traceback" not in command.err
    assert command.err.splitlines()[-1].endswith(CONTINUES)
    command.check_gone()
    check_resumed(folder, whole)


def handles_signals(process: int) -> bool:
    """Whether the command has begun: Python itself does not handle SIGTERM."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (caught,) = (int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
    return bool(caught >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize("count", [2, pytest.param(25, marks=pytest.mark.faults)])
def test_ctrl_c_while_importing(count: int, folder: Path) -> None:
    moments = random.Random(count)
    for k in range(count):  # a run of its own each time: the interrupt may come after the run was begun
        command = Command(folder, "-m", "manifill", "fit", "table.csv", "--out", f"run-{k}")
        wait_until(lambda process=command.process.pid: handles_signals(process))  # type: ignore[misc]
        time.sleep(moments.uniform(0.0, 0.8))
        command.send(signal.SIGINT)
        assert command.wait() == 130, command.err
        assert command.err.splitlines()[-1].startswith("manifill: interrupted")
        assert "Traceback" not in command.err
        command.check_gone()
