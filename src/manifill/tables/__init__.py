"""Input and output files: reads long and wide tables and matrices as observations, writes DataFrames."""

from manifill.tables.formula_guard import guarded_frame
from manifill.tables.input_file import is_matrix_file
from manifill.tables.label_pairs import Pairs, read_pairs
from manifill.tables.likely_cells import likely_cells
from manifill.tables.table_layout import Layout, Table
from manifill.tables.table_reader import read_table
from manifill.tables.table_writer import check_destination, write_table

__all__ = [
    "Layout",
    "Pairs",
    "Table",
    "check_destination",
    "guarded_frame",
    "is_matrix_file",
    "likely_cells",
    "read_pairs",
    "read_table",
    "write_table",
]
