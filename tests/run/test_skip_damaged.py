"""Chains that are left out because of damaged files, and chains that are drawn again."""

from pathlib import Path

import numpy as np
import pytest

import manifill
from manifill import DamagedRunError
from manifill.base.errors import CannotResumeError
from manifill.estimators.loading import DamagedRunWarning
from manifill.posterior import Draws, zarr_store
from manifill.report import report_of_run
from manifill.run.folder import RunFolder
from manifill.run.verification import verify_run
from tests.run.runs import files_of, fit, make_older

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")

CHUNKS = Path("draws.zarr", "posterior", "A", "c")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    """Return a run of three chains, with several chunks each."""
    monkeypatch.setattr(zarr_store, "CHUNK_BYTES", 7 * 14 * 2 * 4)
    fit(tmp_path / "run", chains=3)
    return RunFolder(tmp_path / "run")


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def test_the_chain_is_left_out_and_numbered(run: RunFolder) -> None:
    whole = manifill.load(run.path).posterior_
    flip(run.path / CHUNKS / "1/2/0/0")
    before = files_of(run.path)
    with pytest.raises(
        DamagedRunError, match=r"c/1/2/0/0 is damaged: .* or leave its chain out with skip_damaged=True"
    ):
        manifill.load(run.path).predict([0], [1])
    with pytest.warns(
        DamagedRunWarning, match=r"chain 2 of .*run is left out because of damaged files; 2 chains remain\."
    ):
        found = manifill.load(run.path, skip_damaged=True)
    np.testing.assert_array_equal(found.posterior_.A[:], whole.A[[0, 2]])
    np.testing.assert_array_equal(found.posterior_.statistics["lp"], whole.statistics["lp"][[0, 2]])
    assert np.isfinite(found.predict([0], [1]).mean).all()
    with pytest.warns(DamagedRunWarning):
        page = report_of_run(run.path, skip_damaged=True).read_text(encoding="utf-8")
    assert "2 chains of 40 draws (without chain 2, whose files are damaged)" in page
    assert {file: content for file, content in files_of(run.path).items() if file != run.report} == before


def test_every_kind_of_damage_to_a_chain_is_left_out(run: RunFolder) -> None:
    (run.path / CHUNKS / "0/0/0/0").unlink()
    flip(run.draws / "progress" / "completed" / "c" / "1")
    with pytest.warns(DamagedRunWarning, match="chains 1, 2 of"):
        found = manifill.load(run.path, skip_damaged=True).posterior_
    assert found.chains == 1
    file = run.draws / "warmup_sample_stats" / "lp" / "c" / "2" / "0"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedRunError, match="every chain with draws is damaged"):
        manifill.load(run.path, skip_damaged=True)


def test_an_intact_run_is_read_without_a_word(run: RunFolder) -> None:
    found = manifill.load(run.path, skip_damaged=True).posterior_
    np.testing.assert_array_equal(found.A[:], manifill.load(run.path).posterior_.A[:])
    assert "left_out_chains" not in found.attributes


def test_damage_that_concerns_all_chains_is_refused_all_the_same(run: RunFolder) -> None:
    flip(run.data)
    with pytest.raises(DamagedRunError, match=r"data\.npz is damaged: its checksum does not match; restore it from"):
        manifill.load(run.path, skip_damaged=True)


@pytest.mark.parametrize("damage", ["flip", "unlink"])
def test_a_damaged_chain_is_drawn_again_if_its_checkpoint_is_deleted(damage: str, run: RunFolder) -> None:
    whole = manifill.load(run.path).posterior_.A[:]
    for name in ("1/0/0/0", "1/3/0/0"):
        flip(run.path / CHUNKS / name) if damage == "flip" else (run.path / CHUNKS / name).unlink()
    checkpoint = run.checkpoints / "chain-1.npz"
    if damage == "unlink":
        said = rf"c/1/0/0/0 is missing; restore it from a copy, or delete {checkpoint}: its chain is then drawn again"
        with pytest.raises(CannotResumeError, match=said):
            fit(run.path, chains=3, resume=True)
    checkpoint.unlink()
    np.testing.assert_array_equal(fit(run.path, chains=3, resume=True).posterior_.A[:], whole)
    assert verify_run(run.path).damage == ()


def test_draws_that_are_drawn_again_count_all_the_while(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost checkpoint costs time, but no draws: not even if the chain is stopped before it has caught up."""
    from manifill.sampling.factor_gibbs import Factors

    whole, step, steps = manifill.load(run.path).posterior_.A[:], Factors.step, 0

    def stop(self: Factors, *given: object) -> object:
        nonlocal steps
        steps += 1
        if steps == 35:
            raise KeyboardInterrupt
        return step(self, *given)  # type: ignore[arg-type]

    (run.checkpoints / "chain-1.npz").unlink()
    monkeypatch.setattr(Factors, "step", stop)
    with pytest.raises(KeyboardInterrupt):
        fit(run.path, chains=3, resume=True)
    np.testing.assert_array_equal(manifill.load(run.path).posterior_.A[:], whole)
    assert verify_run(run.path).damage == ()


def test_draws_in_memory_of_a_bare_store_are_checked_too(run: RunFolder) -> None:
    flip(run.path / CHUNKS / "0/1/0/0")
    draws = Draws.open(run.draws)
    with pytest.raises(DamagedRunError, match="c/0/1/0/0 is damaged"):
        draws.A[:]
    with pytest.raises(DamagedRunError, match="c/0/1/0/0 is damaged"):
        list(draws.thinned(9, whole_chunks=False).each("A", 0))
    assert Draws.open(run.draws, skip_damaged=True).chains == 2


@pytest.mark.filterwarnings("ignore::manifill.estimators.loading.UnverifiedRunWarning")
def test_a_run_without_checksums_notices_what_it_can(run: RunFolder) -> None:
    make_older(run.path)
    assert verify_run(run.path)[1:] == (False, ())
    file = run.path / CHUNKS / "2/5/0/0"
    file.write_bytes(file.read_bytes()[:-1])
    for call in (lambda: manifill.load(run.path), lambda: Draws.open(run.draws)):
        with pytest.raises(DamagedRunError, match=r"c/2/5/0/0 is damaged: it has \d+ bytes instead of \d+"):
            call()
    assert [one.file for one in verify_run(run.path).damage] == [file]
    run.data.write_bytes(run.data.read_bytes()[:-9])
    assert [one.file for one in verify_run(run.path).damage] == [run.data, file]


def test_an_extended_run_is_intact(tmp_path: Path) -> None:
    fit(tmp_path / "run")
    fit(tmp_path / "run", resume=True, draws=60)
    assert verify_run(tmp_path / "run").damage == ()
