"""``read_pairs`` on tables, with layouts chosen at random."""

from pathlib import Path
from random import Random

from manifill.tables import Layout, read_pairs
from tests.fuzz.case import Case, Target, assert_documented
from tests.fuzz.tables import table_file

__all__ = ["PAIRS"]

LAYOUTS = (
    Layout("long", "userId", "movieId", "rating"),
    Layout("long", "who", "what", "x", row_labels="text", column_labels="text"),
    Layout("wide", "id", row_labels="text", column_labels="text"),
    Layout("wide"),
    Layout("wide", "", row_labels="integer", column_labels="text"),
)


def make(random: Random) -> Case:
    """Return a table and the layout of a run."""
    name, data = table_file(random)
    return Case({name: data}, {"layout": random.choice(LAYOUTS)})


def check(folder: Path, case: Case) -> str:
    """Read the pairs: one of the kinds of the layout for each record, or a documented error."""
    (name,), layout = case.files, case.arguments["layout"]
    try:
        pairs = read_pairs(folder / name, layout)
    except ValueError as error:
        assert_documented(error, name)
        return "refused"
    assert len(pairs.rows) == len(pairs.cols) == len(pairs.frame) > 0
    for labels, kind in ((pairs.rows, layout.row_labels), (pairs.cols, layout.column_labels)):
        assert labels.dtype.kind == ("i" if kind == "integer" else "O")
        assert kind == "integer" or all(type(label) is str for label in labels)
    return "read"


PAIRS = Target("pairs", make, check)
