"""Singular values of the completed matrix, and how many of its components the data support.

A component that the data determine has the same directions in all draws; one that only fills up the rank turns with
every draw, as noise does.  How well two draws agree up to a component is the cosine of the largest angle between the
spaces of their singular vectors that far; spaces, since equal singular values may swap their vectors.
"""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.posterior import Draws, Factors
from manifill.report.charts import BLUE, GREY, Chart, chart, single
from manifill.report.study import Study
from manifill.report.words import Table, span
from manifill.types import Array, Matrix, Vector

__all__ = ["Component", "Spectrum", "agreement", "spectrum"]

PAIRS = 50
SUPPORTED = 0.5

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
HEADS = ("component", "agreement", "median", "50\N{NO-BREAK SPACE}%", "90\N{NO-BREAK SPACE}%")

# Where the values span more than this factor, the small ones show only on a logarithmic axis.
WIDE_RANGE = 30.0


class Component(NamedTuple):
    """A singular value over the draws, and how well draws agree in the components up to it."""

    number: int  # from 1
    quantiles: Vector  # at QUANTILES
    agreement: float
    is_supported: bool


class Spectrum(NamedTuple):
    """The section on singular values."""

    supported: int  # number of components that the data determine
    total: int
    sentence: str
    chart: Chart
    is_logarithmic: bool
    table: Table


def spectrum(study: Study, series: dict[str, Array]) -> Spectrum:
    """Return the section; ``series`` holds the singular values of all draws."""
    values = np.stack([drawn.ravel() for name, drawn in series.items() if name.startswith("singular_value")])
    agreements = agreement(study.draws)
    supported = int(np.max(np.flatnonzero(agreements >= SUPPORTED), initial=-1)) + 1
    quantiles = np.quantile(values, QUANTILES, axis=1).T
    components = [Component(k + 1, found, float(agreements[k]), k < supported) for k, found in enumerate(quantiles)]
    medians = quantiles[:, 2]
    is_logarithmic = bool(medians[0] > WIDE_RANGE * medians[-1] > 0.0)
    return Spectrum(
        supported=supported,
        total=len(components),
        sentence=_sentence(supported, len(components), study),
        chart=_chart(components, is_logarithmic),
        is_logarithmic=is_logarithmic,
        table=Table(HEADS, [_line(component) for component in components]),
    )


def agreement(draws: Draws) -> Vector:
    """Return, for each number of leading components, how well two draws usually agree in them: from 0 to 1."""
    some = draws.thinned(2 * PAIRS, whole_chunks=False)  # neighbours are too much alike
    bases = [_bases(factors) for factors in some.factors()]
    half = len(bases) // 2
    pairs = zip(bases[:half], bases[half:], strict=False)  # from different chains, or far apart in one
    found = [_agreement_of(*pair) for pair in pairs]
    return np.median(found, axis=0) if found else np.zeros(bases[0][0].shape[1])  # a single draw shows nothing


def _bases(factors: Factors) -> tuple[Matrix, Matrix]:
    """Return the left and right singular vectors of a draw of X."""
    left, left_triangle = np.linalg.qr(factors.left)
    right, right_triangle = np.linalg.qr(factors.right)
    U, _, Vt = np.linalg.svd(left_triangle @ right_triangle.T, full_matrices=False)
    return left @ U, right @ Vt.T


def _agreement_of(one: tuple[Matrix, Matrix], other: tuple[Matrix, Matrix]) -> Vector:
    products = [a.T @ b for a, b in zip(one, other, strict=True)]
    smallest = [[np.linalg.norm(product[: k + 1, : k + 1], -2) for k in range(len(product))] for product in products]
    return np.asarray(np.min(smallest, axis=0))


def _sentence(supported: int, total: int, study: Study) -> str:
    whole = "mean, effects and low-rank part together" if study.draws.has_effects else "the low-rank part"
    rank = study.model.rank
    if supported == total:
        every = "The one component" if total == 1 else f"All {total} components"
        found = f"{every} of the completed matrix ({whole}) {'is' if total == 1 else 'are'} the same in all draws"
        if rank == min(study.draws.shape):
            return f"{found}, and it cannot have more."
        return (
            f"{found}, so the data may support more: fit with a rank above {rank}, and see whether the error on "
            "held-out cells falls."
        )
    if supported == 0:
        return (
            f"No component of the completed matrix ({whole}) is the same in all draws: there is too little data, or "
            "too much noise, to tell its structure."
        )
    leading = "component is" if supported == 1 else f"{supported} components are"
    others = "the other one turns" if total - supported == 1 else f"the other {total - supported} turn"
    return (
        f"The leading {leading} the same in all draws; {others} from draw to draw, as noise does. So the data support "
        f"a completed matrix ({whole}) of rank {supported}; to fit more components costs time but does no harm, since "
        "the prior shrinks them."
    )


def _line(component: Component) -> tuple[str, ...]:
    lowest, low, median, high, highest = (f"{value:.4g}" for value in component.quantiles)
    return str(component.number), f"{component.agreement:.2f}", median, span(low, high), span(lowest, highest)


def _chart(components: list[Component], is_logarithmic: bool) -> Chart:
    drawn: list[Any] = []
    for is_supported, colour, name in ((True, BLUE, "the data determine it"), (False, GREY, "turns like noise")):
        part = [component for component in components if component.is_supported == is_supported]
        if part:
            drawn += _bars(part, colour, name)
    return chart(
        "spectrum",
        "Singular values with 50 % and 90 % intervals",
        drawn,
        showlegend=True,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
        xaxis={"title": {"text": "component"}, "dtick": 1 if len(components) <= 15 else 5},
        yaxis={
            "title": {"text": "singular value"},
            **({"type": "log", "dtick": 1} if is_logarithmic else {}),
            "automargin": True,
            "rangemode": "tozero",
        },
    )


def _bars(components: list[Component], colour: str, name: str) -> list[Any]:
    """Return a thin bar for 90 %, a thick one for 50 %, and a dot for the median, of each component."""
    numbers = [component.number for component in components]
    lowest, low, median, high, highest = np.array([component.quantiles for component in components]).T
    bars = [(lowest, highest, 1.5), (low, high, 5.0)]
    return [
        go.Scatter(
            x=numbers,
            y=single(median),
            mode="markers",
            marker={"color": colour, "size": 8},
            name=name,
            showlegend=k == 0,
            legendgroup=name,
            error_y={
                "array": single(above - median),
                "arrayminus": single(median - below),
                "color": colour,
                "thickness": thickness,
                "width": 0,
            },
            customdata=single(np.column_stack([lowest, highest])),
            hovertemplate="component %{x}: %{y:.4g}<br>90 %: %{customdata[0]:.4g} to %{customdata[1]:.4g}"
            "<extra></extra>",
        )
        for k, (below, above, thickness) in enumerate(bars)
    ]
