"""Drawing: Matplotlib without a display, and one look for all pictures."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from manifill.files import replacing

__all__ = ["COLOURS", "check_matplotlib", "figure"]

# Okabe and Ito's colours, which the colour-blind can tell apart.
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
    """Say what is missing before anything is run."""
    if find_spec("matplotlib") is None:
        raise ImportError("the pictures need Matplotlib; pip install 'manifill[plot]' brings it.")


@contextmanager
def figure(folder: Path, name: str, rows: int, columns: int, size: tuple[float, float]) -> Iterator[Any]:
    """Give a grid of axes, (rows, columns), to draw on, and write it as PNG and SVG."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        drawn = Figure(figsize=size)
        FigureCanvasAgg(drawn)
        yield drawn.subplots(rows, columns, squeeze=False)
        folder.mkdir(parents=True, exist_ok=True)
        for kind in ("png", "svg"):
            with replacing(folder / f"{name}.{kind}") as file:
                drawn.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
