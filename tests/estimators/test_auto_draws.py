"""draws="auto": blocks until predictions are green, in memory and on disk, interrupted and resumed."""

import logging
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import manifill
from manifill import MatrixCompletion
from manifill.base.arrays import Matrix
from manifill.posterior import diagnose
from manifill.run import draw_rule
from manifill.run.attributes import GOAL
from manifill.run.diagnosis import diagnosed
from manifill.run.folder import RunFolder
from manifill.run.manifest import write_manifest
from manifill.sampling.factor_gibbs import Factors
from tests.estimators.test_resume import assert_same_draws


def low_rank_table() -> Matrix:
    """Return a table whose chains mix fast."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30)) + 0.3 * rng.normal(size=(40, 30))
    table[rng.random(table.shape) < 0.3] = np.nan
    return table


SETTINGS: dict[str, Any] = {"rank": 2, "sampler": "factors", "column_transform": None}
SETTINGS |= {"chains": 4, "warmup": 20, "seed": 3, "jobs": 1}

# A run that ends green, after several blocks.
FIRST = 60
TABLE = low_rank_table()

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")


@pytest.fixture(autouse=True)
def _short_first_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_rule, "FIRST_GOAL", FIRST)


def fit(path: Path | None = None, *, resume: bool = False, **changes: Any) -> MatrixCompletion:
    model = MatrixCompletion(**{**SETTINGS, **changes}, path=path, progress=False)
    return model.fit(TABLE, resume=resume)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> MatrixCompletion:
    """Return a run on disk that was left alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draw_rule, "FIRST_GOAL", FIRST)
        return fit(tmp_path_factory.mktemp("whole") / "run")


def goal_of(path: Path) -> int:
    return int(zarr.open_group(path / "draws.zarr", mode="r").attrs[GOAL])  # type: ignore[arg-type]


def test_it_is_the_default_and_ends_green() -> None:
    model = fit()
    assert model.draws == "auto"
    assert (model.ended_by_, model.diagnostics_.converged) == ("green", True)
    assert model.posterior_.draws > 1.25 * FIRST, "more than one block, or the tests here test little"
    assert model.posterior_.attributes["settings"]["draws"] == "auto"
    assert model.posterior_.attributes[GOAL] == model.posterior_.draws


def test_the_draws_are_those_of_the_seed_and_the_number(whole: MatrixCompletion, tmp_path: Path) -> None:
    """One process or two, in memory or on disk, block by block or at once."""
    first, fixed = fit(), fit(draws=whole.posterior_.draws)
    other, stored = fit(jobs=2), fit(tmp_path / "run", jobs=2)
    for model in (other, fixed):
        for name, values in first.posterior_.posterior.items():
            np.testing.assert_array_equal(model.posterior_.posterior[name], values)
        np.testing.assert_array_equal(model.posterior_.statistics["lp"], first.posterior_.statistics["lp"])
    for name, values in first.posterior_.posterior.items():
        kept = stored.posterior_.posterior[name]
        np.testing.assert_array_equal(kept[:], values.astype(kept.dtype))
    assert stored.diagnostics_.verdict == first.diagnostics_.verdict == fixed.diagnostics_.verdict
    assert fixed.ended_by_ == "draws"


def test_every_look_is_taken_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The last one is that of the fitted model, and is what the run computes when it is loaded."""
    lengths: list[int] = []

    def counted(draws: Any, series: Any) -> Any:
        lengths.append(draws.draws)
        return diagnose(draws, series)

    monkeypatch.setattr("manifill.run.diagnosis.diagnose", counted)
    train, held_out = manifill.hold_out(TABLE, 0.1, seed=0)
    model = MatrixCompletion(**SETTINGS, path=tmp_path / "run", progress=False).fit(train, held_out=held_out)
    found = model.diagnostics_
    assert lengths[0] == FIRST
    assert lengths == sorted(set(lengths))
    assert lengths[-1] == model.posterior_.draws
    assert any("held-out" in quantity.name for quantity in found.predictions.quantities)
    assert str(manifill.load(tmp_path / "run").diagnostics_) == str(found)


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_limit_of_draws_is_kept_and_said(on_disk: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "manifill")
    with pytest.warns(manifill.ConvergenceWarning, match="effective sample size"):
        model = fit(tmp_path / "run" if on_disk else None, max_draws=70)
    assert (model.ended_by_, model.posterior_.draws) == ("max_draws", 70)
    assert "The limit max_draws=70 was reached before predictions were green." in caplog.messages


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_limit_of_time_is_kept_and_said(
    on_disk: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every draw takes so long that the first block would not be complete."""
    caplog.set_level(logging.INFO, "manifill")
    fit(draws=1)  # compiles
    path, minutes, step = tmp_path / "run" if on_disk else None, 0.05, Factors.step

    def slow(self: Any, *arguments: Any) -> Any:
        time.sleep(0.02)
        return step(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Factors, "step", slow)
        model = fit(path, warmup=5, max_minutes=minutes)
    assert model.ended_by_ == "max_minutes"
    assert model.posterior_.chains == 4
    assert 10 <= model.posterior_.draws < 60.0 * minutes / 0.08
    assert "The limit max_minutes=0.05 was reached before predictions were green." in caplog.messages
    if path is not None:
        assert goal_of(path) == model.posterior_.draws, "the run is complete, not interrupted"
        resumed = fit(path, warmup=5, resume=True)
        assert resumed.ended_by_ == "green"
        whole = fit(warmup=5, draws=resumed.posterior_.draws)
        np.testing.assert_array_equal(resumed.posterior_.sigma[:], whole.posterior_.sigma)


SCRIPT = """
    import os, sys, time, warnings
    import numpy as np
    from manifill import MatrixCompletion
    from manifill.run import chains_to_draws, draw_rule, resume
    from manifill.run.folder import RunFolder
    from manifill.sampling import chain
    from manifill.sampling.factor_gibbs import Factors

    def counting(function, last):
        calls = []
        def counted(*arguments, **options):
            calls.append(1)
            if len(calls) > last - 10:
                chain.SECONDS_BETWEEN_CHECKPOINTS = 0.0
            if len(calls) == last:
                os._exit(9)
            return function(*arguments, **options)
        return counted

    draw_rule.FIRST_GOAL = {first}
    moment = sys.argv[1]
    if moment == "look":
        chains_to_draws.diagnosed = counting(chains_to_draws.diagnosed, 2)
    elif moment == "extension":
        resume.write_manifest = counting(resume.write_manifest, 2)
    elif moment == "first chain":
        Factors.step = counting(Factors.step, 4 * ({warmup} + {first}) + 30)
    elif moment == "last chain":
        Factors.step = counting(Factors.step, 4 * ({warmup} + {first}) + 3 * {first} + 30)
    elif moment == "slow":
        chain.SECONDS_BETWEEN_CHECKPOINTS = 0.1
        step = Factors.step
        Factors.step = lambda *arguments: (time.sleep(0.002), step(*arguments))[1]
    warnings.simplefilter("ignore")
    begun = RunFolder({path!r}).holds_run()
    print("begun", flush=True)
    MatrixCompletion(**{settings!r}, path={path!r}, progress=False).fit(np.load({table!r}), resume=begun)
    print("ended", flush=True)
"""


def script_of(path: Path) -> Path:
    """Write a script beside ``path`` that fits what ``fit`` does, or goes on with it, until a given moment."""
    script, table = path.parent / "script.py", path.parent / "table.npy"
    np.save(table, TABLE)
    text = SCRIPT.format(
        first=FIRST, warmup=SETTINGS["warmup"], path=str(path), table=str(table), settings={**SETTINGS}
    )
    script.write_text(textwrap.dedent(text))
    return script


@pytest.mark.parametrize(
    "moment",
    ["look", *(pytest.param(name, marks=pytest.mark.faults) for name in ("extension", "first chain", "last chain"))],
)
def test_a_run_that_is_killed_ends_as_one_that_is_not(moment: str, whole: MatrixCompletion, tmp_path: Path) -> None:
    """Between two blocks, while the store is extended, and inside the second block, which is twice as long."""
    killed = tmp_path / "killed"
    done = subprocess.run([sys.executable, str(script_of(killed)), moment], timeout=300, check=False)
    assert done.returncode == 9
    assert goal_of(killed) < whole.posterior_.draws
    resumed = fit(killed, resume=True)
    assert resumed.posterior_.draws == whole.posterior_.draws
    assert resumed.diagnostics_.verdict == whole.diagnostics_.verdict
    assert_same_draws(Path(whole.path or ""), killed)


@pytest.mark.faults
def test_a_run_that_is_killed_again_and_again(whole: MatrixCompletion, tmp_path: Path) -> None:
    moments, killed, kills = random.Random(1), tmp_path / "killed", 0
    script = script_of(killed)
    while True:
        process = subprocess.Popen([sys.executable, str(script), "slow"], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if kills < 4:
            time.sleep(moments.uniform(0.3, 1.5))
            process.kill()
            kills += 1
        if "ended" in process.communicate(timeout=300)[0]:
            break
    assert_same_draws(Path(whole.path or ""), killed)


def test_ctrl_c_during_a_look_keeps_the_draws(
    whole: MatrixCompletion, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return diagnosed(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr("manifill.run.chains_to_draws.diagnosed", interrupted)
        model = fit()
        fit(tmp_path / "run")
    assert (model.ended_by_, model.posterior_.draws) == ("interrupt", FIRST)
    assert goal_of(tmp_path / "run") == FIRST, "no further block was begun"
    fit(tmp_path / "run", resume=True)
    assert_same_draws(Path(whole.path or ""), tmp_path / "run")


def test_a_green_run_gets_nothing_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    draws = fit(tmp_path / "run").posterior_.draws
    caplog.set_level(logging.INFO, "manifill")
    again = fit(tmp_path / "run", resume=True)
    assert (again.ended_by_, again.posterior_.draws) == ("green", draws)
    assert f"Predictions were green already with {draws} draws per chain, so none were added." in caplog.messages


def test_a_green_run_gets_a_chain_back_whose_checkpoint_was_deleted(whole: MatrixCompletion, tmp_path: Path) -> None:
    fit(tmp_path / "run")
    (tmp_path / "run" / "checkpoints" / "chain-1.npz").unlink()
    fit(tmp_path / "run", resume=True)
    assert (tmp_path / "run" / "checkpoints" / "chain-1.npz").exists()
    assert_same_draws(Path(whole.path or ""), tmp_path / "run")


def test_a_limit_that_was_reached_can_be_raised(tmp_path: Path) -> None:
    fit(tmp_path / "run", max_draws=50)
    assert fit(tmp_path / "run", max_draws=50, resume=True).posterior_.draws == 50
    resumed = fit(tmp_path / "run", resume=True)
    assert resumed.ended_by_ == "green"
    assert resumed.posterior_.attributes["settings"]["max_draws"] == 4000
    whole = fit(draws=resumed.posterior_.draws)
    np.testing.assert_array_equal(resumed.posterior_.sigma[:], whole.posterior_.sigma)


def test_a_run_can_change_between_a_number_and_auto(tmp_path: Path) -> None:
    draws = fit(tmp_path / "run").posterior_.draws
    longer = fit(tmp_path / "run", resume=True, draws=draws + 20)
    assert (longer.ended_by_, longer.posterior_.draws) == ("draws", draws + 20)
    assert longer.posterior_.attributes["settings"]["draws"] == draws + 20
    assert fit(tmp_path / "run", resume=True, draws=20).posterior_.draws == draws + 20
    fit(tmp_path / "fixed", draws=30)
    auto = fit(tmp_path / "fixed", resume=True)
    assert auto.ended_by_ == "green"
    assert auto.posterior_.attributes["settings"]["draws"] == "auto"
    whole = fit(draws=auto.posterior_.draws)
    np.testing.assert_array_equal(auto.posterior_.sigma[:], whole.posterior_.sigma)


def test_a_run_from_before_draws_could_be_auto(tmp_path: Path) -> None:
    fit(tmp_path / "run", draws=30)
    root = zarr.open_group(tmp_path / "run" / "draws.zarr", mode="r+")
    attributes: dict[str, Any] = dict(root.attrs)
    del attributes[GOAL], attributes["settings"]["max_draws"], attributes["settings"]["max_minutes"]
    root.attrs.clear()
    root.attrs.update(attributes)
    write_manifest(RunFolder(tmp_path / "run"))
    assert manifill.load(tmp_path / "run").draws == 30
    assert fit(tmp_path / "run", resume=True, draws=40).posterior_.draws == 40
    assert goal_of(tmp_path / "run") == 40


def test_a_run_whose_goal_is_lost_is_refused(tmp_path: Path) -> None:
    fit(tmp_path / "run", max_draws=20)
    root = zarr.open_group(tmp_path / "run" / "draws.zarr", mode="r+")
    del root.attrs[GOAL]
    write_manifest(RunFolder(tmp_path / "run"))
    with pytest.raises(ValueError, match="it has no attribute 'goal_draws'"):
        manifill.load(tmp_path / "run")
    with pytest.raises(ValueError, match="it has no attribute 'goal_draws'"):
        fit(tmp_path / "run", resume=True)


def test_warm_up_may_be_left_to_the_sampler(tmp_path: Path) -> None:
    stored = fit(tmp_path / "run", warmup="auto", draws=20).posterior_
    assert stored.attributes["settings"]["warmup"] == "auto"
    assert stored.attributes["sampler"]["warmup"] == 200
    assert stored.warmup_statistics["lp"].shape == (4, 200)
    for same in ("auto", 200):
        fit(tmp_path / "run", warmup=same, draws=25, resume=True)
    with pytest.raises(ValueError, match="warmup='auto' in the run, but warmup=100 here"):
        fit(tmp_path / "run", warmup=100, draws=25, resume=True)
    fit(tmp_path / "given", warmup=30, draws=20)
    assert (
        fit(tmp_path / "given", warmup="auto", draws=25, resume=True).posterior_.warmup_statistics["lp"].shape[1] == 30
    )
