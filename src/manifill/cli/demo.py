"""``manifill demo``: a synthetic matrix completed and compared with the truth.

The true value of every missing entry is known, so the intervals can be checked against it.
"""

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from manifill.cli.command_words import parse_count
from manifill.cli.fit_options import Draws

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
    draws: Draws = "auto",
) -> None:
    """Complete a synthetic matrix and draw it next to the truth.

    **Example**

        manifill demo
    """
    import numpy as np

    from manifill.cli.demo_picture import draw_panels
    from manifill.cli.demo_table import NOISE, OBSERVED, RANK, SHAPE, column_mean_error, synthetic_table
    from manifill.estimators.matrix_completion import MatrixCompletion

    _check_matplotlib()
    rng = np.random.default_rng(0)
    table = synthetic_table(rng)
    observed = rng.random(SHAPE) < OBSERVED
    print(f"A {SHAPE[0]} x {SHAPE[1]} matrix of rank {RANK} with noise, {observed.mean():.0%} of it observed.")
    print("Sampling 4 chains; the first run compiles the sampler, which takes a minute or two.")
    length: dict[str, Any] = {"draws": parse_count(draws)}  # which the estimator checks
    model = MatrixCompletion(rank=RANK, seed=0, **length)
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
    draw_panels(path, np.where(observed, table, np.nan), table, *model.complete())
    print(f"  picture                           {path}")


def _check_matplotlib() -> None:
    if find_spec("matplotlib") is None:
        raise ImportError("the demo draws its picture with matplotlib; install it with pip install 'manifill[plot]'.")
