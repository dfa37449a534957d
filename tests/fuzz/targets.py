"""All targets by name; to add one, write a ``Target`` and name it here."""

from tests.fuzz.case import Target
from tests.fuzz.commands import COMMANDS
from tests.fuzz.pairs import PAIRS
from tests.fuzz.readers import READERS
from tests.fuzz.runs import RUNS

__all__ = ["TARGETS"]

TARGETS: dict[str, Target] = {target.name: target for target in (READERS, PAIRS, RUNS, COMMANDS)}
