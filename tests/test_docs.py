"""Code blocks of the pages run as they stand."""

import re
from pathlib import Path

import pytest

PAGES = ("README.md", "docs/index.md", "docs/likelihoods.md", "docs/python.md")


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
@pytest.mark.parametrize("page", PAGES)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": "__main__"})
