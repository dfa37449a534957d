"""Singular values of the completed matrix, and the number of components that the data determine.

A component that the data determine has the same singular vectors in all draws; the vectors of any other component vary
from draw to draw.  The agreement of two draws up to component k is the cosine of the largest angle between the spaces
spanned by their first k singular vectors.  Spaces are compared because components with nearly equal singular values may
swap their vectors.
"""

from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from manifill.base import progress
from manifill.base.arrays import Array, Matrix, Vector
from manifill.posterior import Draws, Factors
from manifill.report.charts import BLUE, GREY, Chart, as_float32, chart
from manifill.report.formatting import PageTable, format_interval
from manifill.report.report_data import ReportData

__all__ = ["Component", "Spectrum", "agreement", "spectrum"]

PAIRS = 50  # of draws that are compared
SUPPORT_THRESHOLD = 0.5  # agreement from which a component counts as determined by the data

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
HEADER = ("component", "agreement", "median", "50\N{NO-BREAK SPACE}%", "90\N{NO-BREAK SPACE}%")

# If the largest value exceeds the smallest by more than this factor, the axis is logarithmic.
WIDE_RANGE = 30.0


class Component(NamedTuple):
    """Posterior quantiles of a singular value, and the agreement of draws in the components up to it."""

    number: int  # from 1
    quantiles: Vector  # at QUANTILES
    agreement: float
    is_supported: bool


class Spectrum(NamedTuple):
    """The section on singular values."""

    supported: int  # number of components that the data determine
    total: int
    summary: str
    chart: Chart
    is_logarithmic: bool
    table: PageTable


def spectrum(data: ReportData, series: dict[str, Array]) -> Spectrum:
    """Return the section; ``series`` contains the singular values of all draws, (chain, draw) each."""
    values = np.stack([drawn.ravel() for name, drawn in series.items() if name.startswith("singular_value")])
    agreements = agreement(data.draws)
    supported = int(np.max(np.flatnonzero(agreements >= SUPPORT_THRESHOLD), initial=-1)) + 1
    quantiles = np.quantile(values, QUANTILES, axis=1).T
    components = [Component(k + 1, found, float(agreements[k]), k < supported) for k, found in enumerate(quantiles)]
    medians = quantiles[:, 2]
    is_logarithmic = bool(medians[0] > WIDE_RANGE * medians[-1] > 0.0)
    return Spectrum(
        supported=supported,
        total=len(components),
        summary=f"{_summary(supported, len(components), data)} {_effective_rank(data)}",
        chart=_chart(components, is_logarithmic),
        is_logarithmic=is_logarithmic,
        table=PageTable(HEADER, [_row(component) for component in components]),
    )


def agreement(draws: Draws) -> Vector:
    """Return the median agreement of two draws in their first k components, for each k, (components,)."""
    some = draws.thinned(2 * PAIRS, whole_chunks=False)  # successive draws are correlated
    bases = [_bases(each) for each in progress.counted(some.factors(), "comparing components", some.total, "draws")]
    half = len(bases) // 2
    pairs = zip(bases[:half], bases[half:], strict=False)  # from different chains, or far apart in one chain
    found = [_pair_agreement(*pair) for pair in pairs]
    return np.median(found, axis=0) if found else np.zeros(bases[0][0].shape[1])  # one draw cannot be compared


def _bases(factors: Factors) -> tuple[Matrix, Matrix]:
    """Return the left and right singular vectors of a draw of X."""
    left, left_triangle = np.linalg.qr(factors.left)
    right, right_triangle = np.linalg.qr(factors.right)
    U, _, Vt = np.linalg.svd(left_triangle @ right_triangle.T, full_matrices=False)
    return left @ U, right @ Vt.T


def _pair_agreement(one: tuple[Matrix, Matrix], other: tuple[Matrix, Matrix]) -> Vector:
    products = [a.T @ b for a, b in zip(one, other, strict=True)]
    smallest = [[np.linalg.norm(product[: k + 1, : k + 1], -2) for k in range(len(product))] for product in products]
    return np.asarray(np.min(smallest, axis=0))


def _effective_rank(data: ReportData) -> str:
    term = " of the low-rank term alone" if data.draws.has_effects else ""
    return (
        f"The effective rank{term}, which counts components by their shares of the sum of the singular values, is "
        f"{data.model.effective_rank_}."
    )


def _summary(supported: int, total: int, data: ReportData) -> str:
    terms = "mean, effects and low-rank term together" if data.draws.has_effects else "the low-rank term"
    rank = data.model.model_.rank
    if supported == total:
        every = "The one component" if total == 1 else f"All {total} components"
        found = f"{every} of the completed matrix ({terms}) {'agrees' if total == 1 else 'agree'} across draws"
        if rank == min(data.draws.shape):
            return f"{found}. The rank cannot be larger."
        return (
            f"{found}, so the data may support more: fit with a rank above {rank}, and check whether the error on "
            "held-out cells decreases."
        )
    if supported == 0:
        return (
            f"No component of the completed matrix ({terms}) agrees across draws: there are too few data, or too much "
            "noise, to determine its structure."
        )
    leading = "component agrees" if supported == 1 else f"{supported} components agree"
    others = "the other one varies" if total - supported == 1 else f"the other {total - supported} vary"
    return (
        f"The leading {leading} across draws; {others} from draw to draw, like noise. The data support a completed "
        f"matrix ({terms}) of rank {supported}. Additional components take time but do no harm, since the prior "
        "shrinks them."
    )


def _row(component: Component) -> tuple[str, ...]:
    lowest, low, median, high, highest = (f"{value:.4g}" for value in component.quantiles)
    return (
        str(component.number),
        f"{component.agreement:.2f}",
        median,
        format_interval(low, high),
        format_interval(lowest, highest),
    )


def _chart(components: list[Component], is_logarithmic: bool) -> Chart:
    traces: list[Any] = []
    for is_supported, colour, name in ((True, BLUE, "determined by the data"), (False, GREY, "varies between draws")):
        part = [component for component in components if component.is_supported == is_supported]
        if part:
            traces += _bars(part, colour, name)
    return chart(
        "spectrum",
        "Singular values with 50 % and 90 % intervals",
        traces,
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
    """Return a thin bar for the 90 % interval, a thick one for 50 %, and a dot for the median of each component."""
    numbers = [component.number for component in components]
    lowest, low, median, high, highest = np.array([component.quantiles for component in components]).T
    bars = [(lowest, highest, 1.5), (low, high, 5.0)]
    return [
        go.Scatter(
            x=numbers,
            y=as_float32(median),
            mode="markers",
            marker={"color": colour, "size": 8},
            name=name,
            showlegend=k == 0,
            legendgroup=name,
            error_y={
                "array": as_float32(above - median),
                "arrayminus": as_float32(median - below),
                "color": colour,
                "thickness": thickness,
                "width": 0,
            },
            customdata=as_float32(np.column_stack([lowest, highest])),
            hovertemplate="component %{x}: %{y:.4g}<br>90 %: %{customdata[0]:.4g} to %{customdata[1]:.4g}"
            "<extra></extra>",
        )
        for k, (below, above, thickness) in enumerate(bars)
    ]
