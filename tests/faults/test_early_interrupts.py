"""Ctrl-C and SIGTERM before the chains start, while kernels run in the process of the command itself."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.faults.commands import Command, wait_until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")

# Python runs it at the start of every process.  When a kernel is called with a random generator, Numba calls
# ``ctypes.cast``, and does not expect an exception.
PROVOKING = """
import sys

if "manifill" in sys.orig_argv:
    import ctypes
    import signal
    from manifill.base import progress

    cast, begin, calls = ctypes.cast, progress.begin, []

    def interrupting(*arguments):
        if "sampling" in sys._getframe(1).f_code.co_filename:
            calls.append(arguments)
        if len(calls) == 50:
            ctypes.cast = cast
            signal.raise_signal({number})
        return cast(*arguments)

    def beginning(phase, *arguments, **named):
        begin(phase, *arguments, **named)
        if phase == {phase!r}:
            ctypes.cast = interrupting

    progress.begin = beginning
"""

FIT = ["--chains", "2", "--warmup", "20", "--draws", "20", "--seed", "3", "--jobs", "2"]

INTERRUPTED = "manifill: interrupted"

PHASES = {
    "choosing the rank": ["--column-transform", "none"],
    "dropping components": ["--column-transform", "none", "--rank", "17"],
    "trying transformed columns": ["--rank", "2"],
}


@pytest.fixture
def skewed(folder: Path) -> Path:
    """Return the folder with the table of another one: skewed columns of which a transform is tried."""
    rng = np.random.default_rng(0)
    values = np.exp(rng.normal(size=(80, 2)) @ rng.normal(size=(2, 20)) + 0.3 * rng.normal(size=(80, 20)))
    values[rng.random(values.shape) < 0.2] = np.nan
    pd.DataFrame(values, columns=[f"c{j}" for j in range(20)]).to_csv(folder / "table.csv", index=False)
    return folder


def provoked_fit(folder: Path, phase: str, number: int) -> Command:
    """Start a fit that sends itself a signal in the middle of a phase, while it calls a kernel."""
    (folder / "provoking").mkdir(exist_ok=True)
    (folder / "provoking" / "sitecustomize.py").write_text(PROVOKING.format(phase=phase, number=int(number)))
    path = os.pathsep.join([str(folder / "provoking"), *sys.path])
    return Command(folder, "-m", "manifill", "fit", "table.csv", *FIT, "--out", "run", *PHASES[phase], PYTHONPATH=path)


@pytest.mark.parametrize(
    ("phase", "number", "code", "said"),
    [
        ("choosing the rank", signal.SIGINT, 130, "interrupted"),
        ("dropping components", signal.SIGINT, 130, "interrupted"),
        ("trying transformed columns", signal.SIGINT, 130, "interrupted"),
        ("choosing the rank", signal.SIGTERM, 143, "terminated"),
    ],
)
def test_an_interrupt_while_a_kernel_is_called(phase: str, number: int, code: int, said: str, skewed: Path) -> None:
    command = provoked_fit(skewed, phase, number)
    assert command.wait() == code, command.err
    assert command.err.splitlines()[-1] == f"manifill: {said} before the run began; fit again"
    assert "Traceback" not in command.err
    assert not (skewed / "run").exists()
    command.check_gone()


@pytest.mark.parametrize("count", [2, pytest.param(25, marks=pytest.mark.faults)])
def test_ctrl_c_at_random_moments_before_the_chains_start(count: int, skewed: Path) -> None:
    moments = random.Random(count)
    for k in range(count):  # a run of its own each time: the interrupt may come after the run was begun
        run = f"run-{k}"
        command = Command(skewed, "-m", "manifill", "fit", "table.csv", *FIT, "--warmup", "100000", "--out", run)
        wait_until(lambda process=command: "with noise by row" in process.err)  # type: ignore[misc]
        time.sleep(moments.uniform(0.0, 1.5))
        command.send(signal.SIGINT)
        assert command.wait() == 130, command.err
        last = command.err.splitlines()[-1]
        if (skewed / run / "draws.zarr").exists():
            assert last.endswith(f"`manifill fit table.csv --out {run} --resume` continues")
        else:  # the shorter message if modules were being imported
            assert last in (f"{INTERRUPTED} before the run began; fit again", INTERRUPTED)
        command.check_gone()
