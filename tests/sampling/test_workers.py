"""A worker that leaves, as joblib has one do whose memory has grown, is replaced."""

import subprocess
import sys
from pathlib import Path

# Workers leave after their second chain; warnings are errors, as they are to pytest.
RESTLESS = """
import os, sys, warnings
from functools import partial
from pathlib import Path
import numpy as np
from joblib.externals.loky import process_executor
from manifill.likelihoods import Gaussian, WithNoise
from manifill.problem import Model, from_array
from manifill.sampling.chains import Plan, open_chains
from manifill.sampling.factor_gibbs import Factors

def build(model, cells):
    Path(sys.argv[1], str(os.getpid())).touch()
    process_executor._MAX_MEMORY_LEAK_SIZE = process_executor._MEMORY_LEAK_CHECK_DELAY = -np.inf
    return Factors(model, cells)

warnings.simplefilter("error")
cells = from_array(np.random.default_rng(0).normal(size=(8, 6)))
plan = Plan(partial(build, Model(2, Gaussian(), 1.0, WithNoise()), cells), chains=7, warmup=2)
with open_chains(plan, np.random.SeedSequence(1).spawn(plan.chains), jobs=2) as chains:
    print([record.draws for record in chains.run(3)])
"""


def test_chains_go_on_when_a_worker_leaves(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RESTLESS, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == f"{[3] * 7}\n", done.stderr
    assert done.stderr == ""
    assert len(list(tmp_path.iterdir())) > 2, "nobody left"
