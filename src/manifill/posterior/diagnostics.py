"""Convergence diagnostics: a table, and two verdicts, on predictions and on global quantities."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from manifill.base.argument_words import Argument, Wording, strung
from manifill.base.arrays import Array, Vector
from manifill.base.wording import counted
from manifill.posterior.draws import Draws
from manifill.posterior.identified import Series
from manifill.posterior.quantities import Quantity, autocorrelations
from manifill.posterior.use_verdict import Colour, Reason, UseVerdict, judge

__all__ = ["Diagnostics", "diagnose"]

# Shares of draws that diverged.  Divergent draws bias scales of effects and singular values first; if they are rare,
# predictions hardly notice them.
RARE_DIVERGENCES, MANY_DIVERGENCES = 0.001, 0.01

LARGEST_DEPTH_LIMIT_SHARE = 0.01

# The part of warm-up whose trees are checked like those of draws: ``joint`` learns trajectory lengths from
# these, and builds none later.
LATE_TREES = 0.5, 0.7
TABLE_ROWS = 10


@dataclass(frozen=True)
class Diagnostics:
    """Convergence diagnostics of a run; ``print`` it for a table."""

    predictions: UseVerdict  # on X at cells, the noise there, and scores of held-out cells
    global_quantities: UseVerdict  # on singular values, hyper-parameters, and the log density
    autocorrelation: dict[str, Vector]  # by quantity, at lags 0, 1, …; mean over chains
    divergences: int
    depth_limit_share: float  # of trees that reached the depth limit: of draws or of late warm-up, whichever is larger
    draws: int  # per chain
    chains: int

    @property
    def converged(self) -> bool:
        """Whether predictions are green, so that they can be used; global quantities may still be uncertain."""
        return self.predictions.colour == Colour.GREEN

    @property
    def all_converged(self) -> bool:
        """Whether predictions and global quantities are both green."""
        return self.converged and self.global_quantities.colour == Colour.GREEN

    @property
    def reasons(self) -> tuple[Wording, ...]:
        """Why predictions are not green, each with a remedy."""
        return self.predictions.reasons

    @property
    def verdict(self) -> Wording:
        """The verdicts on predictions and on global quantities, a sentence for each."""
        return Wording(*strung([found.sentence for found in self._verdicts], " "))

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities of both verdicts."""
        return self.predictions.quantities + self.global_quantities.quantities

    def tables(self) -> Wording:
        """Return both verdicts, each with a table of the quantities that it is based on."""
        width = max(len(q.name) for q in self.quantities)
        first, second = ([found.sentence, "", *_table(found, width)] for found in self._verdicts)
        return Wording(*strung([*first, "", *second], "\n"))

    def __str__(self) -> str:
        return str(self.tables())

    @property
    def _verdicts(self) -> tuple[UseVerdict, UseVerdict]:
        return self.predictions, self.global_quantities


def _table(found: UseVerdict, width: int) -> Iterator[str]:
    worst_first = sorted(found.quantities, key=lambda q: -np.inf if np.isnan(q.rhat) else -q.rhat)
    yield f"{'':{width}}      mean        sd   R-hat  ESS bulk  ESS tail"
    for q in worst_first[:TABLE_ROWS]:
        yield f"{q.name:{width}}{q.mean:10.4g}{q.sd:10.4g}{q.rhat:8.3f}{q.ess_bulk:10.0f}{q.ess_tail:10.0f}"
    if len(worst_first) > TABLE_ROWS:
        yield f"and {len(worst_first) - TABLE_ROWS} more with a smaller R-hat"


def diagnose(draws: Draws, series: Series) -> Diagnostics:
    """Diagnose the chains by their statistics and by these series, those of ``diagnosed_series`` or more."""
    statistics = draws.statistics
    divergences = int(statistics["diverging"].sum()) if "diverging" in statistics else 0
    share = max(_share_cut(statistics), _share_cut(draws.warmup_statistics, LATE_TREES))
    lone, diverged = tuple(_lone_chain(draws)), _divergences(draws, divergences)
    in_predictions = diverged if divergences > RARE_DIVERGENCES * draws.chains * draws.draws else ()
    return Diagnostics(
        predictions=judge("predictions", series.predictions, (*in_predictions, *lone), series.averages),
        global_quantities=judge(
            "global quantities", series.global_quantities, (*diverged, *_depth_limit(share), *lone)
        ),
        autocorrelation=autocorrelations(series.predictions | series.global_quantities),
        divergences=divergences,
        depth_limit_share=share,
        draws=draws.draws,
        chains=draws.chains,
    )


def _share_cut(statistics: Mapping[str, Array], between: tuple[float, float] = (0.0, 1.0)) -> float:
    """Return the share of trees that reached the depth limit, between two fractions of the iterations."""
    cut = statistics.get("reached_max_depth", np.zeros((1, 0)))
    first, last = (round(fraction * cut.shape[1]) for fraction in between)
    looked_at = cut[:, first:last]
    return float(looked_at.mean()) if looked_at.size else 0.0


def _lone_chain(draws: Draws) -> Iterator[Reason]:
    if draws.chains == 1:
        text = Wording("one chain cannot show that chains agree (run several, ", Argument("chains", 4), ")")
        yield Reason(Colour.AMBER, text)


def _divergences(draws: Draws, divergences: int) -> tuple[Reason, ...]:
    total = draws.chains * draws.draws
    if not divergences:
        return ()
    text = Wording(f"{divergences} of {counted(total, 'draw')} diverged (raise ", Argument("target_acceptance"), ")")
    return (Reason(Colour.RED if divergences > MANY_DIVERGENCES * total else Colour.AMBER, text),)


def _depth_limit(share: float) -> Iterator[Reason]:
    if share > LARGEST_DEPTH_LIMIT_SHARE:
        text = Wording(f"{share:.1%} of the trees reached the depth limit (raise ", Argument("max_depth"), ")")
        yield Reason(Colour.AMBER, text)
