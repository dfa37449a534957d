"""Screenshots of a report for the docs: ``python -m tests.report.screenshots``, which takes a few minutes."""

from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from manifill import MatrixCompletion, Observations
from manifill.base.arrays import Generator
from manifill.report import report_of_run
from tests.browser import PHONE, WIDE, opened, started

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SHAPE, RANK, OBSERVED, NOISE = (60, 40), 3, 0.5, 0.8
LAYOUT = {"kind": "long", "row": "station", "col": "day", "value": "temperature"}
COLOURS = 256

COLUMNS = 4  # into which the long page of a phone is cut


def temperatures(rng: Generator) -> Observations:
    """Return synthetic temperatures at some stations on some days."""
    m, n = SHAPE
    waves = np.cos(np.outer(np.linspace(0.0, 2.0 * np.pi, n), np.arange(1, RANK + 1)) + rng.uniform(0.0, 6.0, RANK))
    table = 12.0 + 2.0 * rng.normal(size=(m, 1)) + rng.normal(size=(m, RANK)) * [3.0, 2.0, 1.0] @ waves.T
    rows, cols = np.nonzero(rng.random(SHAPE) < OBSERVED)
    return Observations.from_triples(
        rows,
        cols,
        table[rows, cols] + NOISE * rng.normal(size=rows.size),
        SHAPE,
        row_labels=np.array([f"station {i + 1}" for i in range(m)], dtype=object),
        column_labels=np.array([f"day {j + 1}" for j in range(n)], dtype=object),
    )


def main() -> None:
    """Fit, write a report, and save screenshots of it."""
    rng = np.random.default_rng(0)
    train, held_out = temperatures(rng).split(rng, 0.25)
    with TemporaryDirectory() as folder, started() as browser:
        run = Path(folder) / "run"
        model = MatrixCompletion(rank=RANK, chains=4, warmup=1000, draws=2000, seed=0, path=run)
        model.fit(train, held_out=held_out, about={"file": "temperatures.csv", "layout": LAYOUT})
        path = report_of_run(run)
        for width, name in ((WIDE, "report-wide.png"), (PHONE, "report-phone.png")):
            with opened(browser, path, width) as (page, _):
                picture = Image.open(BytesIO(page.screenshot(full_page=True))).convert("RGB")
            picture = picture if width == WIDE else in_columns(picture)
            picture.quantize(COLOURS).save(IMAGES / name, optimize=True)


def in_columns(picture: Image.Image) -> Image.Image:
    """Return a long picture as columns side by side."""
    width, height = picture.width + 20, -(-picture.height // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * width - 20, height), "white")
    for k in range(COLUMNS):
        column = picture.crop((0, k * height, picture.width, min((k + 1) * height, picture.height)))
        sheet.paste(column, (k * width, 0))
    return sheet


if __name__ == "__main__":
    main()
