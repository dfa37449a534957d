"""Files in and out: long and wide tables and matrices become observations, frames become files."""

from manifill.tables.layout import Layout, Table
from manifill.tables.pairs import Pairs, read_pairs
from manifill.tables.read import read_table
from manifill.tables.write import check_destination, write_table

__all__ = ["Layout", "Pairs", "Table", "check_destination", "read_pairs", "read_table", "write_table"]
