"""What names of columns tell."""

import pytest

from manifill.tables.names import is_column_name, is_id, is_label_name, is_row_name, is_time_name, is_value_name
from manifill.tables.words import counted, listed


@pytest.mark.parametrize(
    "name", ["id", "ID", "MouseID", "userId", "user_id", "Sample Id", "userid", "USERID", "gene.id"]
)
def test_ids(name: str) -> None:
    assert is_id(name)
    assert is_label_name(name)


@pytest.mark.parametrize("name", ["acid", "Lipid", "VALID", "fluid", "idle", "rating", "", "3"])
def test_no_ids(name: str) -> None:
    assert not is_id(name)


@pytest.mark.parametrize(
    ("tells", "name"),
    [
        (is_row_name, "userId"),
        (is_row_name, "Users"),
        (is_row_name, "cell_line"),
        (is_row_name, "row_index"),
        (is_row_name, "i"),
        (is_column_name, "movieId"),
        (is_column_name, "Drug Name"),
        (is_column_name, "j"),
        (is_value_name, "Rating"),
        (is_value_name, "stars"),
        (is_time_name, "timestamp"),
        (is_label_name, "Name"),
    ],
)
def test_names_that_tell(tells: object, name: str) -> None:
    assert tells(name)


@pytest.mark.parametrize("name", ["is", "height", "class", "P1_N", "label", "Protein", "", "user rating 1"])
def test_names_that_tell_nothing(name: str) -> None:
    for tells in (is_row_name, is_column_name, is_value_name, is_time_name, is_label_name):
        assert not tells(name)


def test_lists() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "", "c"]) == "a, the unnamed column and c"
    assert listed([str(k) for k in range(8)]) == "0, 1, 2, 3, 4, 5, 6 and 7"
    assert listed([str(k) for k in range(20)]) == "0, 1, 2, 3, 4, 5, 6 and 13 more"
    assert (counted(1, "row"), counted(0, "row")) == ("1 row", "0 rows")
