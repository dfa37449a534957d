"""A matrix with holes, filled in: ``manifill demo``.

The matrix is made up, so that the truth behind every hole is known and the intervals can be checked against it.
"""

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from manifill.estimator import MatrixCompletion
from manifill.types import Array, Matrix

__all__ = ["run_demo"]

SHAPE, RANK, OBSERVED, NOISE = (120, 80), 3, 0.3, 0.5


def made_up_table(rng: np.random.Generator) -> Matrix:
    """Return a noisy matrix of rank 3 whose factors are waves, so that the eye can see structure in it."""
    left, right = (waves(rng, size) for size in SHAPE)
    return np.asarray(left @ right.T + NOISE * rng.normal(size=SHAPE))


def waves(rng: np.random.Generator, size: int) -> Matrix:
    """Return a factor: in each column a wave of another length, the longer the stronger, from a random phase."""
    component = np.arange(1, RANK + 1)
    angles = np.outer(np.linspace(0.0, 2.0 * np.pi, size), component) + rng.uniform(0.0, 2.0 * np.pi, RANK)
    return np.asarray(1.5 * np.cos(angles) / np.sqrt(component))


def run_demo(out: Path, draws: int) -> None:
    """Fit, print accuracy and coverage, and write a picture."""
    _check_matplotlib()
    rng = np.random.default_rng(0)
    table = made_up_table(rng)
    observed = rng.random(SHAPE) < OBSERVED
    print(f"A {SHAPE[0]} x {SHAPE[1]} matrix of rank {RANK} and noise, {observed.mean():.0%} of it observed.")
    print("Sampling 4 chains; the very first run compiles for a minute or two.")
    model = MatrixCompletion(rank=RANK, chains=4, warmup=draws // 2, draws=draws, seed=0)
    begin = time.perf_counter()
    model.fit(np.where(observed, table, np.nan))
    rows, cols = np.nonzero(~observed)
    prediction, hidden = model.predict(rows, cols, interval=0.9), table[rows, cols]
    inside = np.mean((prediction.lower <= hidden) & (hidden <= prediction.upper))
    print(f"\nDone in {time.perf_counter() - begin:.0f} s. {model.diagnostics_.verdict}")
    print(f"  RMSE on the {hidden.size} hidden cells   {np.sqrt(np.mean((prediction.mean - hidden) ** 2)):.3f}"
          f"   (the noise alone: {NOISE}; the column mean: {column_mean_error(table, observed):.3f})")  # fmt: skip
    print(f"  90 % intervals cover              {inside:.1%}")
    sigma = np.asarray(model.posterior_.sigma)
    print(f"  noise sigma                       {sigma.mean():.3f} ± {sigma.std():.3f}   (true: {NOISE})")
    out.mkdir(parents=True, exist_ok=True)
    path = out / "completed.png"
    draw(path, np.where(observed, table, np.nan), table, *model.complete())
    print(f"  picture                           {path}")


def _check_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise ImportError("the demo draws its picture with matplotlib; install it with pip install 'manifill[plot]'.")


def column_mean_error(table: Matrix, observed: Array) -> float:
    """Return the RMSE of filling every hole with the mean of its column."""
    means = np.nanmean(np.where(observed, table, np.nan), axis=0)
    return float(np.sqrt(np.mean((np.broadcast_to(means, table.shape) - table)[~observed] ** 2)))


def draw(path: Path, holes: Matrix, truth: Matrix, mean: Matrix, sd: Matrix) -> None:
    """Draw what was seen, what was filled in, the truth, and how sure the answer is."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    limit = float(np.quantile(np.abs(truth), 0.99))
    values: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    panels: list[tuple[str, Matrix, dict[str, Any]]] = [
        ("observed", holes, values),
        ("completed (predictive mean)", mean, values),
        ("truth, with its noise", truth, values),
        ("uncertainty (predictive sd)", sd, {"cmap": "viridis"}),
    ]
    figure, axes = plt.subplots(1, len(panels), figsize=(15, 6), layout="constrained")
    for axis, (title, matrix, style) in zip(axes, panels, strict=True):
        axis.set_facecolor("0.85")
        image = axis.imshow(matrix, aspect="auto", interpolation="nearest", **style)
        axis.set_title(title, fontsize=11)
        axis.set_xlabel("column")
        figure.colorbar(image, ax=axis, orientation="horizontal", shrink=0.9, pad=0.02)
    axes[0].set_ylabel("row")
    figure.savefig(path, dpi=110)
    plt.close(figure)
