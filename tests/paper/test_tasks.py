"""Results in files."""

from pathlib import Path

import numpy as np
import pytest

from manifill.paper.tasks import Result, load_result, save_result


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 not a zip file"])
def test_a_damaged_result_counts_as_missing(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    save_result(path, Result({"x": [1.0, None, "y"]}, {"array": np.arange(3)}))
    found = load_result(path)
    assert found is not None
    assert found.metrics == {"x": [1.0, None, "y"]}
    path.write_bytes(damage)
    assert load_result(path) is None


def test_a_result_of_another_format_counts_as_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.npz"
    with monkeypatch.context() as patch:
        patch.setattr("manifill.paper.tasks.FORMAT", 0)
        save_result(path, Result({"x": 1.0}, {}))
    assert load_result(path) is None
