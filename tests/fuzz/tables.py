"""Files of every format, made from valid ones."""

import io
import zipfile
from random import Random

from tests.fuzz.mutations import TOKENS, mutated_bytes, mutated_text
from tests.fuzz.seeds import ARCHIVES, MATRIX_MARKETS, PARQUETS, TEXTS, packed, repacked

__all__ = ["matrix_file", "table_file"]


def table_file(random: Random) -> tuple[str, bytes]:
    """Return the name and the contents of a table: text, compressed text or Parquet."""
    kind = random.random()
    if kind < 0.2:
        return "t.parquet", mutated_bytes(random, random.choice(PARQUETS))
    return _text_file(random, ("t.csv", "t.csv", "t.tsv", "t.txt", "t.csv.gz", "t.tsv.gz"), _text(random))


def matrix_file(random: Random) -> tuple[str, bytes]:
    """Return the name and the contents of a Matrix Market or npz file."""
    if random.random() < 0.4:
        text = random.choice(MATRIX_MARKETS)
        return _text_file(random, ("m.mtx", "m.mtx", "m.mtx.gz"), mutated_text(random, text))
    archive = random.choice(ARCHIVES)
    if random.random() < 0.25:
        return "m.npz", mutated_bytes(random, archive)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        name = random.choice(opened.namelist())
        contents = opened.read(name)
    return "m.npz", repacked(archive, name, mutated_bytes(random, contents))


def _text(random: Random) -> str:
    """Return a table that was valid, or one of nothing but odd fields."""
    if random.random() < 0.7:
        return mutated_text(random, random.choice(TEXTS))
    separator = random.choice((",", ",", ";", "\t"))
    width = random.randrange(1, 6)
    lines = [[random.choice(TOKENS) for _ in range(width)] for _ in range(random.randrange(6))]
    return "\n".join(map(separator.join, lines)) + random.choice(("", "\n"))


def _text_file(random: Random, names: tuple[str, ...], text: str) -> tuple[str, bytes]:
    """Return the text in an encoding, perhaps damaged, and compressed if the name says so."""
    name = random.choice(names)
    encoding = random.choices(("utf-8", "latin-1", "utf-16"), (8, 1, 1))[0]
    data = text.encode(encoding, "replace")
    if random.random() < 0.25:
        data = mutated_bytes(random, data)
    if name.endswith(".gz"):
        data = packed(data)
        data = mutated_bytes(random, data) if random.random() < 0.2 else data
    return name, data
