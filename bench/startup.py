"""How long a user waits for an import and for the first output of a command: ``make bench-startup``.

Each time is from the start of a fresh process to its first line of output (its end if it prints nothing), and the
processes take turns.  ``manifill predict`` predicts ten cells of a stored run of the size of MovieLens; the draws are
random numbers, nothing is sampled.
The exit code is 0 if the medians are within the bars and ``predict`` imported none of the modules that it must not.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.posterior import DiskRecorder, Variable, create_store
from manifill.problem import Observations
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from manifill.run.observations_file import save_observations
from manifill.run.provenance import provenance

SHAPE, CELLS, RANK = (610, 9724), 100_836, 20
CHAINS, DRAWS = 4, 100
UNWANTED = ("manifill.sampling", "manifill.map_estimation", "sklearn")


class Case(NamedTuple):
    """A process, and the time in seconds that it may take."""

    name: str
    arguments: tuple[str, ...]
    bar: float


def cases(run: Path, pairs: Path) -> list[Case]:
    """Return what is timed; the run and the table of cells are for ``predict``."""
    command = ("-m", "manifill")
    return [
        Case("import manifill", ("-c", "import manifill"), 0.6),
        Case("manifill --help", (*command, "--help"), 0.8),
        Case("manifill predict", (*command, "predict", str(run), str(pairs), "--quiet"), 1.5),
    ]


def store_run(path: Path) -> None:
    """Write a run of ratings with random draws, in the format that ``manifill fit`` leaves."""
    rng = np.random.default_rng(0)
    chosen = rng.choice(SHAPE[0] * SHAPE[1], CELLS, replace=False)
    ratings = 0.5 * rng.integers(0, 11, CELLS)
    observations = Observations.from_triples(chosen // SHAPE[1], chosen % SHAPE[1], ratings, SHAPE)
    model = MatrixCompletion(
        rank=RANK, likelihood="binomial", trials=10, step=0.5, chains=CHAINS, warmup=0, draws=DRAWS, seed=0
    )
    attributes = provenance(model.get_params(), np.random.SeedSequence(0), observations, None)
    attributes |= model._resolve(observations, 0).to_json()
    run = RunFolder(path)
    run.path.mkdir()
    save_observations(run.data, observations)
    (m, n), statistics = SHAPE, ("lp", "diverging")
    variables = (
        Variable("U", ("row", "component"), (m, RANK)),
        Variable("s", ("component",), (RANK,)),
        Variable("V", ("column", "component"), (n, RANK)),
        Variable("lambda", (), ()),
        Variable("mu", (), ()),
        Variable("row_effect", ("row",), (m,)),
        Variable("column_effect", ("column",), (n,)),
        Variable("row_effect_sd", (), ()),
        Variable("column_effect_sd", (), ()),
    )
    create_store(run.draws, variables, statistics, CHAINS, DRAWS, 0, attributes)
    for chain in range(CHAINS):
        recorder = DiskRecorder(run.draws, chain, variables, statistics, 0)
        for _ in range(DRAWS):
            draw = {v.name: np.asarray(0.1 * rng.random(v.shape)) for v in variables}
            recorder.append(draw, dict.fromkeys(statistics, 0.0))
        recorder.finish()
    write_manifest(run)


def seconds(arguments: Sequence[str]) -> float:
    """Return the time until Python, called with these arguments, prints its first line or ends."""
    begin = time.perf_counter()
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        taken = time.perf_counter() - begin
        process.stdout.read()
    if process.returncode:
        raise RuntimeError(f"python {' '.join(arguments)} failed with exit code {process.returncode}")
    return taken


def imported(arguments: Sequence[str]) -> list[str]:
    """Return which of the unwanted modules Python imports with these arguments."""
    command = [sys.executable, "-X", "importtime", *arguments]
    log = subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    modules = {line.rpartition("|")[2].strip() for line in log.splitlines()}
    return [name for name in UNWANTED if any(module == name or module.startswith(f"{name}.") for module in modules)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7, help="processes per median")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        run, pairs = Path(folder) / "run", Path(folder) / "pairs.csv"
        store_run(run)
        pairs.write_text("row,column\n" + "".join(f"{k},{10 * k}\n" for k in range(10)))
        timed = cases(run, pairs)
        unwanted = imported(timed[-1].arguments)  # also fills the caches of bytecode and compiled code
        for case in timed:
            seconds(case.arguments)
        rounds = [[seconds(case.arguments) for case in timed] for _ in range(repeats)]
    medians = [median(times) for times in zip(*rounds, strict=True)]
    print(f"medians of {repeats} processes, in seconds")
    for case, taken in zip(timed, medians, strict=True):
        print(f"  {case.name:18s} {taken:5.2f}   bar {case.bar:.1f}   {'ok' if taken <= case.bar else 'TOO SLOW'}")
    print(f"  manifill predict imports {', '.join(unwanted) or 'none'} of {', '.join(UNWANTED)}")
    within = all(taken <= case.bar for case, taken in zip(timed, medians, strict=True))
    return 0 if within and not unwanted else 1


if __name__ == "__main__":
    sys.exit(main())
