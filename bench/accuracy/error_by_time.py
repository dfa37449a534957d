"""RMSE on MovieLens against processor seconds, for this package and for myFM: figures and a picture.

Run in a process of its own, ``python -m accuracy.error_by_time FOLDER [--quick]``, since it measures time.
"""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from accuracy.cost import processor_seconds
from accuracy.methods import myfm_gibbs, ours
from accuracy.tables import TABLES, Split
from manifill.base.arrays import Array, Vector

TABLE, SPLIT_NUMBER = "MovieLens", 0
RANKS, ITERATIONS = (8, 20), 500

LENGTHS = (10, 25, 50, 100, 250)  # draws per chain of this package

POINTS = 25  # of a curve of myFM, spaced evenly on a logarithmic scale

Curve = dict[str, list[float]]


def curve_of(seconds: Vector, predictions: Array, values: Vector) -> Curve:
    """Return the error of the mean of the first t predictions, (T, k), against the seconds at which they were there."""
    kept = np.unique(np.geomspace(1, len(predictions), POINTS).astype(int)) - 1
    means = np.cumsum(predictions, axis=0, dtype=np.float64) / np.arange(1, len(predictions) + 1)[:, None]
    errors = np.sqrt(np.mean((means[kept] - values) ** 2, axis=1))
    return {"seconds": [float(s) for s in seconds[kept]], "rmse": [float(e) for e in errors]}


def myfm_curve(split: Split, quick: bool, rank: int) -> Curve:
    """Return the curve of a chain of myFM; predictions do not count."""
    from myfm import MyFMGibbsRegressor

    times: list[float] = []

    def note_time(*_: Any) -> tuple[bool, None]:
        times.append(time.process_time())
        return False, None

    model = MyFMGibbsRegressor(rank=rank, random_seed=myfm_gibbs.SEED)
    train, test = (myfm_gibbs.one_hot(split.shape, cells) for cells in (split.train, split.test))
    begin = time.process_time()
    count = myfm_gibbs.QUICK_ITERATIONS if quick else ITERATIONS
    model.fit(train, split.train.y, n_iter=count, group_shapes=list(split.shape), callback=note_time)
    samples = model.predictor_.samples
    predictions = np.array([sample.predict_score(test, []) for sample in samples], dtype=np.float32)
    return curve_of(np.array(times[-len(samples) :]) - begin, predictions, split.test.y)


def own_curve(split: Split, quick: bool) -> Curve:
    """Return the curve of this package: whole fits of several lengths, with start, warm-up, verdict and all chains."""
    ours.compile_kernels()
    curve: Curve = {"seconds": [], "rmse": []}
    for draws in LENGTHS[: 1 if quick else None]:
        with TemporaryDirectory() as folder:
            begin = processor_seconds()
            model = ours.fitted(split, quick, Path(folder) / "run", {"draws": draws})
            curve["seconds"].append(processor_seconds() - begin)
            mean = model.predict(split.test.rows, split.test.cols).mean
        curve["rmse"].append(float(np.sqrt(np.mean((mean - split.test.y) ** 2))))
    return curve


def measured(quick: bool) -> dict[str, Curve]:
    """Return the curves by method."""
    split = TABLES[TABLE].load(SPLIT_NUMBER)
    curves = {f"myFM, rank {rank}": myfm_curve(split, quick, rank) for rank in RANKS}
    return {ours.NAME: own_curve(split, quick)} | curves


def draw(curves: dict[str, Curve], path: Path) -> None:
    """Draw all curves."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for name, curve in curves.items():
        axes.plot(curve["seconds"], curve["rmse"], marker="o", markersize=3.0, label=name)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("processor seconds, all chains together")
    axes.set_ylabel("RMSE on held-out ratings (stars)")
    axes.set_title("MovieLens (ml-latest-small), 80 % to train", loc="left")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    curves = measured(given.quick)
    (given.folder / "error_by_time.json").write_text(json.dumps(curves))
    draw(curves, given.folder / "error_by_time.png")


if __name__ == "__main__":
    main()
