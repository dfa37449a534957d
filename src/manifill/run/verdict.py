"""The verdict on a run's convergence, stored when a fit ends, so that commands need not compute it again."""

import json
from contextlib import suppress
from typing import Any, NamedTuple

from manifill.base.atomic_files import replacing
from manifill.posterior import Diagnostics, Draws
from manifill.run.folder import RunFolder

__all__ = ["StoredVerdict", "read_verdict", "write_verdict"]


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
        file.write(json.dumps(stored._asdict(), indent=1).encode())


def read_verdict(run: RunFolder, draws: Draws) -> StoredVerdict | None:
    """Return the stored verdict, or None if there is none on all the draws, as in a run that is being continued."""
    try:
        stored = _parsed(json.loads(run.verdict.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{run.verdict} cannot be read ({error}); delete it, and see the verdict with diagnose."
        ) from None
    return stored if (stored.chains, stored.draws) == (draws.chains, draws.draws) else None


def _parsed(fields: Any) -> StoredVerdict:
    types = {"converged": bool, "verdict": str, "chains": int, "draws": int}
    if not isinstance(fields, dict) or {name: type(value) for name, value in fields.items()} != types:
        raise ValueError(f"it must have the fields {', '.join(types)}")
    return StoredVerdict(**fields)
