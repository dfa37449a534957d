"""Real files, if MANIFILL_DATA names their folder."""

import os
from pathlib import Path

import pytest

from manifill.tables import read_table
from tests.problem.cells import labels_of

DATA = os.environ.get("MANIFILL_DATA", "")

pytestmark = pytest.mark.skipif(not DATA, reason="MANIFILL_DATA is not set")


@pytest.fixture
def folder() -> Path:

    return Path(DATA)


def test_movie_ratings(folder: Path) -> None:
    table = read_table(folder / "ml-latest-small" / "ratings.csv")
    assert (table.observations.shape, table.observations.size) == ((610, 9724), 100836)
    assert table.observations.by_row.values.mean() == pytest.approx(3.501557, abs=1e-6)
    assert table.notes == (
        "long table: rows are userId, columns are movieId, values are rating (timestamp is left out)",
    )


def test_movies_contain_no_numbers(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"movies\.csv contains no numbers to complete"):
        read_table(folder / "ml-latest-small" / "movies.csv")


def test_protein_levels(folder: Path) -> None:
    table = read_table(folder / "mice-protein" / "Data_Cortex_Nuclear.csv")
    assert (table.observations.shape, table.observations.size) == ((1080, 77), 83160 - 1396)
    rows, cols = labels_of(table.observations)
    assert (rows[0], cols[0], cols[-1]) == ("309_1", "DYRK1A_N", "CaNA_N")
    assert table.notes == (
        "wide table: 1080 rows named by MouseID, 77 columns; "
        "Genotype, Treatment, Behavior and class are not numbers and are left out",
    )
