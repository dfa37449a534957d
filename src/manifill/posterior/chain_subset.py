"""A subset of the chains and draws of an array on disk."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manifill.base.arrays import Array, IntVector
from manifill.posterior.checked_arrays import CheckedArray

__all__ = ["Rectangle"]


@dataclass(frozen=True, eq=False)
class Rectangle:
    """Chains ``kept`` and draws ``index`` of an array on disk, read when sliced, with NumPy's semantics."""

    whole: CheckedArray  # (chain, draw, …)
    kept: list[int]
    index: IntVector  # ascending

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the subset."""
        return (len(self.kept), self.index.size, *self.whole.shape[2:])

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """Data type of the whole array."""
        return self.whole.dtype

    @property
    def chunks(self) -> tuple[int, ...]:
        """Chunk shape of the whole array."""
        return self.whole.chunks

    def __getitem__(self, key: Any) -> Array:
        chains, *rest = key if isinstance(key, tuple) else (key,)
        draws, *others = rest or (slice(None),)
        wanted = self.index[draws]
        if isinstance(chains, (int, np.integer)):
            return self._chain(self.kept[chains], wanted, others)
        chosen = np.array(self.kept)[chains].tolist()
        if not chosen:
            return np.empty((0, *wanted.shape, *self.shape[2:]), self.dtype)
        first = self._chain(chosen[0], wanted, others)
        found = np.empty((len(chosen), *first.shape), first.dtype)  # filled chain by chain: memory holds no copies
        found[0] = first
        for k, chain in enumerate(chosen[1:], start=1):
            found[k] = self._chain(chain, wanted, others)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype=dtype)

    def _chain(self, chain: int, wanted: Any, others: list[Any]) -> Array:
        """Return draws of one chain, or raise a DamagedRunError if they cannot be draws."""
        draws = np.atleast_1d(wanted)
        found = self._read(chain, draws, others)
        self.whole.check_drawn(chain, draws, found)
        return np.asarray(found[0]) if wanted.ndim == 0 else found

    def _read(self, chain: int, wanted: IntVector, others: list[Any]) -> Array:
        """Return draws of one chain, read as one slice if they are contiguous, otherwise one by one."""
        if not wanted.size:
            return self.whole.read(chain, 0, 0, *others)
        first, end = int(wanted.min()), int(wanted.max()) + 1
        if end - first > wanted.size:
            return np.asarray(self.whole.read_some(chain, wanted)[(slice(None), *others)])
        found = self.whole.read(chain, first, end, *others)
        return found if np.array_equal(wanted, np.arange(first, end)) else np.asarray(found[wanted - first])
