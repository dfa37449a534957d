"""The picture of ``manifill demo``."""

from pathlib import Path
from typing import Any

import numpy as np

from manifill.base.arrays import Matrix

__all__ = ["draw_panels"]


def draw_panels(path: Path, observed: Matrix, truth: Matrix, mean: Matrix, sd: Matrix) -> None:
    """Draw the observed, completed and true matrices and the predictive sd next to each other, (m, n) each."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    limit = float(np.quantile(np.abs(truth), 0.99))
    values: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    panels: list[tuple[str, Matrix, dict[str, Any]]] = [
        ("observed", observed, values),
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
