"""Mice Protein Expression: levels of 77 proteins in the cortex of mice."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manifill.datasets.dataset import Dataset, Source
from manifill.datasets.files import existing, folder_of, read_csv, select
from manifill.problem import from_array

__all__ = ["load_mice_protein"]

FOLDER, CSV, XLS = "mice-protein", "Data_Cortex_Nuclear.csv", "Data_Cortex_Nuclear.xls"
URL = "https://archive.ics.uci.edu/static/public/342/mice+protein+expression.zip"

# Lines, columns and empty cells.  The archive and the Excel file in it have no published checksum to compare with, and
# the one known is of the same table as CSV; so a download is checked by what is read from it.
LINES, COLUMNS, MISSING = 1080, 82, 1396

FIELDS = ("Genotype", "Treatment", "Behavior", "class")

SOURCE = Source(
    citation=(
        "Clara Higuera, Katheleen Gardiner and Krzysztof Cios (2015). Mice Protein Expression [dataset]. UCI Machine "
        "Learning Repository. https://doi.org/10.24432/C50S3Z"
    ),
    licence="CC BY 4.0",
    url="https://archive.ics.uci.edu/dataset/342/mice+protein+expression",
)


def load_mice_protein() -> Dataset:
    """Return 81 764 protein levels, 1080 measurements (15 of each of 72 mice) × 77 proteins, in the file's order.

    Rows are labelled by ``MouseID``, columns by protein; ``about_rows`` has ``Genotype``, ``Treatment``, ``Behavior``
    and ``class`` of each measurement.  Scales of the columns differ widely.  The file, CSV or Excel, is read from
    ``mice-protein`` in the folder that the environment variable MANIFILL_DATA names; where it is not set, it is
    downloaded once.  Reading Excel needs xlrd.
    """
    path = existing(folder_of(FOLDER, URL, (XLS,), _check), CSV, XLS)
    lines = read_csv(path) if path.suffix == ".csv" else _read_xls(path)
    known = select(path, lines, ("MouseID", *FIELDS))
    proteins = [name for name in lines[0] if name.endswith("_N")]
    levels = [[np.nan if cell == "" else float(cell) for cell in line] for line in select(path, lines, proteins)]
    mice = np.array([mouse for mouse, *_ in known])
    observations = replace(from_array(levels), row_labels=mice, column_labels=np.array(proteins))
    about = {mouse: dict(zip(FIELDS, fields, strict=True)) for mouse, *fields in known}
    return Dataset(observations, SOURCE, about_rows=about)


def _read_xls(path: Path) -> list[list[Any]]:
    try:
        import xlrd
    except ImportError:
        raise ImportError(f"xlrd is needed to read {path.name}; pip install 'manifill[datasets]' brings it.") from None
    sheet = xlrd.open_workbook(path).sheet_by_index(0)
    return [sheet.row_values(k) for k in range(sheet.nrows)]


def _check(folder: Path) -> None:
    """Raise a ValueError where a download does not hold the table that is known."""
    header, *lines = _read_xls(folder / XLS) or [[]]
    found = len(lines), len(header), sum(cell == "" for line in lines for cell in line)
    if found != (LINES, COLUMNS, MISSING):
        raise ValueError(
            f"{XLS} in {URL} has {found[0]} lines, {found[1]} columns and {found[2]} empty cells instead of {LINES}, "
            f"{COLUMNS} and {MISSING}; try again, or put the file that you want into {FOLDER} in a folder that "
            "MANIFILL_DATA names."
        )
