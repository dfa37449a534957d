"""The draws of a run, in memory or on disk."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.arrays import Array, IntVector, Matrix
from manifill.base.variables import Variable
from manifill.base.wording import counted
from manifill.posterior.disk_recorder import DiskRecorder
from manifill.posterior.recorders import ChainRecord, largest_rectangle
from manifill.posterior.stored_draws import open_store
from manifill.posterior.zarr_store import create_store
from manifill.problem.column_units import ColumnUnits

if TYPE_CHECKING:
    from manifill.posterior.alignment import AlignedFactors

__all__ = ["Draws", "Factors"]

# Thinned draws come from at least this many chunks of a chain.
FEWEST_CHUNKS = 4


class Factors(NamedTuple):
    """One draw of the completed matrix, left · rightᵀ, and of the likelihood's parameters.

    Row and column effects are two additional columns of both factors.
    """

    left: Matrix  # (m, r), or (m, r + 2)
    right: Matrix  # (n, r), or (n, r + 2)
    parameters: dict[str, Array]  # the requested ones, by name


@dataclass(frozen=True, eq=False, repr=False)
class Draws:
    """The draws of all chains, by variable.

    Variables are attributes: ``draws.U``, ``draws.s``, ``draws.lambda_``.  Of a run on disk, only the requested slice
    is read: ``draws.U[0, -1]``.

    Parameters
    ----------
    variables
        Names, dimensions and shapes of the variables.
    posterior : (chain, draw, …) each
        NumPy arrays, or arrays on disk: U, s and V, or A and B, and the other variables of the sampler.
    statistics, warmup_statistics : (chain, draw) each
        Sampler statistics per iteration, among them ``lp``.
    attributes
        Provenance: settings, seed, versions; anything that JSON can represent.
    """

    variables: tuple[Variable, ...]
    posterior: Mapping[str, Any]
    statistics: dict[str, Array]
    warmup_statistics: dict[str, Array]
    attributes: dict[str, Any]

    @classmethod
    def from_records(cls, records: Sequence[ChainRecord], attributes: dict[str, Any]) -> "Draws":
        """Join chains; if some were stopped early, keep the largest rectangle of chains and draws.

        The records are emptied variable by variable, since all draws may not fit in memory twice.
        """
        kept, length = largest_rectangle([record.draws for record in records])
        chosen = [records[chain] for chain in kept]
        variables = chosen[0].variables
        return cls(
            variables=variables,
            posterior={v.name: _joined([record.posterior.pop(v.name) for record in chosen], length) for v in variables},
            statistics=_joined_by_name([record.statistics for record in chosen], length),
            warmup_statistics=_joined_by_name([record.warmup_statistics for record in chosen], None),
            attributes=attributes,
        )

    @classmethod
    def open(cls, path: str | Path, *, skip_damaged: bool = False) -> "Draws":
        """Open a run on disk; variables are read only when used.

        Missing or damaged files raise a DamagedRunError, here or when they are read.  With ``skip_damaged``, all draws
        are read at once, and chains with damaged files are left out.
        """
        return cls(*open_store(path, skip_damaged=skip_damaged))

    def save(self, path: str | Path) -> None:
        """Write the draws to disk, factors in single precision, for ``Draws.open`` and xarray."""
        names = tuple(self.statistics)
        warmup = next((series.shape[1] for series in self.warmup_statistics.values()), 0)
        create_store(path, self.variables, names, self.chains, self.draws, warmup, self.attributes)
        for chain in range(self.chains):
            recorder = DiskRecorder(path, chain, self.variables, names, warmup)
            for k in range(warmup):
                recorder.warm({name: series[chain, k] for name, series in self.warmup_statistics.items()})
            variables = {v.name: self.each(v.name, chain) for v in self.variables}
            for k in range(self.draws):
                draw = {name: next(values) for name, values in variables.items()}
                recorder.append(draw, {name: series[chain, k] for name, series in self.statistics.items()})
            recorder.finish()

    @property
    def chains(self) -> int:
        """Number of chains."""
        return int(self.posterior[self._sides[0]].shape[0])

    @property
    def draws(self) -> int:
        """Number of draws per chain."""
        return int(self.posterior[self._sides[0]].shape[1])

    @property
    def total(self) -> int:
        """Number of draws of all chains."""
        return self.chains * self.draws

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of X, (m, n)."""
        left, right = self._sides
        return int(self.posterior[left].shape[2]), int(self.posterior[right].shape[2])

    def factors(self, parameters: Sequence[str] = ()) -> Iterator[Factors]:
        """Yield X and these parameters draw by draw, chain by chain.

        Each chunk of a run on disk is read once.
        """
        for chain in range(self.chains):
            series = [self.each(name, chain) for name in parameters]
            for left, right, *values in zip(self._lefts(chain), self._rights(chain), *series, strict=True):
                found = {name: np.asarray(value) for name, value in zip(parameters, values, strict=True)}
                yield Factors(left, right, found)

    def thinned(self, count: int, *, whole_chunks: bool = True) -> "Draws":
        """Return at least ``count`` draws, evenly spread over all chains, or all draws if there are fewer.

        From a run on disk whole chunks are taken, since reading part of a chunk takes as long, unless the chunks would
        be too few to be spread over the chain.  With ``whole_chunks=False``, single draws are taken, as far apart as
        possible, which is slower to read.
        """
        wanted = -(-count // self.chains)  # of each chain
        chunk = getattr(self.posterior[self._sides[1]], "chunks", (1, 1))[1]
        chunk = chunk if whole_chunks and FEWEST_CHUNKS * chunk <= wanted else 1
        whole, parts = self.draws // chunk, -(-wanted // chunk)
        if parts >= whole:
            return self
        starts = np.arange(parts) * whole // parts * chunk
        index = (starts[:, None] + np.arange(chunk)).ravel()
        posterior = {name: _draws_of(array, index) for name, array in self.posterior.items()}
        statistics = {name: series[:, index] for name, series in self.statistics.items()}
        return replace(self, posterior=posterior, statistics=statistics)

    def each(self, name: str, chain: int) -> Iterator[Array]:
        """Yield a variable of one chain draw by draw, in float64; each chunk of a run on disk is read once."""
        array = self.posterior[name]
        step = getattr(array, "chunks", (1, 1))[1]  # a slice of a NumPy array costs nothing
        for first in range(0, self.draws, step):
            yield from np.asarray(array[chain, first : first + step], dtype=np.float64)

    def aligned(self) -> "AlignedFactors":
        """Return U, s and V with a common order and common signs of components: mean, sd, and each draw.

        Columns of nearly equal singular values stay undetermined (:mod:`manifill.posterior.alignment`).
        """
        from manifill.posterior.alignment import aligned  # slow to import, and it imports this module

        return aligned(self)

    def to_arviz(self, row_labels: ArrayLike | None = None, column_labels: ArrayLike | None = None) -> Any:
        """Return the draws for ArviZ: an ``InferenceData`` for ArviZ 0.x, an xarray ``DataTree`` for 1.x.

        Groups are ``posterior``, ``sample_stats``, ``warmup_sample_stats``, and ``constant_data`` with the column
        scales if columns were scaled; settings, seed and versions are attributes.  Nothing is copied: variables in
        memory are shared, and those of a run on disk are read lazily, so ``arviz.summary(tree, var_names=["sigma"])``
        does not read U.  U and V are as drawn, without a common order or common signs (see ``aligned``), so their R-hat
        and ESS are meaningless.

        Parameters
        ----------
        row_labels : (m,)
        column_labels : (n,)
            Coordinates of rows and columns; numbers from 0 by default.
        """
        from manifill.posterior.arviz_groups import assembled, draw_groups  # only here, since it needs ArviZ

        return assembled(draw_groups(self, row_labels, column_labels), self.attributes)

    @property
    def column_scales(self) -> Array:
        """The spreads of the columns, (n,), if columns were scaled or transformed for the fit, or 1."""
        return np.asarray(self.attributes.get("column_scales", 1.0))

    @property
    def column_units(self) -> ColumnUnits:
        """How the data's values are related to those of the model."""
        return ColumnUnits.of_attributes(self.attributes)

    @property
    def has_effects(self) -> bool:
        """Whether row and column effects were drawn."""
        return "row_effect" in self.posterior

    @property
    def _sides(self) -> tuple[str, str]:
        return ("U", "V") if "U" in self.posterior else ("A", "B")

    def _lefts(self, chain: int) -> Iterator[Matrix]:
        """Yield the left factor of one chain: U·s or A, with columns [μ + a, 1] appended if there are effects."""
        if not self.has_effects:
            yield from self._low_rank_lefts(chain)
            return
        effects = zip(self.each("mu", chain), self.each("row_effect", chain), strict=True)
        for left, (mu, row) in zip(self._low_rank_lefts(chain), effects, strict=True):
            yield np.column_stack([left, mu + row, np.ones(len(row))])

    def _low_rank_lefts(self, chain: int) -> Iterator[Matrix]:
        if "U" not in self.posterior:
            return self.each("A", chain)
        return (U * s for U, s in zip(self.each("U", chain), self.each("s", chain), strict=True))

    def _rights(self, chain: int) -> Iterator[Matrix]:
        """Yield the right factor of one chain: V or B, with columns [1, b] appended if there are effects."""
        rights = self.each(self._sides[1], chain)
        if not self.has_effects:
            yield from rights
            return
        for V, column in zip(rights, self.each("column_effect", chain), strict=True):
            yield np.column_stack([V, np.ones(len(column)), column])

    def __getattr__(self, name: str) -> Any:
        # Also called during unpickling, before the fields exist; ``self.posterior`` would then recurse.
        posterior = self.__dict__.get("posterior", {})
        known = {"lambda_" if key == "lambda" else key: key for key in posterior}
        if name not in known:
            raise AttributeError(f"Draws have no {name!r}; the variables are {', '.join(known)}.")
        return posterior[known[name]]

    def __repr__(self) -> str:
        m, n = self.shape
        size = f"{counted(self.chains, 'chain')} × {counted(self.draws, 'draw')}"
        return f"Draws({', '.join(self.posterior)}: {size} of a {m}×{n} matrix)"


def _draws_of(array: Any, index: IntVector) -> Any:
    """Return some draws of a variable; one on disk is not read yet."""
    if isinstance(array, np.ndarray):
        return array[:, index]
    return replace(array, index=array.index[index])


def _joined(chains: Sequence[Array], length: int | None) -> Array:
    return np.stack([chain[:length] for chain in chains])


def _joined_by_name(chains: Sequence[Mapping[str, Array]], length: int | None) -> dict[str, Array]:
    return {name: _joined([chain[name] for chain in chains], length) for name in chains[0]}
