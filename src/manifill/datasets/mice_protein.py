"""Mice Protein Expression: levels of 77 proteins in the cortex of mice."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from manifill.datasets.dataset import Dataset, Source
from manifill.datasets.download import dataset_folder, first_existing, read_csv, select_columns
from manifill.problem import from_array

__all__ = ["load_mice_protein"]

FOLDER, CSV, XLS = "mice-protein", "Data_Cortex_Nuclear.csv", "Data_Cortex_Nuclear.xls"
URL = "https://archive.ics.uci.edu/static/public/342/mice+protein+expression.zip"

# Numbers of rows, columns and empty cells.  A download is checked by these numbers, since no checksum is published for
# the archive or the Excel file in it.
ROWS, COLUMNS, MISSING = 1080, 82, 1396

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

    Rows are labelled by ``MouseID``, columns by protein; ``about_rows`` contains ``Genotype``, ``Treatment``,
    ``Behavior`` and ``class`` of each measurement.  The scales of the columns differ widely.  The file, CSV or Excel,
    is read from ``mice-protein`` in the folder in the environment variable MANIFILL_DATA; if that is not set, it is
    downloaded once.  Reading Excel needs xlrd.
    """
    path = first_existing(dataset_folder(FOLDER, URL, (XLS,), _check), CSV, XLS)
    records = read_csv(path) if path.suffix == ".csv" else _read_xls(path)
    metadata = select_columns(path, records, ("MouseID", *FIELDS))
    proteins = [name for name in records[0] if name.endswith("_N")]
    rows = select_columns(path, records, proteins)
    levels = [[np.nan if cell == "" else float(cell) for cell in row] for row in rows]
    mice = np.array([mouse for mouse, *_ in metadata])
    observations = replace(from_array(levels), row_labels=mice, column_labels=np.array(proteins))
    about = {mouse: dict(zip(FIELDS, fields, strict=True)) for mouse, *fields in metadata}
    return Dataset(observations, SOURCE, about_rows=about)


def _read_xls(path: Path) -> list[list[Any]]:
    try:
        import xlrd
    except ImportError:
        raise ImportError(
            f"xlrd is needed to read {path.name}; install it with pip install 'manifill[datasets]'."
        ) from None
    sheet = xlrd.open_workbook(path).sheet_by_index(0)
    return [sheet.row_values(k) for k in range(sheet.nrows)]


def _check(folder: Path) -> None:
    """Raise a ValueError if a downloaded table does not have the expected size."""
    header, *rows = _read_xls(folder / XLS) or [[]]
    found = len(rows), len(header), sum(cell == "" for row in rows for cell in row)
    if found != (ROWS, COLUMNS, MISSING):
        raise ValueError(
            f"{XLS} in {URL} has {found[0]} rows, {found[1]} columns and {found[2]} empty cells instead of {ROWS}, "
            f"{COLUMNS} and {MISSING}; try again, or put the file into {FOLDER} in a folder and set the environment "
            "variable MANIFILL_DATA to that folder."
        )
