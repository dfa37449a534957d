"""Selected rows and columns of the completed matrix, draw by draw."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from manifill.base.arrays import Array, IntVector
from manifill.posterior.draws import Draws, Factors

__all__ = ["submatrix_factors"]


def submatrix_factors(
    draws: Draws, rows: IntVector, cols: IntVector, parameters: Sequence[str] = ()
) -> Iterator[Factors]:
    """Yield the factors of X[rows][:, cols] and these parameters draw by draw, chain by chain.

    Chunks of a run on disk are always read whole.  Selecting rows and columns first avoids converting the others to
    double precision and assembling their factors.
    """
    index = {"row": rows, "column": cols}
    selected = {
        variable.name: _Selected(draws.posterior[variable.name], index[variable.dims[0]])
        for variable in draws.variables
        if variable.dims and variable.dims[0] in index
    }
    return replace(draws, posterior={**draws.posterior, **selected}).factors(parameters)


@dataclass(frozen=True, eq=False)
class _Selected:
    """A variable at selected rows or columns, (chain, draw, k, …), read by chain and slice of draws."""

    whole: Any  # (chain, draw, m or n, …)
    index: IntVector  # (k,)

    @property
    def shape(self) -> tuple[int, ...]:
        chains, draws, _, *rest = self.whole.shape
        return (chains, draws, self.index.size, *rest)

    @property
    def chunks(self) -> tuple[int, ...]:
        """Chunk shape of the whole array; one draw if it is in memory."""
        return tuple(getattr(self.whole, "chunks", (1, 1)))

    def __getitem__(self, key: tuple[int, slice]) -> Array:
        return np.asarray(self.whole[key])[:, self.index]
