from pathlib import Path

import pytest

from manifill.cli.demo import demo


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_demo_prints_accuracy_and_writes_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo(tmp_path, "20")
    printed = capsys.readouterr().out
    assert "RMSE" in printed
    assert "intervals cover" in printed
    assert (tmp_path / "completed.png").read_bytes().startswith(b"\x89PNG")
