import pytest

from manifill import demo


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_demo_prints_accuracy_and_writes_a_picture(tmp_path, capsys):
    demo.run_demo(tmp_path, 20)
    said = capsys.readouterr().out
    assert "RMSE" in said
    assert "intervals cover" in said
    assert (tmp_path / "completed.png").read_bytes().startswith(b"\x89PNG")
