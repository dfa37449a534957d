"""Made-up chains: independent draws of a small matrix, which need no sampler."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from manifill.base.arrays import Array, Generator
from manifill.posterior import ChainRecord, DiskRecorder, Draws, MemoryRecorder, Recorder, Variable

M, N, RANK = 6, 4, 2

VARIABLES = (
    Variable("U", ("row", "component"), (M, RANK)),
    Variable("s", ("component",), (RANK,)),
    Variable("V", ("column", "component"), (N, RANK)),
    Variable("lambda", (), ()),
    Variable("sigma", (), ()),
)
FACTOR_VARIABLES = (
    Variable("A", ("row", "component"), (M, RANK)),
    Variable("B", ("column", "component"), (N, RANK)),
    Variable("sigma", (), ()),
)
NOISELESS_VARIABLES = FACTOR_VARIABLES[:-1]
EFFECT_VARIABLES = (
    *VARIABLES[:-1],
    Variable("sigma", ("column",), (N,)),
    Variable("mu", (), ()),
    Variable("row_effect", ("row",), (M,)),
    Variable("column_effect", ("column",), (N,)),
)
KINDS = {"U s V": VARIABLES, "A B": FACTOR_VARIABLES, "U s V, effects, noise by column": EFFECT_VARIABLES}
ALL_KINDS = KINDS | {"A B, no noise": NOISELESS_VARIABLES}
STATISTICS = ("lp", "diverging", "reached_max_depth")
ATTRIBUTES = {"seed": 2**120 + 1, "settings": {"rank": RANK, "path": None}, "versions": {"manifill": "0"}}


def random_draw(rng: Generator, variables: tuple[Variable, ...] = VARIABLES) -> dict[str, Array]:
    """Return independent uniform values, U and V orthonormal as a sampler's are."""
    draw = {v.name: np.asarray(rng.uniform(0.5, 1.5, v.shape)) for v in variables}
    return {name: np.linalg.qr(value)[0] if name in "UV" else value for name, value in draw.items()}


def random_statistics(rng: Generator) -> dict[str, float]:
    return {"lp": rng.normal(), "diverging": 0.0, "reached_max_depth": 0.0}


def feed(recorder: Recorder, rng: Generator, draws: int, warmup: int, variables: tuple[Variable, ...]) -> ChainRecord:
    """Run a made-up chain into a recorder."""
    for _ in range(warmup):
        recorder.warm(random_statistics(rng))
    for _ in range(draws):
        recorder.append(random_draw(rng, variables), random_statistics(rng))
    return recorder.finish()


def memory_records(
    counts: Sequence[int], warmup: int = 3, variables: tuple[Variable, ...] = VARIABLES
) -> list[ChainRecord]:
    """Return a record for each chain that completed so many draws, chain k from seed k."""
    return [
        feed(MemoryRecorder(variables, max(counts)), np.random.default_rng(chain), count, warmup, variables)
        for chain, count in enumerate(counts)
    ]


def disk_records(path: Path, counts: Sequence[int], warmup: int = 3) -> list[ChainRecord]:
    """Do the same with a store that exists, the last chain first."""
    chains = reversed(list(enumerate(counts)))
    records = [
        feed(
            DiskRecorder(path, chain, VARIABLES, STATISTICS, warmup),
            np.random.default_rng(chain),
            count,
            warmup,
            VARIABLES,
        )
        for chain, count in chains
    ]
    return records[::-1]


def random_run(counts: Sequence[int], warmup: int = 3, variables: tuple[Variable, ...] = VARIABLES) -> Draws:
    return Draws.from_records(memory_records(counts, warmup, variables), ATTRIBUTES)


def dense_draws(draws: Draws) -> tuple[Array, Array]:
    """Return every X, (draw, m, n), and every sigma, (draw,) or (draw, n), chain after chain, from the arrays.

    Without noise sigma is one.
    """
    if "U" in draws.posterior:
        X = np.einsum("kdir,kdr,kdjr->kdij", draws.U[:], draws.s[:], draws.V[:])
    else:
        X = np.einsum("kdir,kdjr->kdij", draws.A[:], draws.B[:])
    sigma = np.ones(draws.chains * draws.draws)
    if "sigma" in draws.posterior:
        sigma = draws.sigma[:].reshape(-1, *draws.sigma.shape[2:])
    if "mu" in draws.posterior:
        X = X + draws.mu[..., None, None] + draws.row_effect[..., :, None] + draws.column_effect[..., None, :]
    return X.reshape(-1, *draws.shape), sigma


def assert_same(ours: Draws, theirs: Draws, rtol: float) -> None:
    """Compare two runs, whether they are in memory or on disk."""
    assert ours.attributes == theirs.attributes
    assert set(ours.variables) == set(theirs.variables)
    for group in ("posterior", "statistics", "warmup_statistics"):
        left, right = getattr(ours, group), getattr(theirs, group)
        assert set(left) == set(right)
        for name in left:
            np.testing.assert_allclose(left[name][:], right[name][:], rtol=rtol, err_msg=name)
