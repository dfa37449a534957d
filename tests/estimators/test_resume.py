"""Runs that are stopped, killed, continued and extended: the draws are those of a run that was left alone."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import zarr

import manifill
from manifill import MatrixCompletion
from manifill.base.arrays import Array
from manifill.base.atomic_files import locked
from manifill.base.errors import CannotResumeError
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from manifill.sampling.chains import PROCESSOR_TIME
from tests.estimators.tables import low_rank_table

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

SETTINGS: dict[str, Any] = {
    "rank": 2,
    "sampler": "factors",
    "column_transform": None,
    "chains": 2,
    "warmup": 20,
    "draws": 40,
    "seed": 3,
    "jobs": 1,
}

MODULES = {"factors": "factor_gibbs", "joint": "joint_sampler"}

SCRIPT = """
    import sys, time, warnings
    import numpy as np
    from manifill import MatrixCompletion
    from manifill.run.folder import RunFolder
    from manifill.sampling import chain
    from manifill.sampling.{module} import {sampler} as Sampler
    chain.SECONDS_BETWEEN_CHECKPOINTS = 0.05
    step = Sampler.step
    def slow(self, *args):
        time.sleep(0.005)
        return step(self, *args)
    Sampler.step = slow
    warnings.simplefilter("ignore")
    print("begun", flush=True)
    begun = RunFolder({path!r}).holds_run()
    MatrixCompletion(**{settings!r}, path={path!r}, progress=False).fit(np.load({table!r}), resume=begun)
    print("ended", flush=True)
"""


def draws_of(path: Path) -> dict[str, Array]:
    root: Any = zarr.open_group(path / "draws.zarr", mode="r")
    groups = (root[name] for name in ("posterior", "sample_stats", "warmup_sample_stats"))
    arrays = ((group.name, name, array) for group in groups for name, array in group.arrays())
    return {f"{group}/{name}": array[:] for group, name, array in arrays if name != PROCESSOR_TIME}


def assert_same_draws(path: Path, other: Path) -> None:
    first, second = draws_of(path), draws_of(other)
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(second[name], values, err_msg=name)


def fit(path: Path, *, resume: bool = False, table: Array | None = None, **changes: Any) -> MatrixCompletion:
    table = low_rank_table()[1] if table is None else table
    return MatrixCompletion(**{**SETTINGS, **changes}, path=path, progress=False).fit(table, resume=resume)


def slow_fit(path: Path, **changes: Any) -> Path:
    """Write a script beside ``path`` that fits what ``fit`` does, or goes on with it, and takes its time."""
    script, table, settings = path.parent / "script.py", path.parent / "table.npy", {**SETTINGS, **changes}
    np.save(table, low_rank_table()[1])
    sampler = settings["sampler"]
    text = SCRIPT.format(
        module=MODULES[sampler], sampler=sampler.capitalize(), settings=settings, path=str(path), table=str(table)
    )
    script.write_text(textwrap.dedent(text))
    return script


def started(script: Path, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, **options)


@pytest.mark.parametrize(
    "settings", [{"sampler": "factors"}, {"sampler": "joint", "warmup": 40, "draws": 60}], ids=["factors", "joint"]
)
def test_a_run_that_is_killed_again_and_again(settings: dict[str, Any], tmp_path: Path) -> None:
    """SIGKILL at random moments, and a continuation each time; at last the draws are those of an undisturbed run."""
    moments, whole, killed = random.Random(1), tmp_path / "whole", tmp_path / "killed"
    fit(whole, **settings)
    script = slow_fit(killed, **settings)
    kills = 0
    while True:
        process = started(script)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if kills < 6:
            time.sleep(moments.uniform(0.0, 0.8))
            process.kill()
            kills += 1
        if "ended" in process.communicate(timeout=300)[0]:
            break
    assert kills == 6
    assert_same_draws(whole, killed)


def test_workers_do_not_outlive_the_process_they_work_for(tmp_path: Path) -> None:
    process = started(slow_fit(tmp_path / "run", jobs=2, draws=5_000_000))
    lock = tmp_path / "run" / "checkpoints" / "chain-0.lock"
    wait_until(lambda: lock.exists() and not is_free(lock))
    process.kill()
    process.wait()
    wait_until(lambda: is_free(lock))
    process.communicate(timeout=120)  # which lasts until the last worker has closed its output


def is_free(lock: Path) -> bool:
    with locked(lock, wait=False) as alone:
        return alone


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_finished_run_is_extended(tmp_path: Path) -> None:
    fit(tmp_path / "long", draws=70)
    fit(tmp_path / "short")
    model = fit(tmp_path / "short", resume=True, draws=70)
    assert model.posterior_.draws == 70
    assert model.posterior_.attributes["settings"]["draws"] == 70
    assert_same_draws(tmp_path / "long", tmp_path / "short")


@pytest.mark.parametrize("sampler", ["factors", "joint"])
def test_a_run_with_empty_rows_and_columns_is_extended(sampler: str, tmp_path: Path) -> None:
    table = np.insert(np.insert(low_rank_table()[1], 4, np.nan, axis=0), [0, 6], np.nan, axis=1)
    fit(tmp_path / "long", table=table, sampler=sampler, draws=60)
    fit(tmp_path / "short", table=table, sampler=sampler)
    fit(tmp_path / "short", table=table, sampler=sampler, resume=True, draws=60)
    assert_same_draws(tmp_path / "long", tmp_path / "short")


def test_a_finished_run_is_never_cut(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    assert fit(tmp_path / "run", resume=True, draws=10).posterior_.draws == 40


def test_resume_begins_no_run_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(CannotResumeError, match="run does not exist, so it cannot be resumed; leave resume=True out"):
        fit(tmp_path / "run", resume=True)
    assert not (tmp_path / "run").exists()
    with pytest.raises(CannotResumeError, match="is empty, so it cannot be resumed; leave resume=True out"):
        fit(tmp_path, resume=True)
    assert not any(tmp_path.iterdir())


def test_a_run_without_a_seed_goes_on_with_the_one_it_drew(tmp_path: Path) -> None:
    seed = fit(tmp_path / "run", seed=None).posterior_.attributes["seed"]
    assert fit(tmp_path / "run", seed=None, resume=True, draws=50).posterior_.attributes["seed"] == seed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rank": 1}, "rank=2 in the run, but rank=1 here"),
        ({"chains": 3}, "chains=2 in the run, but chains=3 here"),
        ({"seed": 4}, "the seed is 3 in the run and 4 here"),
        ({"warmup": 21}, "warmup=20 in the run, but warmup=21 here"),
        ({"seed": 4, "warmup": 21}, "the seed is 3 in the run and 4 here; warmup=20 in the run, but warmup=21 here"),
    ],
    ids=str,
)
def test_other_settings_are_refused(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    fit(tmp_path / "run")
    before = draws_of(tmp_path / "run")
    with pytest.raises(ValueError, match=f"cannot be resumed: {said}; use the original ones"):
        fit(tmp_path / "run", resume=True, **change)
    for name, values in draws_of(tmp_path / "run").items():
        np.testing.assert_array_equal(values, before[name])


def test_other_data_are_refused(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    table = low_rank_table()[1]
    table[0, 0] = 17.0
    with pytest.raises(ValueError, match=r"cannot be resumed: the data differ: .* in the run, .* here; use"):
        fit(tmp_path / "run", resume=True, table=table)


def test_the_seed_may_be_left_out(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    fit(tmp_path / "run", resume=True, seed=None, draws=60)
    fit(tmp_path / "whole", draws=60)
    assert_same_draws(tmp_path / "run", tmp_path / "whole")


def test_what_is_no_run_is_not_resumed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="is not a manifill run"):
        fit(tmp_path, resume=True)
    with pytest.raises(ValueError, match="give its folder as path"):
        MatrixCompletion(**SETTINGS).fit(low_rank_table()[1], resume=True)


def test_a_run_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    with (
        locked(tmp_path / "run" / "checkpoints" / "run.lock", wait=False),
        pytest.raises(ValueError, match="another process"),
    ):
        fit(tmp_path / "run", resume=True)


def test_a_loaded_run_predicts_as_the_fitted_one(tmp_path: Path) -> None:
    model = fit(tmp_path / "run")
    loaded = manifill.load(tmp_path / "run")
    np.testing.assert_array_equal(loaded.predict([0, 3], [1, 2]).upper, model.predict([0, 3], [1, 2]).upper)
    assert loaded.get_params() == {**model.get_params(), "path": str(tmp_path / "run")}
    assert loaded.diagnostics_.verdict == model.diagnostics_.verdict
    assert loaded.model_ == model.model_


def test_labels_of_every_kind_are_kept(tmp_path: Path) -> None:
    kinds: list[list[Any]] = [["b", "a", "ä"], [10, 7, 8], [1.5, 2.5, 0.0], ["x", 3, 2.5]]
    for k, labels in enumerate(kinds):
        frame = pd.DataFrame({"row": labels * 2, "col": [0, 0, 0, 1, 1, 1], "y": np.arange(6.0)})
        frame["row"] = pd.Series(labels * 2, dtype=object) if k == 3 else frame["row"]
        if k == 3:
            frame = frame.astype({"col": object})
        fit_frame(frame, tmp_path / str(k))
        loaded = manifill.load(tmp_path / str(k))
        np.testing.assert_array_equal(loaded.predict(labels, [0, 0, 1]).mean.shape, (3,))


def fit_frame(frame: pd.DataFrame, path: Path) -> None:
    MatrixCompletion(**{**SETTINGS, "rank": 1, "draws": 8}, path=path, progress=False).fit(frame)


def test_a_run_with_ones_own_likelihood_asks_for_it(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    root: Any = zarr.open_group(tmp_path / "run" / "draws.zarr", mode="r+")
    for name in ("settings", "model"):
        root.attrs[name] = dict(root.attrs[name], likelihood={"name": "mine"})
    write_manifest(RunFolder(tmp_path / "run"))
    with pytest.raises(ValueError, match="likelihood 'mine', whose code is not in the run"):
        manifill.load(tmp_path / "run")


def test_ctrl_c_in_warm_up_leaves_a_run_to_go_on_with(tmp_path: Path) -> None:
    process = started(slow_fit(tmp_path / "run", warmup=400), stderr=subprocess.PIPE)
    wait_until(lambda: (tmp_path / "run" / "checkpoints" / "chain-0.npz").exists())
    os.kill(process.pid, signal.SIGINT)
    assert "stopped before the first draw" in process.communicate(timeout=60)[1]
    fit(tmp_path / "run", resume=True, warmup=400)
    fit(tmp_path / "whole", warmup=400)
    assert_same_draws(tmp_path / "whole", tmp_path / "run")


def test_a_warning_of_convergence_is_issued_again_when_a_run_is_loaded(tmp_path: Path) -> None:
    verdict = fit(tmp_path / "run").diagnostics_.predictions.sentence
    with pytest.warns(manifill.ConvergenceWarning) as issued:
        loaded = manifill.load(tmp_path / "run")
    assert [str(warning.message) for warning in issued] == [verdict]
    assert "diagnostics_" not in vars(loaded)  # the verdict was stored, not computed
