"""The page in a real browser."""

import re
from html import escape

import numpy as np
import pytest

from manifill.report import report_of_run
from tests.browser import PHONE, WIDE, opened, started, until

from .runs import made_up_run

HOSTILE = ("<script>document.title = 1</script>", "<img src=x onerror=document.title=1>", "<b>bold</b> &amp;")
ROWS, COLUMNS = [f"row {k}" for k in range(24)], [*HOSTILE, *"abcdefghijkl"]


@pytest.fixture(scope="module")
def browser():
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    labels = np.array(ROWS, dtype=object), np.array(COLUMNS, dtype=object)
    return report_of_run(made_up_run(tmp_path_factory.mktemp("browser") / "run", labels=labels))


def hover(page, chart, across, down, wanted):
    """Point at a place of a chart, given as shares of its plot, and return what it tells once ``wanted`` is in it."""
    plot = page.locator(f"#{chart} .nsewdrag").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
    label = page.locator(f"#{chart} .hoverlayer .hovertext").filter(has_text=wanted)
    label.wait_for()
    return label.text_content()


@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_nothing_complains_and_nothing_is_cut_off(browser, report, width):
    with opened(browser, report, width) as (page, complaints):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".js-plotly-plot").count() == page.locator(".chart").count() == 13
        for chart in page.locator(".chart").all():
            drawn = chart.locator(".main-svg").first.bounding_box()
            assert drawn["width"] <= chart.bounding_box()["width"] + 1
    assert complaints == []


def test_pointing_at_a_cell_tells_labels_value_and_interval(browser, report):
    with opened(browser, report, WIDE) as (page, complaints):
        told = hover(page, "completed", 0.5, 0.5, "90 %")
        assert re.fullmatch(r"row \d+, .+[\d.]+90 %: [\d.−]+ to [\d.−]+", told), told
        assert "% observed" in hover(page, "uncertainty", 0.5, 0.5, "sd")
    assert complaints == []


def test_labels_are_shown_and_do_not_run(browser, report):
    with opened(browser, report, WIDE) as (page, complaints):
        texts = page.evaluate("document.getElementById('completed').layout.xaxis.ticktext")
        for label in HOSTILE:
            place = texts.index(escape(label, quote=False))
            hover(page, "completed", (place + 0.5) / len(texts), 0.5, label)
        assert page.title() == "A completed matrix · manifill"
    assert complaints == []


def test_nothing_else_may_run_or_be_fetched(browser, report):
    script = "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))"
    with opened(browser, report, WIDE) as (page, complaints):
        page.evaluate(script)
        assert page.evaluate("fetch('https://example.org/').then(() => 'fetched', () => 'refused')") == "refused"
        assert page.title() == "A completed matrix · manifill"
    assert not any(complaint.startswith("http") for complaint in complaints)
    assert all("Content Security Policy" in complaint or "Failed to fetch" in complaint for complaint in complaints)


def test_search_finds_rows(browser, report):
    with opened(browser, report, WIDE) as (page, _):
        page.locator(".search input").fill("ROW 17")
        assert page.locator(".answers details:visible summary").all_text_contents() == ["row 17"]


def test_axis_can_be_logarithmic(browser, report):
    kind = "document.getElementById('spectrum')._fullLayout.yaxis.type"
    with opened(browser, report, WIDE) as (page, complaints):
        before = page.evaluate(kind)
        page.locator("input[data-logarithmic]").click()
        assert {before, page.evaluate(kind)} == {"linear", "log"}
    assert complaints == []


def test_colours_follow_the_page(browser, report):
    ink = "document.getElementById('scatter')._fullLayout.font.color"
    with opened(browser, report, WIDE, "dark") as (page, _):
        assert page.evaluate(ink) == "#e7eaee"
        page.emulate_media(color_scheme="light")
        until(page, f"{ink} === '#1f2430'")


def test_print_is_white_and_fits_the_paper(browser, report):
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
