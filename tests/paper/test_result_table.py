"""Tables as CSV and Markdown."""

from manifill.paper.result_table import Column, Table, format_number


def test_csv_and_markdown() -> None:
    columns = (
        Column("a"),
        Column("b", format_number),
        Column("c", lambda pair: "–".join(map(str, pair)), ("c low", "c high")),
    )
    table = Table("t", columns, [("x|y", 0.12345, (1, 2)), ("p,q", 1234.5, None)])
    assert table.to_csv() == 'a,b,c low,c high\nx|y,0.12345,1,2\n"p,q",1234.5,,\n'
    assert table.to_markdown() == "| a | b | c |\n| --- | --- | --- |\n| x\\|y | 0.123 | 1–2 |\n| p,q | 1234 |  |\n"
