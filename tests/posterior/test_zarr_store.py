"""Runs on disk: what is written comes back, chains keep to their own files, others can read it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
import zarr

from manifill.posterior import DiskRecorder, Draws, MemoryRecorder, Variable, create_store, extend_store
from manifill.posterior import zarr_store as store
from tests.posterior.runs import (
    ATTRIBUTES,
    EFFECT_VARIABLES,
    STATISTICS,
    VARIABLES,
    assert_same,
    disk_records,
    feed,
    memory_records,
    random_draw,
    random_run,
    random_statistics,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.zarr"


@pytest.fixture
def three_draws_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let U, 6×2 in float32, set a rhythm of three draws."""
    monkeypatch.setattr(store, "CHUNK_BYTES", 3 * 6 * 2 * 4)


def write_run(path: Path, counts: list[int], planned: int, warmup: int = 3) -> Draws:
    create_store(path, VARIABLES, STATISTICS, len(counts), planned, warmup, ATTRIBUTES)
    disk_records(path, counts, warmup)
    return Draws.open(path)


def feed_only(recorder: DiskRecorder, draws: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(draws):
        recorder.append(random_draw(rng), random_statistics(rng))


def files(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize("warmup", [0, 3])
def test_a_run_on_disk_is_the_run_in_memory(path: Path, three_draws_a_chunk: None, warmup: int) -> None:
    assert_same(write_run(path, [7, 7], 7, warmup), random_run([7, 7], warmup), rtol=1e-6)


def test_records_of_a_run_on_disk_hold_the_number_of_draws_only(path: Path, three_draws_a_chunk: None) -> None:
    create_store(path, VARIABLES, STATISTICS, 1, 7, 3, ATTRIBUTES)
    (record,) = disk_records(path, [7])
    assert record == (VARIABLES, 7, {}, {}, {})


@pytest.mark.parametrize("counts", [[4, 0, 7, 5], [0, 0, 5, 0], [7, 7, 2, 7]])
def test_an_interrupted_run_on_disk_is_that_in_memory(path: Path, three_draws_a_chunk: None, counts: list[int]) -> None:
    assert_same(write_run(path, counts, planned=10), random_run(counts), rtol=1e-6)


def test_a_run_without_draws_says_why(path: Path) -> None:
    create_store(path, VARIABLES, STATISTICS, 2, 5, 3, ATTRIBUTES)
    with pytest.raises(ValueError, match="interrupted during warm-up"):
        Draws.open(path)


def test_draws_count_once_they_are_written(path: Path, three_draws_a_chunk: None) -> None:
    create_store(path, VARIABLES, STATISTICS, 1, 7, 0, ATTRIBUTES)
    recorder = DiskRecorder(path, 0, VARIABLES, STATISTICS, 0)
    feed_only(recorder, 5)
    assert Draws.open(path).draws == 3  # a chunk
    recorder.flush()
    assert Draws.open(path).draws == 5


@pytest.mark.parametrize("cut", [0, 2, 3, 5])
def test_a_chain_that_is_taken_up_again_is_the_chain(path: Path, three_draws_a_chunk: None, cut: int) -> None:
    """Also where the one before had written more than is taken for granted."""
    create_store(path, VARIABLES, STATISTICS, 1, 7, 3, ATTRIBUTES)
    feed(DiskRecorder(path, 0, VARIABLES, STATISTICS, 3), np.random.default_rng(0), 6, 3, VARIABLES)
    rng = np.random.default_rng(0)
    feed(MemoryRecorder(VARIABLES, 7), rng, cut, 3, VARIABLES)
    recorder = DiskRecorder(path, 0, VARIABLES, STATISTICS, 3, warmed=3, drawn=cut)
    feed(recorder, rng, 7 - cut, 0, VARIABLES)
    assert_same(Draws.open(path), random_run([7]), rtol=1e-6)


def test_a_run_is_extended(path: Path, three_draws_a_chunk: None) -> None:
    create_store(path, VARIABLES, STATISTICS, 1, 4, 3, {"seed": 1})
    rng = np.random.default_rng(0)
    feed(DiskRecorder(path, 0, VARIABLES, STATISTICS, 3), rng, 4, 3, VARIABLES)
    extend_store(path, 7, ATTRIBUTES)
    assert Draws.open(path).draws == 4
    feed(DiskRecorder(path, 0, VARIABLES, STATISTICS, 3, warmed=3, drawn=4), rng, 3, 0, VARIABLES)
    assert_same(Draws.open(path), random_run([7]), rtol=1e-6)
    tree = xarray.open_datatree(path, engine="zarr", consolidated=False)
    np.testing.assert_array_equal(tree["posterior/draw"], np.arange(7))


@pytest.mark.parametrize(
    "key",
    [np.s_[:], np.s_[1], np.s_[-1, 2], np.s_[:, 1:3], np.s_[0, ::2, 1], np.s_[[1, 0], -1], np.s_[:, [3, 0], ..., :1]],
    ids=str,
)
def test_the_part_that_was_drawn_is_sliced_as_an_array_is(path: Path, key: object) -> None:
    draws = write_run(path, [4, 0, 7, 5], planned=10)
    whole = random_run([4, 0, 7, 5])
    assert draws.U.shape == whole.U.shape == np.asarray(draws.U).shape
    np.testing.assert_allclose(draws.U[key], whole.U[key], rtol=1e-6)


@pytest.mark.parametrize("warmup", [0, 3])
def test_a_saved_run_opens_as_it_was(path: Path, three_draws_a_chunk: None, warmup: int) -> None:
    draws = random_run([7, 7], warmup)
    draws.save(path)
    assert_same(Draws.open(path), draws, rtol=1e-6)


def test_effects_and_noise_by_column_are_saved_too(path: Path) -> None:
    draws = random_run([7, 7], variables=EFFECT_VARIABLES)
    draws.save(path)
    assert_same(Draws.open(path), draws, rtol=1e-6)


def test_an_opened_run_saves_to_another_place(tmp_path: Path) -> None:
    random_run([7, 7]).save(tmp_path / "first")
    first = Draws.open(tmp_path / "first")
    first.save(tmp_path / "second")
    assert_same(Draws.open(tmp_path / "second"), first, rtol=0)


def test_statistics_keep_double_precision(path: Path) -> None:
    draws = random_run([3])
    draws.save(path)
    np.testing.assert_array_equal(Draws.open(path).statistics["lp"], draws.statistics["lp"])


def test_two_recorders_never_write_the_same_file(path: Path, three_draws_a_chunk: None) -> None:
    create_store(path, VARIABLES, STATISTICS, 2, 7, 3, ATTRIBUTES)
    recorders = [DiskRecorder(path, chain, VARIABLES, STATISTICS, 3) for chain in range(2)]
    written = []
    for chain, recorder in enumerate(recorders):
        before = files(path)
        feed(recorder, np.random.default_rng(chain), 7, 3, VARIABLES)
        after = files(path)
        written.append({name for name in after if after[name] != before.get(name)})
    assert all(written)
    assert not written[0] & written[1]


def test_a_full_chunk_is_written_at_once_and_the_rest_at_the_end(path: Path, three_draws_a_chunk: None) -> None:
    create_store(path, VARIABLES, STATISTICS, 1, 7, 0, ATTRIBUTES)
    recorder = DiskRecorder(path, 0, VARIABLES, STATISTICS, 0)
    root: Any = zarr.open_group(path, mode="r")
    record = memory_records([5], warmup=0)[0]
    rows = [{name: series[k] for name, series in record.statistics.items()} for k in range(5)]
    draws = [{name: values[k] for name, values in record.posterior.items()} for k in range(5)]

    def on_disk() -> dict[str, int]:
        arrays = {**dict(root["posterior"].arrays()), **dict(root["sample_stats"].arrays())}
        return {
            name: int(np.isfinite(array[0]).reshape(array.shape[1], -1).all(axis=1).sum())
            for name, array in arrays.items()
            if array.ndim > 1
        }

    for k, expected in enumerate((0, 0, 3, 3, 3)):
        recorder.append(draws[k], rows[k])
        assert set(on_disk().values()) == {expected}
    recorder.finish()
    assert set(on_disk().values()) == {5}


def test_chunks_are_of_about_four_megabytes(path: Path) -> None:
    variables = (
        Variable("U", ("row", "component"), (10_000, 10)),
        Variable("V", ("column", "component"), (5_000, 10)),
        Variable("s", ("component",), (10,)),
        Variable("sigma", (), ()),
    )
    create_store(path, variables, STATISTICS, 4, 1000, 500, ATTRIBUTES)
    posterior: Any = zarr.open_group(path, mode="r")["posterior"]
    chunks = {v.name: posterior[v.name].chunks for v in variables}
    assert chunks == {"U": (1, 10, 10_000, 10), "V": (1, 10, 5_000, 10), "s": (1, 1000, 10), "sigma": (1, 1000)}


def test_a_draw_beyond_a_chunk_is_a_chunk_of_its_own(path: Path) -> None:
    create_store(path, (Variable("U", ("row", "component"), (300_000, 10)),), STATISTICS, 1, 20, 0, ATTRIBUTES)
    array: Any = zarr.open_group(path, mode="r")["posterior/U"]
    assert array.chunks == (1, 1, 300_000, 10)


def test_a_store_is_small_until_it_is_written(path: Path) -> None:
    create_store(path, (Variable("U", ("row", "component"), (300_000, 10)),), STATISTICS, 4, 1000, 500, ATTRIBUTES)
    assert sum(len(content) for content in files(path).values()) < 100_000


def test_xarray_opens_a_store(path: Path) -> None:
    draws = random_run([7, 7])
    draws.save(path)
    tree = xarray.open_datatree(path, engine="zarr", consolidated=False)
    assert set(tree.children) == {"posterior", "sample_stats", "warmup_sample_stats", "progress"}
    assert tree["posterior/U"].dims == ("chain", "draw", "row", "component")
    assert tree["posterior/V"].dims == ("chain", "draw", "column", "component")
    np.testing.assert_array_equal(tree["posterior/draw"], np.arange(7))
    np.testing.assert_allclose(tree["posterior/U"], draws.U, rtol=1e-6)
    np.testing.assert_array_equal(tree["warmup_sample_stats/lp"], draws.warmup_statistics["lp"])
    assert tree.attrs["seed"] == ATTRIBUTES["seed"]


def test_xarray_sees_what_an_interrupted_run_lacks(path: Path, three_draws_a_chunk: None) -> None:
    write_run(path, [4, 0, 7], planned=10)
    tree = xarray.open_datatree(path, engine="zarr", consolidated=False)
    assert tree["posterior/U"].shape[:2] == (3, 10)
    finite: Any = np.isfinite(tree["posterior/sigma"])
    np.testing.assert_array_equal(finite.sum("draw"), [4, 0, 7])
    np.testing.assert_array_equal(tree["progress/completed"], [4, 0, 7])


@pytest.mark.filterwarnings("ignore")  # ArviZ announces its own future
def test_arviz_takes_a_store(path: Path) -> None:
    arviz = pytest.importorskip("arviz")
    draws = random_run([7, 7])
    draws.save(path)
    tree = xarray.open_datatree(path, engine="zarr", consolidated=False)
    if hasattr(arviz.InferenceData, "from_datatree"):  # before ArviZ 1, which takes the tree as it is
        tree = arviz.InferenceData.from_datatree(tree)
        assert set(tree.groups()) >= {"posterior", "sample_stats", "warmup_sample_stats"}
    np.testing.assert_allclose(tree["posterior"]["sigma"], draws.sigma, rtol=1e-6)
    assert list(arviz.summary(tree, var_names=["sigma"]).index) == ["sigma"]


def test_a_place_in_use_is_refused(path: Path) -> None:
    random_run([2]).save(path)
    before = files(path)
    with pytest.raises(ValueError, match="choose another path"):
        create_store(path, VARIABLES, STATISTICS, 1, 2, 0, ATTRIBUTES)
    assert files(path) == before


def test_a_folder_with_something_else_in_it_is_refused(path: Path) -> None:
    path.mkdir()
    (path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="choose another path"):
        create_store(path, VARIABLES, STATISTICS, 1, 2, 0, ATTRIBUTES)


def test_an_empty_folder_is_taken(path: Path) -> None:
    path.mkdir()
    random_run([2]).save(path)
    assert Draws.open(path).draws == 2


def test_what_is_no_run_is_refused(tmp_path: Path, path: Path) -> None:
    with pytest.raises(ValueError, match="holds no draws"):
        Draws.open(tmp_path / "nowhere")
    (tmp_path / "file").write_text("text")
    with pytest.raises(ValueError, match="holds no draws"):
        Draws.open(tmp_path / "file")
    zarr.open_group(path, mode="w")
    with pytest.raises(ValueError, match="holds no draws"):
        Draws.open(path)


def test_a_store_that_was_not_made_to_the_end_is_refused(path: Path) -> None:
    create_store(path, VARIABLES, STATISTICS, 2, 5, 3, ATTRIBUTES)
    root = zarr.open_group(path, mode="r+")
    del root.attrs["manifill_format"]
    with pytest.raises(ValueError, match="never started"):
        Draws.open(path)


def test_half_written_attributes_are_damage(path: Path) -> None:
    random_run([2]).save(path)
    whole = (path / "zarr.json").read_text()
    (path / "zarr.json").write_text(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"zarr\.json is damaged"):
        Draws.open(path)


def test_importing_the_layer_imports_neither_zarr_nor_arviz() -> None:
    script = "import sys, manifill.posterior; sys.exit(any(name in sys.modules for name in ('zarr', 'arviz_stats')))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_factors_are_in_single_precision_and_levels_in_double(tmp_path: Path) -> None:
    variables = Variable("U", ("row", "component"), (6, 2)), Variable("mu", (), ()), Variable("a", ("row",), (6,))
    create_store(tmp_path / "run", variables, STATISTICS, 1, 2, 0, ATTRIBUTES)
    group: Any = zarr.open_group(tmp_path / "run")["posterior"]
    assert [str(group[v.name].dtype) for v in variables] == ["float32", "float64", "float64"]
