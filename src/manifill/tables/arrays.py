"""Matrices in files: Matrix Market, and NumPy's and SciPy's npz."""

import io
import zipfile
from typing import Any

import numpy as np
import scipy.sparse

from manifill.problem import Duplicates, Observations, from_array, from_sparse
from manifill.tables.files import File
from manifill.tables.layout import Layout, Table
from manifill.tables.market import read_market
from manifill.tables.words import listed

__all__ = ["read_matrix"]


def read_matrix(file: File, duplicates: Duplicates) -> Table:
    """Return the cells of a matrix: the stored ones of a sparse matrix, those that are not NaN of a dense one."""
    read = read_market if file.kind == ".mtx" else _read_npz
    try:
        observations = read(file.data, duplicates)
    except Exception as error:  # what a damaged file makes NumPy, SciPy and zipfile raise has no other common base
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{file.name} cannot be read as a matrix: {reason}.") from None
    return Table(observations, Layout("wide"), ())


def _read_npz(data: bytes, duplicates: Duplicates) -> Observations:
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise ValueError("it is damaged or no npz file; write it with numpy.savez or scipy.sparse.save_npz")
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        arrays = {name: _real(name, archive[name]) for name in archive.files}
    if "format" in arrays:
        return from_sparse(scipy.sparse.load_npz(io.BytesIO(data)), duplicates)
    if {"rows", "cols", "values"} <= arrays.keys():
        shape = tuple(np.atleast_1d(arrays["shape"]).tolist()) if "shape" in arrays else None
        return Observations.from_triples(
            arrays["rows"],
            arrays["cols"],
            arrays["values"],
            shape,
            duplicates=duplicates,
        )
    if len(arrays) == 1:
        return from_array(next(iter(arrays.values())))
    raise ValueError(
        f"it holds {listed(arrays) or 'nothing'}; give rows, cols and values, or one matrix with NaN for missing cells"
    )


def _real(name: str, array: Any) -> Any:
    if np.iscomplexobj(array):
        raise ValueError(f"{name} holds complex numbers; give real ones")
    return array
