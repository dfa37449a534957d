"""Real commands in processes of their own, disturbed from outside: ``manifill fit`` of a small table, slowed down."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import zarr

from manifill.base.arrays import Array
from manifill.sampling.chain import PROCESSOR_TIME

SAMPLER = ["--sampler", "joint", "--rank", "2", "--chains", "2", "--warmup", "30", "--draws", "40", "--seed", "3"]
FIT = [*SAMPLER, "--holdout", "0", "--jobs", "2"]

# Python runs it at the start of every process.  Checkpoints are frequent, and steps slow, so that kills hit something.
SLOW_PROCESSES = """
import sys

NAMES = "manifill", "joblib.externals.loky.backend.popen_loky_posix"
if any(name in sys.orig_argv for name in NAMES):
    import time
    from manifill.sampling import chain
    from manifill.sampling.joint_sampler import Joint

    chain.SECONDS_BETWEEN_CHECKPOINTS = 0.05
    step = Joint.step

    def slow(self, *arguments):
        time.sleep({seconds})
        return step(self, *arguments)

    Joint.step = slow
"""


def write_table(folder: Path) -> None:
    """Write table.csv, a wide table with holes."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20)) + 0.1 * rng.normal(size=(30, 20))
    values[rng.random(values.shape) < 0.3] = np.nan
    pd.DataFrame(values, columns=[f"c{j}" for j in range(20)]).to_csv(folder / "table.csv", index=False)


class Command:
    """Python in a session of its own, so that its processes can be found when it is gone."""

    started: ClassVar[list["Command"]] = []

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self._out, self._err = folder / "stdout.txt", folder / "stderr.txt"
        with self._out.open("w") as out, self._err.open("w") as err:
            self.process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=folder,
                stdout=out,
                stderr=err,
                start_new_session=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": os.pathsep.join(sys.path), **environment},
            )

        self.started.append(self)

    @property
    def err(self) -> str:
        """What has been written to standard error."""
        return self._err.read_text()

    @property
    def out(self) -> str:
        """What has been written to standard output."""
        return self._out.read_text()

    def send(self, number: int) -> None:
        """Send a signal to all processes, as a terminal does; SIGKILL goes to the first of them."""
        with suppress(ProcessLookupError):
            (os.kill if number == signal.SIGKILL else os.killpg)(self.process.pid, number)

    def members(self) -> dict[int, str]:
        """Return the command lines of the living processes of the session, by number."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                fields = (path / "stat").read_text().rpartition(")")[2].split()
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:  # it has just ended
                continue
            if int(fields[3]) == self.process.pid and fields[0] != "Z":
                found[int(path.name)] = command
        return found

    def workers(self) -> list[int]:
        """Return the numbers of the worker processes."""
        return sorted(number for number, command in self.members().items() if "popen_loky" in command)

    def wait(self, seconds: float = 300.0) -> int:
        """Wait for the end, and return the exit code."""
        return self.process.wait(seconds)

    def check_gone(self) -> None:
        """Check that no process of the command is left, ten seconds after its end at most."""
        self.process.wait(10.0)
        end = time.monotonic() + 10.0
        while self.members() and time.monotonic() < end:
            time.sleep(0.1)
        assert self.members() == {}


def kill_all() -> None:
    """Kill what a test that failed has left."""
    while Command.started:
        command = Command.started.pop()
        for number in command.members():
            os.kill(number, signal.SIGKILL)
        command.wait()


def slow_fit(folder: Path, run: str, *, resume: bool = False, seconds: float = 0.02) -> Command:
    """Start a command that fits table.csv, or resumes the run, and sleeps for some seconds in every iteration."""
    (folder / "slow").mkdir(exist_ok=True)
    (folder / "slow" / "sitecustomize.py").write_text(SLOW_PROCESSES.format(seconds=seconds))
    path = os.pathsep.join([str(folder / "slow"), *sys.path])
    return Command(
        folder, "-m", "manifill", "fit", "table.csv", *FIT, "--out", run, *["--resume"] * resume, PYTHONPATH=path
    )


def wait_until(condition: Callable[[], Any], seconds: float = 180.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def draws_of(path: Path) -> dict[str, Array]:
    """Return all arrays of a run that the seed determines."""
    root: Any = zarr.open_group(path / "draws.zarr", mode="r")
    groups = (root[name] for name in ("posterior", "sample_stats", "warmup_sample_stats"))
    arrays = ((group.name, name, array) for group in groups for name, array in group.arrays())
    return {f"{group}/{name}": array[:] for group, name, array in arrays if name != PROCESSOR_TIME}


def assert_same_draws(path: Path, other: Path) -> None:
    first, second = draws_of(path), draws_of(other)
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(second[name], values, err_msg=name)
