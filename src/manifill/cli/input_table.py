"""The table of ``manifill fit``: read with the options of the command, or with those of the run that is resumed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manifill.base.argument_words import Argument, Wording
from manifill.cli.console import Console
from manifill.problem import Duplicates
from manifill.tables import Layout, Table, is_matrix_file, read_table

__all__ = ["TableOptions", "input_table"]


@dataclass(frozen=True)
class TableOptions:
    """How to read the table."""

    wide: bool | None
    row: str | None
    col: str | None
    value: str | None
    id_column: str | None
    missing: tuple[str, ...]
    duplicates: Duplicates
    max_bytes: int | None

    @property
    def says_layout(self) -> bool:
        """Whether the layout of the table is given rather than guessed."""
        return any(given is not None for given in (self.wide, self.row, self.col, self.value, self.id_column))


def input_table(file: Path, options: TableOptions, resumed: Mapping[str, Any] | None, console: Console) -> Table:
    """Read the table and print what was guessed; refuse a guess that leaves nothing to complete.

    ``resumed`` has the attributes of the run that is resumed: its table is read as it was, and the run decides whether
    the data are the same.
    """
    arguments = asdict(options)
    if resumed is not None:
        arguments |= _as_before(file, options, resumed)
    table = read_table(file, **arguments)
    for sentence in table.notes:
        console.note(sentence)
    if resumed is None:
        _check_guess(file, table, options)
    return table


def _as_before(file: Path, options: TableOptions, resumed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with which a run's table was read, except those that are given now."""
    arguments: dict[str, Any] = {}
    if options.duplicates == "error":
        arguments["duplicates"] = resumed["settings"].get("duplicates", "error")
    if resumed.get("layout") is None:  # a run made in Python
        return arguments
    layout = Layout.from_json(resumed["layout"])
    if not options.missing:
        arguments["missing"] = layout.missing
    if options.says_layout or is_matrix_file(file):
        return arguments
    if layout.kind == "wide":
        return arguments | {"wide": True, "id_column": layout.row}
    return arguments | {"row": layout.row, "col": layout.col, "value": layout.value}


def _check_guess(file: Path, table: Table, options: TableOptions) -> None:
    """Raise a ValueError if the layout was guessed, and gives one column or a table without a missing entry.

    Then the guess is probably wrong, or a code for missing is taken for data.  Whoever gives the layout may fit such a
    table all the same: noise is removed from complete data too.  A matrix file has no layout to guess.
    """
    m, n = table.observations.shape
    if options.says_layout or is_matrix_file(file) or (n > 1 and table.observations.size < m * n):
        return
    what = "a single column, and no other to complete it by" if n == 1 else "no missing entry, and nothing to complete"
    kind = table.layout.kind
    raise ValueError(
        Wording(
            f"{file}, read as a {kind} table, has {what}; give ",
            Argument("wide", kind != "wide"),
            f" if it is {'long' if kind == 'wide' else 'wide'}, ",
            Argument("missing"),
            " if missing entries have a code, or ",
            Argument("wide", kind == "wide"),
            " to fit it as it is.",
        )
    )
