"""Convergence diagnostics: a table, and a verdict in one sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from manifill.base.arrays import Array, Generator, Vector
from manifill.base.wording import counted
from manifill.posterior.draws import Draws
from manifill.posterior.identified import identified_quantities
from manifill.problem.cell_names import CellNames

__all__ = ["Diagnostics", "Quantity", "diagnose"]

# The thresholds of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), doi:10.1214/20-BA1221.
LARGEST_RHAT = 1.01
SMALLEST_ESS_PER_CHAIN = 100
TAIL = (0.05, 0.95)

LARGEST_DEPTH_LIMIT_SHARE = 0.01

# The last part of warm-up, whose trees are checked like those of draws: trajectory lengths are learned from them.
LATE_WARMUP = 0.3
SMALLEST_DRAWS = 8  # the least for which a quarter of a chain has a variance
LARGEST_LAG = 50
TABLE_ROWS = 10


class Quantity(NamedTuple):
    """Summary of a scalar quantity over all draws."""

    name: str
    mean: float
    sd: float
    rhat: float
    ess_bulk: float
    ess_tail: float


@dataclass(frozen=True)
class Diagnostics:
    """Convergence diagnostics of a run; ``print`` it for a table."""

    quantities: tuple[Quantity, ...]
    autocorrelation: dict[str, Vector]  # by quantity, at lags 0, 1, …; mean over chains
    divergences: int
    depth_limit_share: float  # of trees that reached the depth limit: of draws or of late warm-up, whichever is larger
    draws: int  # per chain
    chains: int
    converged: bool
    reasons: tuple[str, ...]  # why not, each with a remedy

    @property
    def verdict(self) -> str:
        """Whether the chains have converged, in one sentence."""
        lone = "; one chain cannot show that chains agree, run several" if self.chains == 1 else ""
        if not self.converged:
            return f"Not converged: {'; '.join(self.reasons)}{lone}."
        rhat = max(q.rhat for q in self.quantities)
        bulk, tail = min(q.ess_bulk for q in self.quantities), min(q.ess_tail for q in self.quantities)
        return (
            f"Converged: over {len(self.quantities)} quantities R-hat is at most {rhat:.3f} and the effective sample "
            f"size at least {bulk:.0f} (bulk) and {tail:.0f} (tail), and no draw diverged{lone}."
        )

    def __str__(self) -> str:
        worst_first = sorted(self.quantities, key=lambda q: -np.inf if np.isnan(q.rhat) else -q.rhat)
        width = max(len(q.name) for q in self.quantities)
        lines = [self.verdict, "", f"{'':{width}}      mean        sd   R-hat  ESS bulk  ESS tail"]
        for q in worst_first[:TABLE_ROWS]:
            figures = f"{q.mean:10.4g}{q.sd:10.4g}{q.rhat:8.3f}{q.ess_bulk:10.0f}{q.ess_tail:10.0f}"
            lines.append(f"{q.name:{width}}{figures}")
        if len(worst_first) > TABLE_ROWS:
            lines.append(f"and {len(worst_first) - TABLE_ROWS} more with a smaller R-hat")
        return "\n".join(lines)


def diagnose(
    rng: Generator, draws: Draws, parameters: Sequence[str] = (), names: CellNames | None = None
) -> Diagnostics:
    """Diagnose the chains by their identified quantities; ``rng`` chooses the cells of X among them.

    ``parameters`` names those of the likelihood; one that never changes was fixed by the user and is left out.
    ``names`` are those of rows and columns; without them, cells have indices.
    """
    series = identified_quantities(rng, draws, parameters, names=names)
    for name in parameters:
        if _is_constant(series[name]):
            del series[name]
    quantities = _summaries(series)
    statistics = draws.statistics
    divergences = int(statistics["diverging"].sum()) if "diverging" in statistics else 0
    share = max(_share_cut(statistics), _share_cut(draws.warmup_statistics, LATE_WARMUP))
    if draws.draws < SMALLEST_DRAWS:
        verb = "is" if draws.draws == 1 else "are"
        few = f"{counted(draws.draws, 'draw')} per chain {verb} too few to diagnose"
        reasons = [f"{few} (take at least {SMALLEST_ESS_PER_CHAIN})"]
    else:
        reasons = [*_faults_of_quantities(series, quantities), *_faults_of_sampler(draws, divergences, share)]
    return Diagnostics(
        quantities=quantities,
        autocorrelation=_autocorrelations(series),
        divergences=divergences,
        depth_limit_share=share,
        draws=draws.draws,
        chains=draws.chains,
        converged=not reasons,
        reasons=tuple(reasons),
    )


def _share_cut(statistics: Mapping[str, Array], last: float = 1.0) -> float:
    """Return the share of trees that reached the depth limit, in the last fraction of the iterations."""
    cut = statistics.get("reached_max_depth", np.zeros((1, 0)))
    late = cut[:, cut.shape[1] - round(last * cut.shape[1]) :]
    return float(late.mean()) if late.size else 0.0


def _is_constant(values: Array) -> bool:
    return bool(np.all(values == values.flat[0]))


def _array_stats() -> Any:
    """Return ArviZ's statistics of arrays; importing them takes two seconds, so it is done only when needed."""
    return import_module("arviz_stats.base").array_stats


def _summaries(series: Mapping[str, Array]) -> tuple[Quantity, ...]:
    array_stats = _array_stats()
    values = np.stack(list(series.values()))
    with np.errstate(all="ignore"):  # quantities that are not finite are reported later
        figures = (
            values.mean(axis=(1, 2)),
            values.std(axis=(1, 2)),
            array_stats.rhat(_at_least_two_chains(values), chain_axis=1, draw_axis=2, method="rank"),
            array_stats.ess(values, chain_axis=1, draw_axis=2, method="bulk"),
            array_stats.ess(values, chain_axis=1, draw_axis=2, method="tail", prob=TAIL),
        )
    return tuple(Quantity(name, *map(float, of_one)) for name, *of_one in zip(series, *figures, strict=True))


def _at_least_two_chains(values: Array) -> Array:
    """Return a single chain as its two halves, since ArviZ requires at least two chains before it splits them again."""
    if values.shape[1] > 1:
        return values
    half = values.shape[2] // 2
    return np.concatenate([values[:, :, :half], values[:, :, -half:]], axis=1) if half else values


def _autocorrelations(series: Mapping[str, Array]) -> dict[str, Vector]:
    array_stats = _array_stats()
    with np.errstate(all="ignore"):
        return {
            name: np.asarray(array_stats.autocorr(values, axis=-1).mean(axis=0)[: LARGEST_LAG + 1])
            for name, values in series.items()
        }


def _faults_of_quantities(series: Mapping[str, Array], quantities: tuple[Quantity, ...]) -> Iterator[str]:
    stuck = [name for name, values in series.items() if _is_constant(values)]
    if stuck:
        yield f"{_listed(stuck)} never moved (take more warm-up, or check the scale of the data)"
    moving = [q for q in quantities if q.name not in stuck]
    unknown = [q.name for q in moving if np.isnan(q[1:]).any()]
    if unknown:
        yield f"{_listed(unknown)} gave no R-hat or ESS (check for draws that are not finite)"
    known = [q for q in moving if q.name not in unknown]
    if not known:
        return
    worst = max(known, key=lambda q: q.rhat)
    if worst.rhat > LARGEST_RHAT:
        yield f"R-hat of {worst.name} is {worst.rhat:.4g}, above {LARGEST_RHAT} (take more warm-up and draws)"
    needed = SMALLEST_ESS_PER_CHAIN * next(iter(series.values())).shape[0]
    smallest = {
        "bulk": min((q.ess_bulk, q.name) for q in known),
        "tail": min((q.ess_tail, q.name) for q in known),
    }
    for kind, (size, name) in smallest.items():
        if size < needed:
            yield f"the {kind} ESS of {name} is {size:.0f}, below {needed} (take more draws)"


def _faults_of_sampler(draws: Draws, divergences: int, depth_limit_share: float) -> Iterator[str]:
    if divergences:
        yield f"{divergences} of {counted(draws.chains * draws.draws, 'draw')} diverged (raise the target acceptance)"
    if depth_limit_share > LARGEST_DEPTH_LIMIT_SHARE:
        yield f"{depth_limit_share:.1%} of the trees reached the depth limit (raise the maximum depth)"


def _listed(names: list[str]) -> str:
    """Return the first name, and the number of further ones."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
