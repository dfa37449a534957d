"""Valid files of every format, from which cases are made."""

import gzip
import io
import zipfile
from typing import Any

import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse

__all__ = ["ARCHIVES", "MATRIX_MARKETS", "PARQUETS", "TEXTS", "packed", "repacked"]

TEXTS = (
    "id,a,b\nx,1.5,\ny,2.25,1e3\nz,3,NA\n",
    "userId,movieId,rating,timestamp\n7,30,4.0,96\n7,10,3.5,97\n2,30,1.0,98\n",
    ",gene,drug,ic50\n0,g1,d1,0.5\n2,g1,d2,0.6\n5,g2,d1,0.7\n",
    "a,b,c\n1,1,9\n1,2,8\n2,1,7\n",
    "1,2,,4\n5,6,7,8\n",
    "id;a;b\nx;1,5;\ny;2,25;1e3\n",
    "a\tb\nr1\t1\t2.5\nr2\t3\t4\n",
    '"name","x, y","z"\r\n"A ""quoted"" one","1","2"\r\n"two\nlines","3",""\r\n',
    "\ufeffStraße,größe,b\nÄgir,1.5,\nÖdön,2.25,1e3\n",
    "name,flag,x,y\na,True,-999,1\nb,False,-999,2\nc,True,3,-999\nd,,4,5\ne,,5,6\nf,,6,7\n",
    "who,what,x\n'=a,@b,1\n'=a,-c,2\n+d,@b,3\n",
)

MATRIX = np.array([[0.0, np.nan, 2.5], [np.nan, -1.0, np.nan]])
ROWS, COLS = np.nonzero(~np.isnan(MATRIX))
SPARSE = scipy.sparse.coo_array((MATRIX[ROWS, COLS], (ROWS, COLS)), shape=MATRIX.shape)


def _market(matrix: Any, **options: Any) -> str:
    file = io.BytesIO()
    scipy.io.mmwrite(file, matrix, **options)
    return file.getvalue().decode("latin-1")


MATRIX_MARKETS = (
    _market(SPARSE),
    _market(np.array([[1.5, 0.0], [2.0, 3.0]])),
    "%%MatrixMarket matrix coordinate integer symmetric\n% a comment\n3 3 2\n2 1 5\n\n3 3 0\n",
    "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n",
)


def _saved(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _stored(matrix: Any) -> bytes:
    file = io.BytesIO()
    scipy.sparse.save_npz(file, matrix)
    return file.getvalue()


ARCHIVES = (
    _saved(rows=ROWS, cols=COLS, values=MATRIX[ROWS, COLS], shape=MATRIX.shape),
    _saved(rows=ROWS, cols=COLS, values=MATRIX[ROWS, COLS]),
    _saved(matrix=MATRIX),
    _stored(SPARSE),
    _stored(SPARSE.tocsr()),
    _stored(SPARSE.tocsc()),
    _stored(SPARSE.tobsr()),
    _stored(SPARSE.todia()),
)


def _parquet(frame: pd.DataFrame, **options: Any) -> bytes:
    file = io.BytesIO()
    frame.to_parquet(file, **options)
    return file.getvalue()


LONG = pd.DataFrame({"userId": [7, 7, 2], "movieId": ["b", "a", "b"], "rating": [4.0, 3.5, None]})
WIDE = pd.DataFrame(
    {
        "who": pd.Categorical(["ann", "bob"]),
        "float": np.array([1.5, np.nan], dtype=np.float32),
        "nullable": pd.array([None, 2], dtype="Int64"),
        "text": ["NA", "0.5"],
        "flag": [True, False],
        "list": [[1], [2]],
        "day": pd.to_datetime(["2020-01-01", "2020-01-02"]),
    },
    index=pd.Index([30, 10], name="batch"),
)
PARQUETS = (
    _parquet(LONG),
    _parquet(WIDE),
    _parquet(LONG, compression=None),
    _parquet(pd.concat([LONG] * 50, ignore_index=True), compression="gzip", row_group_size=40),
    _parquet(LONG.set_index(["userId", "movieId"]), compression=None, use_dictionary=False),
)


def packed(data: bytes) -> bytes:
    """Return the data compressed by gzip."""
    return gzip.compress(data, 1, mtime=0)


def repacked(archive: bytes, name: str, data: bytes) -> bytes:
    """Return an archive with other contents of one member, and valid checksums."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(file, "w") as new:
        for member in old.namelist():
            # With the time of a ZipInfo, which is always the same.
            new.writestr(zipfile.ZipInfo(member), data if member == name else old.read(member))
    return file.getvalue()
