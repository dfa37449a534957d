"""The page in a real browser."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill.report import report_of_run
from tests.browser import PHONE, WIDE, opened, started, until
from tests.report.synthetic_runs import synthetic_run

HOSTILE = ("<script>document.title = 1</script>", "<img src=x onerror=document.title=1>", "<b>bold</b> &amp;")
ROWS, COLUMNS = [f"row {k}" for k in range(24)], [*HOSTILE, *"abcdefghijkl"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    labels = np.array(ROWS, dtype=object), np.array(COLUMNS, dtype=object)
    return report_of_run(synthetic_run(tmp_path_factory.mktemp("browser") / "run", labels=labels))


def hover(page: Any, chart: str, across: float, down: float, wanted: str) -> str:
    """Hover over a point of a chart, given as fractions of its plot, and return the text that contains ``wanted``."""
    plot = page.locator(f"#{chart} .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
    label = page.locator(f"#{chart} .hoverlayer .hovertext").filter(has_text=wanted)
    label.wait_for()
    return str(label.text_content())


@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_no_errors_and_nothing_is_cut_off(browser: Any, report: Path, width: int) -> None:
    with opened(browser, report, width) as (page, complaints):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".js-plotly-plot").count() == page.locator(".chart").count() == 14
        for chart in page.locator(".chart").all():
            drawn = chart.locator(".main-svg").first.bounding_box()
            assert drawn["width"] <= chart.bounding_box()["width"] + 1
    assert complaints == []


def test_hovering_over_a_cell_shows_labels_value_and_interval(browser: Any, report: Path) -> None:
    with opened(browser, report, WIDE) as (page, complaints):
        text = hover(page, "completed", 0.5, 0.5, "90 %")
        assert re.fullmatch(r"row \d+, .+[\d.]+90 %: [\d.−]+ to [\d.−]+", text), text
        assert "% observed" in hover(page, "uncertainty", 0.5, 0.5, "sd")
    assert complaints == []


def test_labels_are_shown_literally_and_not_executed(browser: Any, report: Path) -> None:
    with opened(browser, report, WIDE) as (page, complaints):
        texts = page.evaluate("document.getElementById('completed').layout.xaxis.ticktext")
        for label in HOSTILE:
            position = texts.index(escape(label, quote=False))
            hover(page, "completed", (position + 0.5) / len(texts), 0.5, label)
        assert page.title() == "A completed matrix · manifill"
    assert complaints == []


def test_other_scripts_and_requests_are_blocked(browser: Any, report: Path) -> None:
    script = "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))"
    with opened(browser, report, WIDE) as (page, complaints):
        page.evaluate(script)
        assert page.evaluate("fetch('https://example.org/').then(() => 'fetched', () => 'refused')") == "refused"
        assert page.title() == "A completed matrix · manifill"
    assert not any(complaint.startswith("http") for complaint in complaints)
    assert all("Content Security Policy" in complaint or "Failed to fetch" in complaint for complaint in complaints)


def test_search_finds_rows(browser: Any, report: Path) -> None:
    with opened(browser, report, WIDE) as (page, _):
        page.locator(".search input").fill("ROW 17")
        assert page.locator(".prediction-lists details:visible summary").all_text_contents() == ["row 17"]


def test_axis_can_be_logarithmic(browser: Any, report: Path) -> None:
    kind = "document.getElementById('spectrum')._fullLayout.yaxis.type"
    with opened(browser, report, WIDE) as (page, complaints):
        before = page.evaluate(kind)
        page.locator("input[data-logarithmic]").click()
        assert {before, page.evaluate(kind)} == {"linear", "log"}
    assert complaints == []


def test_chart_colours_follow_the_colour_scheme(browser: Any, report: Path) -> None:
    ink = "document.getElementById('scatter')._fullLayout.font.color"
    with opened(browser, report, WIDE, "dark") as (page, _):
        assert page.evaluate(ink) == "#e7eaee"
        page.emulate_media(color_scheme="light")
        until(page, f"{ink} === '#1f2430'")


def test_print_is_white_and_fits_the_paper(browser: Any, report: Path) -> None:
    widest = "Math.max(...charts.map((chart) => chart._fullLayout.width))"
    cut_off = """[...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth)
                 .map((box) => box.textContent)"""
    with opened(browser, report, WIDE, "dark") as (page, complaints):
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate(widest) <= 680
        assert page.evaluate("document.getElementById('scatter')._fullLayout.font.color") == "#1f2430"
        assert page.evaluate("document.querySelector('#settings details').open")
        assert page.evaluate(cut_off) == []
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(widest) > 680
    assert complaints == []
