"""The manifest of a run: the size and checksum of every file that chains do not write.

These are the data, the held-out cells and the metadata of the store.  The sizes of all other files follow from the
metadata, and they carry checksums of their own.  While a run is extended, the manifest lists the metadata before and
after, so that it holds whenever the extension is interrupted.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from manifill.base.atomic_files import replacing
from manifill.base.errors import Damage, DamagedRunError
from manifill.posterior.store_layout import FORMAT, READABLE, metadata_files
from manifill.run.folder import RunFolder
from manifill.run.run_files import is_run_file

__all__ = ["check_manifest", "is_being_extended", "manifest_damage", "write_manifest"]


class Seal(NamedTuple):
    """The size and checksum of a file."""

    bytes: int
    sha256: str


class Manifest(NamedTuple):
    """The seals of a run's files, by path relative to the run."""

    files: dict[str, Seal]
    pending: dict[str, Seal]  # of files that are being replaced


def write_manifest(run: RunFolder, pending: Mapping[Path, bytes] | None = None) -> None:
    """Write the manifest of the files as they are; ``pending`` has the contents that some of them are about to get."""
    files = [file for file in (run.data, run.held_out) if file.exists()] + metadata_files(run.draws)
    fields = {
        "format": FORMAT,
        "files": {_name(run, file): _seal_of_file(file)._asdict() for file in files},
        "pending": {_name(run, file): _seal(content)._asdict() for file, content in (pending or {}).items()},
    }
    with replacing(run.manifest) as file:
        file.write(_text(fields))


def check_manifest(run: RunFolder) -> bool:
    """Compare a run with its manifest, and return whether it has one; raise a DamagedRunError if they differ."""
    while True:
        before = _read(run)
        damage = manifest_damage(run)
        if not damage:
            return before is not None
        if _read(run) == before:  # otherwise another process has extended the run in the meantime
            raise DamagedRunError.of(damage)


def is_being_extended(run: RunFolder) -> bool:
    """Return whether a process was stopped while it extended a run, whose manifest has been checked."""
    return bool(_parsed(run.manifest.read_bytes()).pending)


def manifest_damage(run: RunFolder) -> list[Damage]:
    """Return the files that differ from the manifest; the manifest itself if it cannot be read."""
    try:
        text = _read(run)
        if text is None:
            return []
        manifest = _parsed(text)
    except DamagedRunError as error:
        return list(error.damage)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return [Damage(run.manifest, "is damaged: its checksum does not match")]
    compared = ((name, _difference(run.path / name, manifest, name)) for name in manifest.files)
    return [Damage(run.path / name, problem) for name, problem in compared if problem is not None]


def _difference(file: Path, manifest: Manifest, name: str) -> str | None:
    seals = [seals[name] for seals in (manifest.files, manifest.pending) if name in seals]
    try:
        found = _seal_of_file(file)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if found in seals:
        return None
    if found.bytes not in [seal.bytes for seal in seals]:
        return f"is damaged: it has {found.bytes} bytes instead of {seals[0].bytes}"
    return "is damaged: its checksum does not match"


def _read(run: RunFolder) -> bytes | None:
    try:
        return run.manifest.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:  # it is a folder, for example
        raise DamagedRunError.of([Damage(run.manifest, f"cannot be read: {error.strerror}")]) from None


def _parsed(text: bytes) -> Manifest:
    """Parse a manifest, or raise an error if a byte of it has changed."""
    fields = json.loads(text)
    del fields["sha256"]
    if _text(fields) != text:
        raise ValueError("the checksum does not match")
    if fields["format"] not in READABLE:
        return Manifest({}, {})  # the store says more about its format
    if not all(is_run_file(PurePath(name)) for part in ("files", "pending") for name in fields[part]):
        raise ValueError("it lists files that are not of a run")
    seals = ({name: _parsed_seal(seal) for name, seal in fields[part].items()} for part in ("files", "pending"))
    return Manifest(*seals)


def _parsed_seal(fields: Any) -> Seal:
    seal = Seal(**fields)
    if type(seal.bytes) is not int or not isinstance(seal.sha256, str):
        raise ValueError("a seal is a size and a checksum")
    return seal


def _text(fields: Mapping[str, Any]) -> bytes:
    """Return a manifest as text that ends with its own checksum."""
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    return json.dumps({**fields, "sha256": digest}, indent=1).encode() + b"\n"


def _name(run: RunFolder, file: Path) -> str:
    return file.relative_to(run.path).as_posix()


def _seal(content: bytes) -> Seal:
    return Seal(len(content), hashlib.sha256(content).hexdigest())


def _seal_of_file(path: Path) -> Seal:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return Seal(file.tell(), digest.hexdigest())
