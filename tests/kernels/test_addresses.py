"""Results do not depend on where the allocator puts arrays, to the last bit.

Otherwise a resumed chain could differ from one that was never stopped.  LLVM compares addresses before it enters a
vectorised loop, and takes another path, with sums in another order, if an array that is read begins up to 256 bytes
before one that is written.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from manifill.base.arrays import Vector
from manifill.base.jit import compiled
from manifill.likelihoods.likelihood import CompiledLikelihood, Evaluation
from tests.problem.likelihoods import CASES

LENGTHS = (5, 9, 14, 20, 33, 128)  # shorter than a step of the widest loop, and longer
GAPS = range(48)  # between two arrays, in numbers


@compiled
def sum_of_log_densities(likelihood: CompiledLikelihood, y: Vector, x: Vector, out: Evaluation) -> float:
    return likelihood.evaluate(y, x, out)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", LENGTHS)
def test_likelihoods_of_neighbouring_arrays(name: str, n: int) -> None:
    case, rng = CASES[name], np.random.default_rng(n)
    encoded = case.likelihood.encode(np.asarray(case.values))
    y, x = rng.choice(encoded, n), rng.normal(size=n)
    found = set()
    for gap in GAPS:
        y_, log_density, x_, slopes = np.zeros((4, n + gap))[:, :n]  # neighbours in one piece of memory
        y_[:], x_[:] = y, x
        out = Evaluation(log_density, slopes, np.empty((0, 0)))
        found.add((sum_of_log_densities(case.likelihood.compiled(), y_, x_, out), log_density.tobytes()))
    assert len(found) == 1


@pytest.mark.statistical  # not random, but everything has to be compiled
def test_no_kernel_sums_and_writes_in_one_loop(tmp_path: Path) -> None:
    """The rule in ``base/jit.py``, checked in the optimised code of every kernel of all samplers and likelihoods."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "tests.kernels.vectorised_sums"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found, *offenders = done.stdout.splitlines()
    assert int(found) > 50  # loops with a comparison of addresses
    assert offenders == []
