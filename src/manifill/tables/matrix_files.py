"""Matrices in Matrix Market files, and in npz files of NumPy or SciPy."""

import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse

from manifill.base.argument_words import Wording, message_of
from manifill.problem import Duplicates, Observations, from_array, from_sparse
from manifill.tables.input_file import InputFile
from manifill.tables.matrix_market import read_matrix_market
from manifill.tables.message_text import listed, reason
from manifill.tables.size_limit import TooLargeError, check_shape
from manifill.tables.table_layout import Layout, Table

__all__ = ["read_matrix"]


def read_matrix(file: InputFile, duplicates: Duplicates) -> Table:
    """Return the cells of a matrix: the stored cells of a sparse matrix, or all but the NaN cells of a dense one."""
    if file.extension == ".mtx":
        return Table(_numbered_from_one(read_matrix_market(file, duplicates)), Layout("wide"), ())
    return Table(_read_npz(file, duplicates), Layout("wide"), ())


def _numbered_from_one(observations: Observations) -> Observations:
    """Return observations with the numbers as labels that a Matrix Market file gives its rows and columns."""
    rows, columns = (np.arange(1, size + 1) for size in observations.shape)
    return replace(observations, row_labels=rows, column_labels=columns)


def _read_npz(file: InputFile, duplicates: Duplicates) -> Observations:
    try:
        _check_archive(file)
        with file.open() as stream:
            return _observations(file, stream, duplicates)
    except (TooLargeError, MemoryError):
        raise
    except Exception as error:  # the errors of NumPy, SciPy and zipfile for damaged files have no other base class
        message = message_of(error)
        sentence = message if isinstance(message, Wording) else reason(error) + "."
        raise ValueError(Wording(f"{file.name} cannot be read as a matrix: ", sentence)) from None


def _check_archive(file: InputFile) -> None:
    """Raise a ValueError for what is not an archive, or unpacks to too much; its members' sizes cannot be exceeded."""
    with file.open() as stream:
        if not zipfile.is_zipfile(stream):
            raise ValueError("it is damaged or not an npz file; write it with numpy.savez or scipy.sparse.save_npz")
        with zipfile.ZipFile(stream) as archive:
            file.limit.check(sum(member.file_size for member in archive.infolist()))


def _observations(file: InputFile, stream: Any, duplicates: Duplicates) -> Observations:
    with file.passes.one("arrays"), np.load(stream, allow_pickle=False) as archive:
        arrays = {name: _real(name, archive[name]) for name in archive.files}
    if "format" in arrays:
        _check_pointers(arrays)
        return from_sparse(_checked_sparse(file, _read_sparse(file)), duplicates)
    if {"rows", "cols", "values"} <= arrays.keys():
        rows, cols, values = arrays["rows"], arrays["cols"], arrays["values"]
        shape = tuple(np.atleast_1d(arrays["shape"]).tolist()) if "shape" in arrays else None
        if rows.dtype.kind in "iuf" and cols.dtype.kind in "iuf" and rows.size and cols.size:
            check_shape(file.name, shape or (rows.max() + 1, cols.max() + 1), values.size)
        return Observations.from_triples(rows, cols, values, shape, duplicates=duplicates)
    if len(arrays) == 1:
        return from_array(next(iter(arrays.values())))
    contents = listed(arrays) or "no arrays"
    raise ValueError(f"it contains {contents}; give rows, cols and values, or one matrix with NaN for missing cells")


def _read_sparse(file: InputFile) -> Any:
    with file.passes.one("matrix"), file.open() as stream:
        return scipy.sparse.load_npz(stream)


def _real(name: str, array: Any) -> Any:
    if np.iscomplexobj(array):
        raise ValueError(f"{name} contains complex numbers; give real ones")
    return array


def _check_pointers(arrays: dict[str, Any]) -> None:
    """Raise a ValueError for invalid pointers of a compressed matrix; SciPy would write outside of its arrays."""
    if "indptr" not in arrays or "indices" not in arrays:
        return
    pointers, indices = arrays["indptr"], arrays["indices"]
    is_valid = (
        pointers.dtype.kind in "iu"
        and pointers.ndim == indices.ndim == 1
        and pointers.size > 0
        and pointers[0] == 0
        and bool(np.all(pointers[1:] >= pointers[:-1]))
        and pointers[-1] <= indices.size
    )
    if not is_valid:
        raise ValueError("its indptr is not valid; write it with scipy.sparse.save_npz")


def _checked_sparse(file: InputFile, matrix: Any) -> Any:
    """Return a sparse matrix whose indices are valid."""
    if matrix.ndim != 2:
        raise ValueError(f"it contains a sparse array with {matrix.ndim} axes; give a matrix")
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    check_shape(file.name, matrix.shape, matrix.nnz)
    return matrix
