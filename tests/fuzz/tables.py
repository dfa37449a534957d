"""Files of every format: valid ones that were changed, and ones made of odd contents in a valid form."""

import io
import math
import zipfile
from random import Random
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from tests.fuzz.mutations import TOKENS, mutated_bytes, mutated_text
from tests.fuzz.seeds import ARCHIVES, MATRIX_MARKETS, PARQUETS, TEXTS, packed, repacked

__all__ = ["matrix_file", "odd_array", "table_file"]

HEADERS = ("id", "a", "b", "user", "item", "rating", "gene", "drug", "timestamp", "", "Unnamed: 0", "0", "1", "=f()")
# What a column may be made of, so that it is one of numbers, of labels, or of anything.
FILLS: tuple[tuple[str, ...], ...] = (
    ("1", "2", "3", "4"),
    ("x", "y", "z", "ä", "007"),
    ("0.5", "1.5", "-2", "1e3", "", "NA", "-999"),
    TOKENS,
)
TYPES: dict[Any, tuple[Any, ...]] = {
    pyarrow.int64(): (0, 1, -1, 2**62, None),
    pyarrow.uint64(): (0, 1, 2**64 - 1, None),
    pyarrow.float64(): (0.5, -1.0, float("nan"), float("inf"), 1e308, None),
    pyarrow.float32(): (0.5, -1.0, None),
    pyarrow.string(): ("x", "y", "1", "NA", "", "=x", None),
    pyarrow.binary(): (b"x", b"\xff\xfe", b"", None),
    pyarrow.bool_(): (True, False, None),
    pyarrow.timestamp("ns"): (0, 1, 2**62, None),
    pyarrow.date32(): (0, -(2**31), None),
    pyarrow.decimal128(38, 3): (1, -2, None),
    pyarrow.list_(pyarrow.int64()): ([1], [], None),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()): ("x", "y", None),
    pyarrow.null(): (None,),
}
DTYPES = ("i8", "i4", "u8", "f8", "f4", "c16", "?", "S3", "U2", "M8[s]", "i8,f8")
ARRAYS = ("rows", "cols", "values", "shape", "row", "col", "data", "indices", "indptr", "offsets", "format", "matrix")


def table_file(random: Random) -> tuple[str, bytes]:
    """Return the name and the contents of a table: text, compressed text or Parquet."""
    kind = random.random()
    if kind < 0.1:
        return "t.parquet", mutated_bytes(random, random.choice(PARQUETS))
    if kind < 0.2:
        return "t.parquet", _parquet(random)
    name = random.choice(("t.csv", "t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.tsv.gz"))
    text = _valid_form(random) if random.random() < 0.5 else mutated_text(random, random.choice(TEXTS))
    if name.startswith("t.tsv") and random.random() < 0.9:
        text = text.replace(",", "\t").replace(";", "\t")
    return name, _encoded(random, name, text)


def matrix_file(random: Random) -> tuple[str, bytes]:
    """Return the name and the contents of a Matrix Market or npz file."""
    if random.random() < 0.4:
        name = random.choice(("m.mtx", "m.mtx", "m.mtx.gz"))
        banner, _, text = random.choice(MATRIX_MARKETS).partition("\n")
        if random.random() < 0.1:
            return name, _encoded(random, name, mutated_text(random, f"{banner}\n{text}"))
        return name, _encoded(random, name, f"{banner}\n{mutated_text(random, text)}")
    archive = random.choice(ARCHIVES)
    kind = random.random()
    if kind < 0.2:
        return "m.npz", mutated_bytes(random, archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        name = random.choice(opened.namelist())
        contents = opened.read(name)
    if kind < 0.6:
        start = 0 if random.random() < 0.3 else contents.index(b"\n") + 1  # mostly below the array's header
        changed = contents[:start] + mutated_bytes(random, contents[start:])
    else:
        changed = odd_array(random)
    if random.random() < 0.1:
        name = f"{random.choice(ARRAYS)}.npy"
    return "m.npz", repacked(archive, name, changed)


def _valid_form(random: Random) -> str:
    """Return a table with as many fields in all lines, and columns of one kind each."""
    separator = random.choice((",", ",", ",", ";", "\t"))
    width = random.randrange(2, 6)
    fills = [random.choice(FILLS) for _ in range(width)]
    lines = [[random.choice(fill) for fill in fills] for _ in range(random.randrange(1, 9))]
    if random.random() < 0.9:
        lines.insert(0, random.sample(HEADERS, width))
    end = random.choice(("\n", "\n", "\r\n", "\r"))
    text = end.join(separator.join(_quoted(random, field, separator) for field in line) for line in lines)
    return text + random.choice(("", end))


def _quoted(random: Random, field: str, separator: str) -> str:
    is_plain = not any(mark in field for mark in (separator, '"', "\r", "\n"))
    return field if is_plain and random.random() < 0.95 else '"' + field.replace('"', '""') + '"'


def _encoded(random: Random, name: str, text: str) -> bytes:
    """Return the text in an encoding, perhaps damaged, and compressed if the name says so."""
    encoding = random.choices(("utf-8", "latin-1", "utf-16"), (18, 1, 1))[0]
    data = text.encode(encoding, "replace")
    if random.random() < 0.15:
        data = mutated_bytes(random, data)
    if name.endswith(".gz"):
        data = packed(data)
        data = mutated_bytes(random, data) if random.random() < 0.1 else data
    return data


def _parquet(random: Random) -> bytes:
    """Return a Parquet file of columns of odd types."""
    size, width = random.randrange(6), random.randrange(1, 5)
    arrays = []
    for _ in range(width):
        of_type = random.choice(list(TYPES))
        values = [random.choice(TYPES[of_type]) for _ in range(size)]
        arrays.append(pyarrow.array(values, of_type))
        if of_type == pyarrow.binary() and random.random() < 0.5:  # text that is not UTF-8
            arrays[-1] = arrays[-1].view(pyarrow.string())
    file = io.BytesIO()
    names = [random.choice(HEADERS) for _ in range(width)]
    options = {"compression": random.choice(("snappy", "none", "gzip")), "use_dictionary": random.random() < 0.5}
    parquet.write_table(pyarrow.Table.from_arrays(arrays, names), file, **options)
    return file.getvalue()


def odd_array(random: Random) -> bytes:
    """Return an npy file of any type and of a small shape, with odd values."""
    shape = tuple(random.randrange(5) for _ in range(random.choice((0, 1, 1, 2, 2, 3))))
    dtype = np.dtype(random.choice(DTYPES))
    size = math.prod(shape)
    if dtype.kind in "if" and random.random() < 0.7:
        few = (0, 1, 2, -1, 3) if random.random() < 0.9 else (0, 1, 2**31 - 2, 2**31 - 1)
        array = np.array(random.choices(few, k=size)).astype(dtype).reshape(shape)
    else:
        array = np.frombuffer(random.randbytes(dtype.itemsize * size), dtype).reshape(shape)
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()
