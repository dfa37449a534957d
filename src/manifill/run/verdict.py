"""The verdict on a run's convergence, stored when a fit ends, so that commands need not compute it again.

The file holds its own checksum, since it is written long after the manifest.
"""

import hashlib
import json
from contextlib import suppress
from typing import Any, NamedTuple

from manifill.base.atomic_files import replacing
from manifill.base.errors import Damage, DamagedRunError
from manifill.posterior import Diagnostics, Draws
from manifill.run.folder import RunFolder

__all__ = ["StoredVerdict", "read_verdict", "verdict_damage", "write_verdict"]

CHECKSUM = "sha256"


class StoredVerdict(NamedTuple):
    """The verdict in one sentence, and the numbers of chains and draws per chain that it is about."""

    converged: bool
    verdict: str
    chains: int
    draws: int


def write_verdict(run: RunFolder, found: Diagnostics) -> None:
    """Store the verdict with the run.  If that fails, the fit is complete all the same, and its verdict was printed."""
    stored = StoredVerdict(found.converged, found.verdict, found.chains, found.draws)
    with suppress(OSError), replacing(run.verdict) as file:
        file.write(_text(stored))


def read_verdict(run: RunFolder, draws: Draws) -> StoredVerdict | None:
    """Return the stored verdict, or None if there is none on all the draws, as in a run that is being continued."""
    damage = verdict_damage(run)
    if damage:
        raise DamagedRunError.of(damage, "delete it, and compute the verdict again with diagnose")
    if not run.verdict.exists():
        return None
    stored = _parsed(run.verdict.read_bytes())
    return stored if (stored.chains, stored.draws) == (draws.chains, draws.draws) else None


def verdict_damage(run: RunFolder) -> list[Damage]:
    """Return what is wrong with the stored verdict; a run that was interrupted has none."""
    try:
        _parsed(run.verdict.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        return [Damage(run.verdict, f"cannot be read: {error.strerror}")]
    except ValueError as error:
        return [Damage(run.verdict, f"is damaged: {error}")]
    return []


def _parsed(content: bytes) -> StoredVerdict:
    fields: Any = json.loads(content)
    names = {*StoredVerdict._fields, CHECKSUM}
    if not isinstance(fields, dict) or fields.keys() != names:
        raise ValueError(f"it must have the fields {', '.join(sorted(names))}")
    stored = StoredVerdict(*(fields[name] for name in StoredVerdict._fields))
    if fields[CHECKSUM] != _checksum(stored) or content != _text(stored):
        raise ValueError("its checksum does not match")
    types = tuple(type(value) for value in stored)
    if types != (bool, str, int, int) or not stored.verdict.isprintable():
        raise ValueError("it does not hold a verdict in one line and two numbers")
    return stored


def _checksum(stored: StoredVerdict) -> str:
    return hashlib.sha256(json.dumps(stored).encode()).hexdigest()


def _text(stored: StoredVerdict) -> bytes:
    return json.dumps(stored._asdict() | {CHECKSUM: _checksum(stored)}, indent=1).encode()
