"""The verdict on a run's convergence, stored when a fit ends, so that commands need not compute it again.

The file holds its own checksum, since it is written long after the manifest.
"""

import hashlib
import json
from contextlib import suppress
from typing import Any, NamedTuple

from manifill.base.argument_words import ABSENT, Argument, Wording
from manifill.base.atomic_files import replacing
from manifill.base.errors import Damage, DamagedRunError
from manifill.posterior import Colour, Diagnostics, Draws, UseVerdict
from manifill.run.folder import RunFolder

__all__ = ["StoredVerdict", "read_verdict", "verdict_damage", "write_verdict"]

CHECKSUM = "sha256"
FIELDS = ("predictions", "global_quantities", "chains", "draws")

# Before there were two verdicts, one sentence was about all quantities.
OLD_FIELDS = ("converged", "verdict", "chains", "draws")


class StoredVerdict(NamedTuple):
    """Whether predictions can be used, in a sentence, and the numbers of chains and draws per chain that it is about.

    In a run that was fitted before there were two verdicts, it is about all quantities.
    """

    converged: bool
    sentence: Wording
    chains: int
    draws: int


def write_verdict(run: RunFolder, found: Diagnostics) -> None:
    """Store the verdicts with the run.  If that fails, the fit is complete all the same, and they were printed."""
    fields = {
        "predictions": _as_json(found.predictions),
        "global_quantities": _as_json(found.global_quantities),
        "chains": found.chains,
        "draws": found.draws,
    }
    with suppress(OSError), replacing(run.verdict) as file:
        file.write(_text(fields))


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


def _as_json(found: UseVerdict) -> dict[str, Any]:
    """Return colour and sentence; an argument in the sentence is a list of its name and, if it has one, its value."""
    parts = [
        [field for field in part if field is not ABSENT] if isinstance(part, Argument) else part
        for part in found.sentence.parts
    ]
    return {"colour": found.colour, "sentence": parts}


def _parsed(content: bytes) -> StoredVerdict:
    fields: Any = json.loads(content)
    if not isinstance(fields, dict) or fields.keys() not in ({*FIELDS, CHECKSUM}, {*OLD_FIELDS, CHECKSUM}):
        raise ValueError(f"it must have the fields {', '.join(sorted((*FIELDS, CHECKSUM)))}")
    del fields[CHECKSUM]
    if content != _text(fields):
        raise ValueError("its checksum does not match")
    try:
        stored = _stored(fields)
    except (AttributeError, KeyError, TypeError):
        raise ValueError("it does not hold a verdict") from None
    types = tuple(type(value) for value in stored)
    if types != (bool, Wording, int, int) or not stored.sentence.isprintable():
        raise ValueError("it does not hold a verdict in one line and two numbers")
    return stored


def _stored(fields: dict[str, Any]) -> StoredVerdict:
    """Return a verdict from its fields, of this version or of the one before it had two colours."""
    size = fields["chains"], fields["draws"]
    if "verdict" in fields:
        return StoredVerdict(fields["converged"], Wording(fields["verdict"]), *size)
    predictions = fields["predictions"]
    parts = [Argument(*part) if isinstance(part, list) else part for part in predictions["sentence"]]
    if not all(isinstance(part.name if isinstance(part, Argument) else part, str) for part in parts):
        raise TypeError("a sentence is made of texts and arguments")
    return StoredVerdict(predictions["colour"] == Colour.GREEN, Wording(*parts), *size)


def _text(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields | {CHECKSUM: _checksum(fields)}, indent=1).encode()


def _checksum(fields: dict[str, Any]) -> str:
    checked = list(fields.values()) if "verdict" in fields else fields
    return hashlib.sha256(json.dumps(checked).encode()).hexdigest()
