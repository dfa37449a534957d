"""Counts, long texts and commands in messages."""

from pathlib import Path

import pytest

from manifill.base.wording import as_argument, counted, shortened


def test_counts() -> None:
    assert [counted(count, "cell") for count in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]


def test_paths_can_be_typed() -> None:
    assert as_argument(Path("run")) == "run"
    assert as_argument("my run") == "'my run'"


@pytest.mark.parametrize("longest", [9, 10])
def test_long_text_keeps_its_ends(longest: int) -> None:
    found = shortened("0123456789abcdef", longest)
    assert len(found) == longest
    assert found.startswith("0123")
    assert found.endswith("cdef")
    assert shortened("0123456789", 10) == "0123456789"
