"""Code blocks of the pages run as they stand."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/index.md", "docs/likelihoods.md", "docs/python.md")


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
@pytest.mark.parametrize("page", PAGES)
def test_code_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "examples").glob("*.py")))
def test_pages_of_examples_show_their_code(name: str) -> None:
    """The line that includes it must stay as it is, which formatters of code in Markdown do not know."""
    page = (ROOT / "docs" / "examples" / f"{name}.md").read_text(encoding="utf-8")
    assert f'\n--8<-- "examples/{name}.py"\n' in page
