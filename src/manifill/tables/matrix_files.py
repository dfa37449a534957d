"""Matrices in Matrix Market files, and in npz files of NumPy or SciPy."""

import io
import zipfile
from typing import Any

import numpy as np
import scipy.sparse

from manifill.problem import Duplicates, Observations, from_array, from_sparse
from manifill.tables.input_file import InputFile
from manifill.tables.matrix_market import read_matrix_market
from manifill.tables.message_text import listed
from manifill.tables.table_layout import Layout, Table

__all__ = ["read_matrix"]


def read_matrix(file: InputFile, duplicates: Duplicates) -> Table:
    """Return the cells of a matrix: the stored cells of a sparse matrix, or all but the NaN cells of a dense one."""
    read = read_matrix_market if file.extension == ".mtx" else _read_npz
    try:
        observations = read(file.data, duplicates)
    except Exception as error:  # the errors of NumPy, SciPy and zipfile for damaged files have no other base class
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(f"{file.name} cannot be read as a matrix: {reason}.") from None
    return Table(observations, Layout("wide"), ())


def _read_npz(data: bytes, duplicates: Duplicates) -> Observations:
    if not zipfile.is_zipfile(io.BytesIO(data)):
        raise ValueError("it is damaged or not an npz file; write it with numpy.savez or scipy.sparse.save_npz")
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
    contents = listed(arrays) or "no arrays"
    raise ValueError(f"it contains {contents}; give rows, cols and values, or one matrix with NaN for missing cells")


def _real(name: str, array: Any) -> Any:
    if np.iscomplexobj(array):
        raise ValueError(f"{name} contains complex numbers; give real ones")
    return array
