"""A real browser for the tests, where there is one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PHONE, WIDE = 390, 1280


class Opened(NamedTuple):
    """A page that is ready, and what it wrote to the console or asked of the network."""

    page: Any
    complaints: list[str]


@contextmanager
def started() -> Iterator[Any]:
    """Yield a browser with a profile of its own, or skip the test with a line that says how to get one."""
    pytest.importorskip("playwright", reason="no playwright: pip install playwright, and the browser tests run")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no Chromium: run .ci/chromium as root, or install it otherwise, and the browser tests run")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


CHARTS_ARE_DRAWN = "charts.length && charts.every((chart) => chart._fullLayout)"
PICTURES_ARE_LOADED = "[...document.images].every((image) => image.complete && image.naturalWidth > 0)"


@contextmanager
def opened(
    browser: Any, path: Path, width: int, colour_scheme: str = "light", ready: str = CHARTS_ARE_DRAWN
) -> Iterator[Opened]:
    """Open a file in a window of this width; one as wide as a phone is touched, not clicked."""
    complaints: list[str] = []
    size = {"width": width, "height": 844}
    context = browser.new_context(viewport=size, has_touch=width == PHONE, color_scheme=colour_scheme)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("request", lambda request: None if _is_local(request.url) else complaints.append(request.url))
    page.goto(path.resolve().as_uri())
    until(page, ready)
    yield Opened(page, complaints)
    context.close()


def until(page: Any, condition: str) -> None:
    """Wait for something to hold; Playwright's own waiting would evaluate text, which the page forbids."""
    for _ in range(100):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"never came true: {condition}")


def _is_local(url: str) -> bool:
    return url.startswith(("file:", "data:", "blob:"))
