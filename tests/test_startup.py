"""What is imported, and when: help, errors and stored runs must not wait for the samplers."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import manifill
from manifill.estimators.matrix_completion import MatrixCompletion
from manifill.posterior import Draws, Variable
from manifill.problem import Observations
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from manifill.run.observations_file import save_observations
from manifill.run.provenance import provenance

FOR_FITTING = ("manifill.sampling", "manifill.map_estimation", "joblib", "sklearn")
HEAVY = (*FOR_FITTING, "numba", "numpy", "pandas", "scipy", "zarr")


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process."""
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)


def imported(code: str, names: tuple[str, ...], *arguments: str) -> list[str]:
    """Return which of these modules the code has imported."""
    done = python(f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)", *arguments)
    assert done.returncode == 0, done.stderr
    modules = done.stderr.split()
    return [name for name in names if any(module == name or module.startswith(f"{name}.") for module in modules)]


@pytest.fixture
def stored_run(tmp_path: Path) -> Path:
    """Write a run of a 6 x 4 matrix whose draws are random numbers."""
    rng = np.random.default_rng(0)
    (m, n), rank, chains, draws = (6, 4), 2, 2, 5
    rows, cols = (index.ravel() for index in np.indices((m, n)))
    observations = Observations.from_triples(rows, cols, rng.normal(size=m * n), (m, n))
    model = MatrixCompletion(rank=rank, sampler="joint", effects=None, chains=chains, warmup=0, draws=draws, seed=0)
    variables = (
        Variable("U", ("row", "component"), (m, rank)),
        Variable("s", ("component",), (rank,)),
        Variable("V", ("column", "component"), (n, rank)),
        Variable("lambda", (), ()),
        Variable("sigma", (), ()),
    )
    posterior = {v.name: rng.random((chains, draws, *v.shape)) for v in variables}
    attributes = provenance(model.get_params(), np.random.SeedSequence(0), observations, None)
    attributes |= model._resolve(observations, 0).to_json()
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    save_observations(run.data, observations)
    Draws(variables, posterior, {"lp": np.zeros((chains, draws))}, {}, attributes).save(run.draws)
    write_manifest(run)
    return run.path


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert imported("import manifill", HEAVY) == []


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["predict"]], ids=" ".join)
def test_help_and_wrong_arguments_import_nothing_heavy(arguments: list[str]) -> None:
    code = "from manifill.cli import main\ntry: main()\nexcept SystemExit: pass"
    assert imported(code, HEAVY, *arguments) == []


def test_a_stored_run_is_loaded_and_predicts_without_the_samplers(stored_run: Path) -> None:
    code = "import manifill\nmanifill.load(sys.argv[1]).predict([0, 1], [2, 3])"
    assert imported(code, (*FOR_FITTING, "pandas"), str(stored_run)) == []


def test_the_command_predicts_without_the_samplers(stored_run: Path, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("row,column\n0,2\n1,3\n")
    code = "from manifill.cli import main\ntry: main()\nexcept SystemExit as end: assert end.code == 0"
    assert imported(code, FOR_FITTING, "predict", str(stored_run), str(tmp_path / "pairs.csv"), "--quiet") == []


@pytest.mark.parametrize("message", ["", "stopped during warm-up"])
@pytest.mark.parametrize("module", ["typer", "manifill.cli.fit", "manifill.estimators.loading", "numba"])
def test_an_interrupt_while_importing_is_one_line_and_its_code(module: str, message: str) -> None:
    code = f"""
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt({message!r})

sys.meta_path.insert(0, Interrupting())
from manifill.cli import main
main()
"""
    done = python(code, "diagnose", "run")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", f"manifill: {message or 'interrupted'}\n")


def test_public_names_are_imported_when_used() -> None:
    tree = ast.parse(Path(manifill.__file__).read_text(encoding="utf-8"))
    for_type_checkers = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("manifill")
        for alias in node.names
    }
    assert for_type_checkers == manifill._MODULES
    assert sorted(manifill._MODULES) == manifill.__all__
    for name in manifill.__all__:
        assert getattr(manifill, name).__name__ == name
    assert {*manifill.__all__, "__version__"} <= set(dir(manifill))
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        manifill.absent  # noqa: B018
