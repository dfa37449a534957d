"""The published values."""

from manifill.paper.published_tables import PUBLISHED_DEVIATIONS, PUBLISHED_MILLISECONDS


def test_both_tables_have_the_same_fits() -> None:
    assert PUBLISHED_DEVIATIONS.keys() == PUBLISHED_MILLISECONDS.keys()
