"""Runs with odd files and odd contents: every error names the run, and what cannot be a draw is not used."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import manifill
from manifill import DamagedRunError, MatrixCompletion
from manifill.base.errors import CannotResumeError
from manifill.posterior.checked_arrays import open_checked
from manifill.run import manifest, verdict
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from manifill.run.verification import verify_run
from manifill.sampling import checkpoint
from tests.run.runs import fit, make_older

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

CHUNK = Path("draws.zarr", "posterior", "A", "c", "1", "0", "0", "0")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "run"
    with pytest.warns(manifill.ConvergenceWarning):
        fit(path, warmup=2, draws=6)
    return path


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> RunFolder:
    return RunFolder(shutil.copytree(whole, tmp_path / "run"))


def change_attributes(run: RunFolder, **changes: Any) -> None:
    """Change attributes of the store, and the checksums with them."""
    zarr.open_group(run.draws, mode="r+").attrs.update(changes)
    if run.manifest.exists():
        write_manifest(run)


def change_draw(run: RunFolder, name: str, value: float) -> None:
    """Change a draw of the second chain, and the checksum with it."""
    array: Any = zarr.open_group(run.draws / "posterior", mode="r+")[name]
    array[1, 3] = value


def make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def make_loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


@pytest.mark.parametrize("change", [make_folder, make_loop])
@pytest.mark.parametrize("name", ["manifest.json", "data.npz", "verdict.json", str(CHUNK), "draws.zarr/zarr.json"])
def test_a_folder_or_a_link_in_the_place_of_a_file_is_damage(
    name: str, change: Callable[[Path], None], run: RunFolder
) -> None:
    change(run.path / name)
    with pytest.raises(DamagedRunError, match=rf"{run.path / name} (is|cannot)"):
        manifill.load(run.path).predict([0], [1])
    assert [one.file for one in verify_run(run.path).damage][-1] == run.path / name


def test_a_file_in_the_place_of_a_folder_is_damage(run: RunFolder) -> None:
    shutil.rmtree((run.path / CHUNK).parent)
    (run.path / CHUNK).parent.write_bytes(b"")
    with pytest.raises(DamagedRunError, match=rf"{run.path / CHUNK} cannot be read: Not a directory"):
        manifill.load(run.path)


@pytest.mark.parametrize(("name", "value"), [("A", np.nan), ("B", np.inf), ("sigma", -1.0), ("sigma", 0.0)])
def test_what_cannot_be_a_draw_is_damage(name: str, value: float, run: RunFolder) -> None:
    change_draw(run, name, value)
    said = "are not positive" if name == "sigma" else "it lacks draws that are counted"
    with pytest.raises(DamagedRunError, match=rf"posterior/{name}/c/1/.* is damaged: .*{said}"):
        manifill.load(run.path).predict([0], [1])
    (damage,) = verify_run(run.path).damage
    assert damage.file.is_relative_to(run.draws / "posterior" / name)
    assert damage.chain == 1


@pytest.mark.filterwarnings("ignore::manifill.estimators.loading.UnverifiedRunWarning")
def test_priors_that_cannot_be_derived_name_the_run(run: RunFolder) -> None:
    make_older(run.path)
    settings: Any = zarr.open_group(run.draws).attrs["settings"]
    change_attributes(run, settings=settings | {"effects": "x"})
    with pytest.raises(ValueError, match=rf"the model of {run.path} cannot be derived again: effects='x'"):
        manifill.load(run.path)


def test_a_likelihood_that_cannot_be_read_names_the_run(run: RunFolder) -> None:
    settings: Any = zarr.open_group(run.draws).attrs["settings"]
    change_attributes(run, settings=settings | {"likelihood": {"rank": 1}})
    with pytest.raises(ValueError, match=rf"the settings of {run.path} cannot be read: model\.likelihood must have a"):
        manifill.load(run.path)


def test_a_run_without_draws_is_named(run: RunFolder) -> None:
    counts = open_checked(run.draws / "progress" / "completed", "r+")
    for chain in (0, 1):
        counts.write_entry(chain, 0)
    with pytest.raises(ValueError, match=rf"{run.draws} has no draws: the run was"):
        manifill.load(run.path)


def test_stored_data_that_the_sampler_refuses_name_the_run(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    data = np.array([[0.0, 1.0, np.nan], [2.0, np.nan, 1.0], [np.nan, 1.0, 2.0]])
    settings: dict[str, Any] = {"rank": 1, "sampler": "gibbs", "likelihood": "binomial", "trials": 2, "effects": None}
    model = MatrixCompletion(**settings, chains=1, warmup=1, draws=2, seed=1, path=run.path, jobs=1, progress=False)
    model.fit(data)
    stored: Any = zarr.open_group(run.draws).attrs["model"]
    change_attributes(run, model=stored | {"likelihood": {"name": "binomial", "trials": 2, "step": 5.0}})
    with pytest.raises(CannotResumeError, match=rf"{run.path} cannot be resumed: the data hold 1, "):
        model.fit(data, resume=True)


def test_a_size_that_is_no_number_is_damage(run: RunFolder) -> None:
    fields = json.loads(run.manifest.read_bytes())
    del fields["sha256"]
    fields["files"]["data.npz"]["bytes"] = "a\nb"
    run.manifest.write_bytes(manifest._text(fields))
    run.data.write_bytes(b"")
    with pytest.raises(DamagedRunError, match=rf"{run.manifest} is damaged: its checksum does not match"):
        manifill.load(run.path)


def test_chunks_without_draws_are_damage(run: RunFolder) -> None:
    file = run.draws / "posterior" / "A" / "zarr.json"
    tree = json.loads(file.read_bytes())
    tree["chunk_grid"]["configuration"]["chunk_shape"][1] = 0
    file.write_text(json.dumps(tree))
    write_manifest(run)
    for skip_damaged in (False, True):
        with pytest.raises(DamagedRunError, match=rf"{file} is damaged: "):
            manifill.load(run.path, skip_damaged=skip_damaged)


@pytest.mark.parametrize(
    "labels", [np.zeros((9, 2)), np.frombuffer(b"[[],[],[],[],[],[],[],[],[]]", np.uint8)], ids=["table", "lists"]
)
def test_labels_that_cannot_be_labels_are_damage(labels: Any, run: RunFolder) -> None:
    with np.load(run.data) as file:
        np.savez(run.data, **(dict(file) | {"column_labels": labels}))
    write_manifest(run)
    with pytest.raises(DamagedRunError, match=rf"{run.data} is damaged: .*labels"):
        manifill.load(run.path).predict([0], [1])


@pytest.mark.parametrize(("field", "value"), [("iteration", 3.5), ("generator", {"dict": {"state": 1}})])
def test_a_checkpoint_with_odd_contents_is_refused(field: str, value: Any, run: RunFolder) -> None:
    file = run.checkpoints / "chain-1.npz"
    with np.load(file) as archive:
        arrays = dict(archive)
    tree = json.loads(arrays["tree"].tobytes())
    tree["fields"][field] = value
    text, content = np.frombuffer(json.dumps(tree).encode(), dtype=np.uint8), io.BytesIO()
    np.savez(content, **(arrays | {"tree": text}))
    file.write_bytes(checkpoint._with_checksum(content.getvalue()))
    with pytest.raises(CannotResumeError, match=rf"{file} cannot be read .* delete it: the chain then starts"):
        fit(run.path, warmup=2, draws=6, resume=True)


def test_scales_that_do_not_fit_the_columns_are_refused(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    settings: dict[str, Any] = {"column_scales": "standardize", "warmup": 2, "draws": 6}
    fit(run.path, **settings)
    change_attributes(run, column_scales=[1.0, 2.0])
    with pytest.raises(CannotResumeError, match=r"resolved model cannot be read: it does not have 9 column scales\."):
        fit(run.path, resume=True, **settings)


RED = {"colour": "red", "sentence": ["Predictions are red (take ", ["draws", 9], ")."]}
VERDICT = {"predictions": RED, "global_quantities": RED, "chains": 2, "draws": 6}
OLD_VERDICT = {"converged": False, "verdict": "Not converged.", "chains": 2, "draws": 6}


@pytest.mark.parametrize(
    "fields",
    [
        OLD_VERDICT | {"verdict": "a\nb"},
        OLD_VERDICT | {"converged": "no"},
        OLD_VERDICT | {"draws": 1.5},
        VERDICT | {"chains": None},
        VERDICT | {"predictions": "red"},
        VERDICT | {"predictions": RED | {"sentence": ["a\nb"]}},
        VERDICT | {"predictions": RED | {"sentence": [1]}},
        VERDICT | {"predictions": RED | {"sentence": [[]]}},
        VERDICT | {"predictions": RED | {"sentence": [[1, 2]]}},
        VERDICT | {"predictions": {"colour": "red"}},
    ],
    ids=str,
)
def test_a_verdict_with_odd_contents_is_damage(fields: dict[str, Any], run: RunFolder) -> None:
    run.verdict.write_bytes(verdict._text(VERDICT))
    manifill.load(run.path)
    run.verdict.write_bytes(verdict._text(fields))
    with pytest.raises(DamagedRunError, match=rf"{run.verdict} is damaged: it does not hold a verdict"):
        manifill.load(run.path)


def test_divergences_that_cannot_be_counted_are_damage(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    fit(run.path, sampler="gibbs", chains=1, warmup=1, draws=3)
    array: Any = zarr.open_group(run.draws / "sample_stats", mode="r+")["diverging"]
    array[0, 1] = np.inf
    with pytest.raises(DamagedRunError, match=r"sample_stats/diverging/c/0/0 is damaged: "):
        _ = manifill.load(run.path).diagnostics_
    assert [one.file.parts[-4] for one in verify_run(run.path).damage] == ["diverging"]


def test_only_this_call_says_which_chains_are_left_out(run: RunFolder) -> None:
    change_attributes(run, left_out_chains=["x"])
    assert "left_out_chains" not in manifill.load(run.path).posterior_.attributes
