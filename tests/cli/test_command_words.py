"""Arguments as the command line writes them, and the values of its options."""

import pytest

from manifill.base.argument_words import Argument, Wording
from manifill.cli.command_words import in_command_words, parse_codes, parse_size

WORDS = [
    (Argument("row"), "--row"),
    (Argument("id_column"), "--id"),
    (Argument("lambda_"), "--lambda"),
    (Argument("max_depth"), "--max-depth"),
    (Argument("wide", True), "--wide"),
    (Argument("resume", True), "--resume"),
    (Argument("path"), "--out"),
    (Argument("trials", None), "no --trials"),
    (Argument("column_scales", None), "--column-scales none"),
    (Argument("effects", None), "--no-effects"),
    (Argument("wide", False), "--long"),
    (Argument("duplicates", "average"), "--duplicates average"),
    (Argument("missing", [-999, "-"]), "--missing -999,-"),
    (Argument("row", "cell line"), "--row 'cell line'"),
    (Argument("max_bytes", 2**33), "--max-size 8GB"),
    (Argument("max_bytes", 2**33 + 1), "--max-size 9GB"),
]


@pytest.mark.parametrize(("argument", "option"), WORDS, ids=lambda value: str(value))
def test_options(argument: Argument, option: str) -> None:
    assert in_command_words(ValueError(Wording("pass ", argument, "."))) == f"pass {option}."


@pytest.mark.parametrize(
    ("text", "size"),
    [("100", 100), ("4GB", 2**32), ("4 gib", 2**32), ("1.5M", 3 * 2**19), ("500KB", 512_000), (None, None)],
)
def test_sizes(text: str | None, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "many", "-4GB", "4XB", "1e9"])
def test_what_is_not_a_size(text: str) -> None:
    with pytest.raises(ValueError, match="--max-size is a number of bytes such as 500MB or 4GB"):
        parse_size(text)


def test_codes() -> None:
    assert parse_codes("-999, NA,-") == ["-999", "NA", "-"]
    assert parse_codes(None) == []
