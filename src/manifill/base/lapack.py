"""The singular value decomposition of small matrices in compiled code, by SciPy's LAPACK.

Numba's ``np.linalg.svd`` calls the same routine, but takes several times as long to compile as the code around it.
"""

import numpy as np
from numba import types
from numba.extending import get_cython_function_address

from manifill.base.arrays import Matrix, Vector
from manifill.base.jit import caller, compiled

__all__ = ["SVD_ADDRESS", "svd"]

SVD_ADDRESS = get_cython_function_address("scipy.linalg.cython_lapack", "dgesdd")

_call = caller(types.void)


@compiled
def svd(address: int, matrix: Matrix, left: Matrix, values: Vector, right: Matrix) -> bool:
    """Write left (r×r), values (r,) and right (r×k) with matrix = left diag(values) right; values are descending.

    ``matrix`` is r×k with r ≤ k, and is not modified.  ``address`` is SVD_ADDRESS; it is an argument because it differs
    between processes, and compiled code is cached.  Return whether the decomposition succeeded.
    """
    r, k = matrix.shape
    a, u, v = np.empty((k, r)), np.empty((r, r)), np.empty((k, r))  # transposed, since LAPACK is column-major
    for i in range(r):
        for j in range(k):
            a[j, i] = matrix[i, j]
    sizes = np.array([r, k, -1, 0], dtype=np.int32)  # rows, columns, length of the workspace, error code
    job, whole = np.array([ord("S")], dtype=np.uint8), np.empty(8 * r, dtype=np.int32)
    work = np.empty(1)
    for _ in range(2):  # the first call only queries the size of the workspace
        m = sizes.ctypes.data
        n, length, info = m + 4, m + 8, m + 12
        _call(
            address,
            job.ctypes.data,
            m,
            n,
            a.ctypes.data,
            m,
            values.ctypes.data,
            u.ctypes.data,
            m,
            v.ctypes.data,
            m,
            work.ctypes.data,
            length,
            whole.ctypes.data,
            info,
        )
        if sizes[2] < 0:
            sizes[2] = np.int32(work[0])
            work = np.empty(sizes[2])
    for i in range(r):
        for j in range(r):
            left[i, j] = u[j, i]
        for j in range(k):
            right[i, j] = v[j, i]
    # Using the arrays here keeps them alive during the call, which has only their addresses.
    return bool(sizes[3] == 0 and a.size + whole.size + job.size + work.size > 0)
