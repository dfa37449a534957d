"""A layout can be converted to JSON and back."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from manifill.tables import Layout, read_table
from tests.tables.table_files import put


@pytest.mark.parametrize("text", ["user,item,rating,when\n1,x,2,3\n", "id,a,b\nx,1,t\ny,2,t\n", "1,2\n3,4\n"])
def test_a_layout_is_plain_json(tmp_path: Path, text: str) -> None:
    layout = read_table(put(tmp_path, text)).layout
    assert Layout.from_json(json.loads(json.dumps(asdict(layout)))) == layout
