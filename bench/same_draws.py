"""Check that two checkouts give the same draws: ``make same-draws OLD=../other-checkout``.

Every combination of sampler, likelihood, effects and noise is fitted through the public interface in both checkouts,
two chains each.  Draws, sampler statistics of warm-up and draws, and predictions are compared: bit for bit, and
otherwise by the largest relative difference within the first 20 iterations.  The exit code is 0 if these differences
are within the tolerance.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Warm-up and draws: long enough for all windows of warm-up, to be compared bit for bit; and 20 iterations, within which
# rounding errors of another order of summation stay small.
LONG, SHORT = (60, 20), (10, 10)
TOLERANCE = 1e-8
IGNORED = "process_time_diff"


class Setting(NamedTuple):
    """One combination."""

    sampler: str
    likelihood: str
    effects: str | None
    noise: str
    cells: str

    def __str__(self) -> str:
        effects = "effects" if self.effects else "no effects"
        return f"{self.sampler}, {self.likelihood}, {effects}, {self.noise} noise, {self.cells}"


def settings() -> Iterator[Setting]:
    """Yield all combinations that exist; few cells select the pass over single cells."""
    for sampler, likelihood, effects, noise, cells in itertools.product(
        ("joint", "gibbs", "factors"),
        ("gaussian", "softplus", "binomial", "laplace"),
        ("additive", None),
        ("shared", "column"),
        ("many cells", "few cells"),
    ):
        has_noise = likelihood in ("gaussian", "softplus")
        if noise == "column" and (sampler != "joint" or not has_noise):
            continue
        if sampler == "factors" and (likelihood != "gaussian" or effects is not None):
            continue
        if likelihood == "laplace" and (sampler != "joint" or cells == "few cells"):
            continue
        yield Setting(sampler, likelihood, effects, noise, cells)


def table(setting: Setting) -> tuple[Array, Array, Array, tuple[int, int]]:
    """Return rows, columns, values and shape, the same on every call."""
    rng = np.random.default_rng(7)
    shape = (30, 18) if setting.cells == "many cells" else (40, 35)
    share = 0.5 if setting.cells == "many cells" else 0.03
    X = rng.standard_normal((shape[0], 3)) @ rng.standard_normal((3, shape[1])) + rng.standard_normal(shape[1])
    rows, cols = np.nonzero(rng.random(shape) < share)
    y = X[rows, cols] + 0.3 * rng.standard_normal(rows.size)
    if setting.likelihood == "softplus":
        y = np.logaddexp(0.0, y)
    if setting.likelihood == "binomial":
        y = rng.binomial(7, 1.0 / (1.0 + np.exp(-y))).astype(np.float64)
    return rows, cols, y, shape


def fitted(setting: Setting, warmup: int, draws: int) -> dict[str, Array]:
    """Return all draws, statistics and predictions of a fit, by name."""
    import manifill

    likelihood: Any = setting.likelihood
    if likelihood == "laplace":
        likelihood = manifill.custom_likelihood(
            "laplace",
            lambda y, x: -((1.0 + (y - x) ** 2) ** 0.5),
            lambda y, x: (y - x) / (1.0 + (y - x) ** 2) ** 0.5,
            mean=lambda x: x,
            variance=lambda x: 0.0 * x + 2.0,
            sample=lambda rng, x: rng.laplace(x, 1.0),
        )
    model = manifill.MatrixCompletion(
        rank=3,
        likelihood=likelihood,
        trials=7 if likelihood == "binomial" else None,
        sampler=setting.sampler,
        effects=setting.effects,
        noise=setting.noise,
        chains=2,
        warmup=warmup,
        draws=draws,
        seed=3,
        jobs=1,
        progress=False,
    )
    rows, cols, values, shape = table(setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, cols, values, shape=shape)
    found = {f"posterior/{name}": np.asarray(array) for name, array in model.posterior_.posterior.items()}
    found |= {f"statistics/{name}": array for name, array in model.posterior_.statistics.items()}
    found |= {f"warm-up/{name}": array for name, array in model.posterior_.warmup_statistics.items()}
    predicted = model.predict(rows[:20], cols[::-1][:20])
    found |= {f"predicted/{name}": getattr(predicted, name) for name in ("mean", "sd", "lower", "upper")}
    return {name: array for name, array in found.items() if not name.endswith(IGNORED)}


def modes() -> dict[str, Array]:
    """Return the posterior modes for three likelihoods."""
    import manifill

    found: dict[str, Array] = {}
    for likelihood in ("gaussian", "softplus", "binomial"):
        rows, cols, values, shape = table(Setting("joint", likelihood, "additive", "shared", "many cells"))
        trials = 7 if likelihood == "binomial" else None
        mode = manifill.map_estimate(rows, cols, values, shape=shape, likelihood=likelihood, trials=trials)
        found |= {f"{likelihood}/{name}": np.atleast_1d(getattr(mode, name)) for name in ("s", "mu", "row_effects")}
    return found


def record(folder: Path, only: str) -> None:
    """Write the results of every setting to files, and a line for each to standard error."""
    if only in "modes":
        np.savez(folder / "modes.npz", **modes())  # type: ignore[arg-type]
    for number, setting in enumerate(settings()):
        if only not in str(setting):
            continue
        for kind, length in (("long", LONG), ("short", SHORT)):
            np.savez(folder / f"{number}-{kind}.npz", **fitted(setting, *length))  # type: ignore[arg-type]
        print(f"  {setting}", file=sys.stderr, flush=True)


def recorded(checkout: Path, folder: Path, only: str) -> None:
    """Record one checkout, in a process that imports its package."""
    print(f"{checkout}:", file=sys.stderr, flush=True)
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, __file__, "--record", str(folder), "--only", only]
    subprocess.run(command, env=environment, check=True)


def difference(old: dict[str, Array], new: dict[str, Array]) -> float:
    """Return the largest difference, relative to the size of each array; infinite if names or shapes differ."""
    if old.keys() != new.keys() or any(old[name].shape != new[name].shape for name in old):
        return np.inf
    worst = 0.0
    for name, before in old.items():
        if not np.array_equal(before, new[name], equal_nan=True):
            scale = float(np.nanmax(np.abs(before), initial=0.0)) or 1.0
            change = float(np.nanmax(np.abs(new[name] - before), initial=0.0)) / scale
            worst = max(worst, change or np.inf)
    return worst


def loaded(path: Path) -> dict[str, Array]:
    with np.load(path) as file:
        return dict(file)


def compare(old: Path, new: Path) -> bool:
    """Print a line for each setting and return whether all agree."""
    names = {f"{number}": str(setting) for number, setting in enumerate(settings())}
    agree, same, total = True, 0, 0
    for path in sorted(old.glob("*.npz"), key=lambda path: (len(path.name), path.name)):
        change = difference(loaded(path), loaded(new / path.name))
        number, _, kind = path.stem.partition("-")
        name = f"{names.get(number, number)} ({sum(LONG if kind == 'long' else SHORT)} iterations)"
        total += 1
        same += change == 0.0
        failed = change > TOLERANCE and kind != "long"
        agree &= not failed
        if change:
            print(f"{'FAILED' if failed else 'differs':8s} by {change:8.1e}  {name}")
    print(f"{same} of {total} fits agree bit for bit")
    return agree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", nargs="?", type=Path, help="a checkout")
    parser.add_argument("new", nargs="?", type=Path, default=Path(__file__).parents[1], help="another [default: this]")
    parser.add_argument("--only", default="", help="settings whose names contain this")
    parser.add_argument("--record", type=Path, help="write one checkout's results to this folder")
    parser.add_argument("--against", type=Path, help="results recorded earlier, in place of the old checkout")
    options = parser.parse_args()
    if options.record is not None:
        options.record.mkdir(parents=True, exist_ok=True)
        record(options.record, options.only)
        return
    if options.old is None and options.against is None:
        parser.error("give a checkout to compare with")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("old", "new"):
            (folder / part).mkdir()
        old = options.against or folder / "old"
        if options.against is None:
            recorded(options.old.resolve(), old, options.only)
        recorded(options.new.resolve(), folder / "new", options.only)
        sys.exit(0 if compare(old, folder / "new") else 1)


if __name__ == "__main__":
    main()
