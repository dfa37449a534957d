"""SIGKILL at random moments: a run is resumed until it has ended, with the draws of a run that was left alone."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from manifill.run.folder import RunFolder
from tests.faults.commands import Command, assert_same_draws, slow_fit, wait_until
from tests.faults.conftest import Whole

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")

MOMENTS = [2, pytest.param(25, marks=pytest.mark.faults)]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", MOMENTS)
def test_the_command_is_killed(count: int, whole: Whole, folder: Path) -> None:
    moments, kills, runs = random.Random(count), 0, 0
    while kills < count:
        run = folder / f"run-{runs}"
        while True:
            command = slow_fit(folder, run.name, resume=RunFolder(run).holds_run())
            if kills < count:
                time.sleep(moments.uniform(0.0, whole.seconds))
                if command.process.poll() is None:
                    command.send(signal.SIGKILL)
                    kills += 1
                    command.check_gone()
                    continue
            break
        assert command.wait() in (0, 3), command.err
        assert_same_draws(whole.path, run)
        runs += 1


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("count", MOMENTS)
def test_workers_are_killed(count: int, whole: Whole, folder: Path) -> None:
    """Each run is killed a worker, or two, or three; it goes on by itself, or says so and can be resumed."""
    moments, kills, runs = random.Random(count), 0, 0
    while kills < count:
        run = folder / f"run-{runs}"
        command = slow_fit(folder, run.name)
        for _ in range(moments.randint(1, 3)):
            time.sleep(moments.uniform(0.0, whole.seconds))
            workers = command.workers()
            if workers:
                os.kill(moments.choice(workers), signal.SIGKILL)
                kills += 1
        code = command.wait()
        assert "Traceback" not in command.err
        if code == 2:
            assert says_how_to_continue(command.err.splitlines()[-1], run.name)
            command = slow_fit(folder, run.name, resume=True)
            code = command.wait()
        assert code in (0, 3), command.err
        assert_same_draws(whole.path, run)
        command.check_gone()
        runs += 1


def says_how_to_continue(line: str, run: str) -> bool:
    names = line.startswith(("manifill: chain 1 was", "manifill: chain 2 was", "manifill: chains 1 and 2 were"))
    remedy = f"`manifill fit table.csv --out {run} --resume` continues."
    return names and line.endswith(f" killed, perhaps for lack of memory; {remedy}")


def test_a_chain_that_is_killed_goes_on_once_by_itself(whole: Whole, folder: Path) -> None:
    command = slow_fit(folder, "run")
    checkpoint = folder / "run" / "checkpoints" / "chain-1.npz"
    wait_until(checkpoint.exists)
    first = command.workers()
    os.kill(first[0], signal.SIGKILL)
    wait_until(lambda: "is started again from its checkpoint" in command.err)
    wait_until(lambda: set(command.workers()) - set(first))
    (second,) = set(command.workers()) - set(first)
    os.kill(second, signal.SIGKILL)
    assert command.wait() == 2
    *lines, last = command.err.splitlines()  # lines of progress may stand between them
    killed = " was killed, perhaps for lack of memory; it is started again from its checkpoint"
    again = ", perhaps for lack of memory, for the second time; the other chains go on"
    assert [any(line.endswith(end) for line in lines) for end in (killed, again)] == [True, True]
    assert says_how_to_continue(last, "run")
    assert slow_fit(folder, "run", resume=True).wait() in (0, 3)
    assert_same_draws(whole.path, folder / "run")


IN_MEMORY = """
import os, sys, signal
import numpy as np
from pathlib import Path
from manifill import MatrixCompletion
from manifill.sampling.factor_gibbs import Factors

table = np.random.default_rng(0).normal(size=(8, 6))

def dying_step(self, rng, state, tuning):
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(Factors):
    step = dying_step

import manifill.run.sampler_choice as choice
build = choice.SamplerChoice.build
choice.SamplerChoice.build = lambda self, model, cells: Dying(model, cells)
try:
    MatrixCompletion(rank=2, sampler="factors", chains=3, warmup=5, draws=5, seed=0, jobs=2).fit(table)
except Exception as error:
    print(type(error).__name__, isinstance(error, OSError), error)
"""


def test_a_fit_in_memory_that_is_killed_twice_is_one_sentence(folder: Path) -> None:
    command = Command(folder, "-c", IN_MEMORY)
    assert command.wait() == 0
    assert command.out.startswith("ChainsKilledError True chain"), command.err
    assert command.out.endswith("use fewer jobs, or give a path, from which a fit can be resumed.\n")
    assert "Traceback" not in command.err
    assert "killed, perhaps for lack of memory; it is started again from its seed" in command.err


IDLE = """
import time, warnings
import numpy as np
from manifill import MatrixCompletion
warnings.simplefilter("ignore")
MatrixCompletion(rank=1, sampler="factors", chains=2, warmup=5, draws=5, jobs=2, progress=False).fit(np.eye(6))
print("idle")
time.sleep(600)
"""


def test_idle_workers_end_with_a_process_that_is_killed(folder: Path) -> None:
    command = Command(folder, "-c", IDLE)
    wait_until(lambda: "idle" in command.out)
    assert len(command.workers()) == 2
    command.send(signal.SIGKILL)
    command.check_gone()


def test_processes_that_compile_end_with_a_process_that_is_killed(folder: Path) -> None:
    arguments = ["-m", "manifill", "fit", "table.csv", "--rank", "1", "--jobs", "2", "--out", "run"]
    command = Command(folder, *arguments, NUMBA_CACHE_DIR=str(folder / "kernels"), TMPDIR=str(folder))
    wait_until(lambda: "compiling" in command.err and len(command.workers()) == 2)
    time.sleep(1.0)
    command.send(signal.SIGKILL)
    command.check_gone()
    assert not list(folder.glob("manifill-*")), "the scratch folder is left"
