"""Odd contents of a run's files, with valid checksums: what only somebody who means it can do to a run."""

import io
import json
import math
import sys
import zipfile
from random import Random
from typing import Any

import google_crc32c
import numpy as np

from manifill.run import manifest, verdict
from manifill.sampling import checkpoint
from tests.fuzz.mutations import mutated_bytes
from tests.fuzz.odd_json import odd_json
from tests.fuzz.seeds import repacked
from tests.fuzz.tables import odd_array

__all__ = ["changed_and_sealed"]

MANIFEST = "manifest.json"
CHUNK_CHECKSUM = 4  # bytes at the end of a chunk
ODD_COUNTS = (-1, 0, 1, 2, 3, 100, 2**62)
ODD_NUMBERS = (math.nan, math.inf, -math.inf, 0.0, -0.0, -1.0, 1.0, 1e308, -1e308, 5e-324, 3.0, 4.0, 1e19)


def changed_and_sealed(random: Random, whole: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a run after a change in one or two of them, and in the checksums."""
    files = dict(whole)
    names = random.sample(sorted(files), random.choice((1, 1, 1, 2)))
    if random.random() < 0.2:
        names = ["draws.zarr/zarr.json"]  # which holds most
    for name in names:
        if name == "verdict.json":
            files[name] = _verdict(odd_json(random, files[name]))
        elif name.startswith("checkpoints/"):
            files[name] = _checkpoint(random, files[name])
        elif name.endswith(".npz"):
            files[name] = _archive(random, files[name])
        elif name.endswith("zarr.json"):
            files[name] = _json(odd_json(random, files[name]))
        elif name != MANIFEST:
            files[name] = _chunk(random, name, files[name])
    _seal(files)
    if MANIFEST in names:
        files[MANIFEST] = _manifest(odd_json(random, files[MANIFEST]))
    return files


def _seal(files: dict[str, bytes]) -> None:
    """Make the checksums in the manifest valid again, if there is one."""
    if MANIFEST not in files:
        return
    fields = json.loads(files[MANIFEST])
    del fields["sha256"]
    for name in fields["files"]:
        if name in files:
            fields["files"][name] = manifest._seal(files[name])._asdict()
    files[MANIFEST] = _manifest(fields)


def _json(tree: Any) -> bytes:
    return json.dumps(tree, indent=1).encode()


def _manifest(fields: Any) -> bytes:
    if not isinstance(fields, dict):
        return _json(fields)
    fields.pop("sha256", None)
    return manifest._text(fields)


def _verdict(fields: Any) -> bytes:
    if not isinstance(fields, dict):
        return _json(fields)
    fields.pop(verdict.CHECKSUM, None)
    return verdict._text(fields)


def _checkpoint(random: Random, content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        tree = archive.read("tree.npy")
    if random.random() < 0.3:
        changed = repacked(content, random.choice(names), odd_array(random))
    else:
        start = tree.index(b"{", tree.index(b"\n"))
        document = _json(odd_json(random, tree[start:]))
        file = io.BytesIO()
        np.save(file, np.frombuffer(document, dtype=np.uint8))
        changed = repacked(content, "tree.npy", file.getvalue())
    return checkpoint._with_checksum(changed)


def _archive(random: Random, content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        name = random.choice(archive.namelist())
        array = archive.read(name)
    return repacked(content, name, odd_array(random) if random.random() < 0.7 else mutated_bytes(random, array))


def _chunk(random: Random, name: str, content: bytes) -> bytes:
    """Replace a number in a chunk."""
    array = name.split("/")[2]
    is_count = array in ("chain", "draw", "completed")
    dtype = np.dtype(np.int64 if is_count else np.float32 if array in ("U", "V", "A", "B") else np.float64)
    values = np.frombuffer(content[:-CHUNK_CHECKSUM], dtype).copy()
    with np.errstate(over="ignore"):
        values[random.randrange(values.size)] = random.choice(ODD_COUNTS if is_count else ODD_NUMBERS)
    checksum: int = google_crc32c.value(values.tobytes())
    return values.tobytes() + checksum.to_bytes(CHUNK_CHECKSUM, sys.byteorder)
