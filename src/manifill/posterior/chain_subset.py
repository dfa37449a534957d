"""A subset of the chains and draws of an array on disk."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manifill.base.arrays import Array, IntVector

__all__ = ["Rectangle"]


@dataclass(frozen=True, eq=False)
class Rectangle:
    """Chains ``kept`` and draws ``index`` of a Zarr array, read when sliced, with NumPy's semantics."""

    whole: Any  # (chain, draw, …)
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
        return tuple(self.whole.chunks)

    def __getitem__(self, key: Any) -> Array:
        chains, *rest = key if isinstance(key, tuple) else (key,)
        draws, *others = rest or (slice(None),)
        wanted = self.index[draws]
        if isinstance(chains, (int, np.integer)):
            return self._chain(self.kept[chains], wanted, others)
        parts = [self._chain(chain, wanted, others) for chain in np.array(self.kept)[chains].tolist()]
        return np.stack(parts) if parts else np.empty((0, *wanted.shape, *self.shape[2:]), self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self[:], dtype=dtype)

    def _chain(self, chain: int, wanted: Any, others: list[Any]) -> Array:
        """Return draws of one chain, read as one slice if they are contiguous, otherwise one by one."""
        if wanted.ndim == 0:
            return np.asarray(self.whole[(chain, int(wanted), *others)])
        if not wanted.size:
            return np.asarray(self.whole[(chain, slice(0, 0), *others)])
        first, end = int(wanted.min()), int(wanted.max()) + 1
        if end - first > wanted.size:
            return np.asarray(self.whole.oindex[chain, wanted][(slice(None), *others)])
        found = np.asarray(self.whole[(chain, slice(first, end), *others)])
        return np.asarray(found[wanted - first])
