"""Rows and columns by label, or by index if they have no labels."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.arrays import Array, IntVector
from manifill.base.wording import counted
from manifill.problem.cell_names import as_text

__all__ = ["as_indices", "located"]


def located(name: str, given: ArrayLike, labels: Array | None, size: int) -> IntVector:
    """Return the index of each label, or check indices if there are no labels; ``name`` is that of the argument."""
    if labels is None:
        found = as_indices(name, given)
        if found.size and found.max() >= size:
            raise ValueError(f"{name} holds the index {found.max()}, but there are only {size} (0 to {size - 1}).")
        return found
    wanted = _as_dates(name, given, labels.dtype) if labels.dtype.kind == "M" else np.asarray(given, dtype=object)
    positions = {key: k for k, key in enumerate(_keys(labels))}
    indices = [positions.get(key, -1) for key in _keys(wanted.ravel())]
    if -1 in indices:
        label = _plain(wanted.flat[indices.index(-1)])
        shown = as_text(label) if isinstance(label, np.datetime64) else repr(label)
        raise ValueError(f"{name} holds {shown}, which is not among the {counted(size, 'label')} of the fit.")
    return np.array(indices, dtype=np.int64)


def as_indices(name: str, given: ArrayLike) -> IntVector:
    """Return whole numbers from 0, or raise a ValueError."""
    found = np.asarray(given)
    if found.ndim != 1:
        raise ValueError(f"{name} must be a list of indices, not an array of shape {found.shape}.")
    if not found.size:
        return np.empty(0, dtype=np.int64)
    if np.issubdtype(found.dtype, np.floating):
        odd = found[~(np.isfinite(found) & (found == np.rint(found)))]
    else:
        odd = found[:0] if np.issubdtype(found.dtype, np.integer) else found
    if odd.size:
        raise ValueError(f"{name} must hold whole numbers from 0, not {odd.dtype} such as {_plain(odd[0])!r}.")
    if found.min() < 0:
        raise ValueError(f"{name} holds the negative index {found.min():.0f}; indices count from 0.")
    return found.astype(np.int64)


def _keys(labels: Array) -> list[Any]:
    """Return labels as Python values, which can be looked up; dates as numbers."""
    values = labels.astype(np.int64) if labels.dtype.kind == "M" else labels
    return [_plain(label) for label in values.tolist()]


def _as_dates(name: str, given: ArrayLike, dtype: Any) -> Array:
    """Return dates, or text that contains dates, as NumPy dates of this type."""
    try:
        return np.asarray(given, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold dates, as the labels of the fit are: {error}.") from None


def _plain(label: Any) -> Any:
    """Return a NumPy number or text as a Python value, which has the hash of the stored label."""
    return label.item() if isinstance(label, np.generic) and not isinstance(label, np.datetime64) else label
