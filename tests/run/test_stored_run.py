"""Reading a run back: without a sampler, and with a sentence about a folder that is none."""

import subprocess
import sys
from pathlib import Path

import pytest

import manifill
from tests.run.runs import fit

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

SCRIPT = """
    import sys
    import manifill
    model = manifill.load(sys.argv[1])
    model.predict([0, 1], [2, 3]), model.top(0, n=1), model.diagnostics_
    samplers = ("joint_sampler", "paper_gibbs", "factor_gibbs", "nuts", "hmc")
    sys.exit(any(f"manifill.sampling.{name}" in sys.modules for name in samplers))
"""


def test_predict_top_and_diagnose_import_no_sampler(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    script = tmp_path / "script.py"
    script.write_text("\n".join(line.removeprefix("    ") for line in SCRIPT.splitlines()))
    assert subprocess.run([sys.executable, str(script), str(tmp_path / "run")], check=False).returncode == 0


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is not a manifill run; give the folder that a fit was written to"):
        manifill.load(tmp_path)
    fit(tmp_path / "run")
    (tmp_path / "run" / "data.npz").unlink()
    with pytest.raises(ValueError, match=r"data\.npz is missing; restore it from a copy, or fit again"):
        manifill.load(tmp_path / "run")
