"""Roles of columns inferred from their names."""

from collections.abc import Callable

import pytest

from manifill.tables.column_names import is_column_name, is_id, is_label_name, is_row_name, is_time_name, is_value_name


@pytest.mark.parametrize(
    "name", ["id", "ID", "MouseID", "userId", "user_id", "Sample Id", "userid", "USERID", "gene.id"]
)
def test_ids(name: str) -> None:
    assert is_id(name)
    assert is_label_name(name)


@pytest.mark.parametrize("name", ["acid", "Lipid", "VALID", "fluid", "idle", "rating", "", "3"])
def test_names_that_are_not_ids(name: str) -> None:
    assert not is_id(name)


@pytest.mark.parametrize(
    ("suggests", "name"),
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
def test_names_that_suggest_a_role(suggests: Callable[[str], bool], name: str) -> None:
    assert suggests(name)


@pytest.mark.parametrize("name", ["is", "height", "class", "P1_N", "label", "Protein", "", "user rating 1"])
def test_names_that_suggest_no_role(name: str) -> None:
    for suggests in (is_row_name, is_column_name, is_value_name, is_time_name, is_label_name):
        assert not suggests(name)
