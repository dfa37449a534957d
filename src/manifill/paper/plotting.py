"""Matplotlib figures without a display, in one style."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from manifill.base.atomic_files import replacing

__all__ = ["COLOURS", "check_matplotlib", "saved_figure"]

# The colour-blind safe palette of Okabe and Ito.
COLOURS = {"factors": "#E69F00", "gibbs": "#0072B2", "joint": "#009E73"}

STYLE: dict[Any, Any] = {
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 9,
    "axes.titlesize": 9,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "manifill",
}


def check_matplotlib() -> None:
    """Raise an ImportError if Matplotlib is missing, before anything is run."""
    if find_spec("matplotlib") is None:
        raise ImportError("the figures need Matplotlib; install it with pip install 'manifill[plot]'.")


@contextmanager
def saved_figure(folder: Path, name: str, rows: int, columns: int, size: tuple[float, float]) -> Iterator[Any]:
    """Yield a grid of axes, (rows, columns), to draw on, then write the figure as PNG and SVG."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        yield figure.subplots(rows, columns, squeeze=False)
        folder.mkdir(parents=True, exist_ok=True)
        for kind in ("png", "svg"):
            with replacing(folder / f"{name}.{kind}") as file:
                figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
