"""Draws as an object: attributes, copies, factors one draw at a time."""

import copy
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill.posterior import Draws, Variable, create_store
from manifill.posterior import zarr_store as store
from tests.posterior.runs import (
    ALL_KINDS,
    ATTRIBUTES,
    STATISTICS,
    VARIABLES,
    M,
    N,
    dense_draws,
    disk_records,
    random_run,
)


def test_shape_and_counts() -> None:
    draws = random_run([5, 5, 5])
    assert (draws.chains, draws.draws, draws.shape) == (3, 5, (M, N))
    assert repr(draws) == "Draws(U, s, V, lambda, sigma: 3 chains × 5 draws of a 6×4 matrix)"


def test_variables_are_attributes() -> None:
    draws = random_run([5])
    assert draws.U is draws.posterior["U"]
    assert draws.lambda_ is draws.posterior["lambda"]


def test_an_unknown_attribute_names_the_known_ones() -> None:
    with pytest.raises(AttributeError, match="no 'W'; the variables are U, s, V, lambda_, sigma"):
        _ = random_run([5]).W


def test_copies_are_equal_objects(tmp_path: Path) -> None:
    draws = random_run([5])
    draws.save(tmp_path / "run")
    for original in (draws, Draws.open(tmp_path / "run")):
        for again in (copy.copy(original), copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
            np.testing.assert_array_equal(again.U[:], original.U[:])
            assert again.attributes == original.attributes


def test_an_empty_object_has_no_attributes() -> None:
    with pytest.raises(AttributeError):
        _ = Draws.__new__(Draws).U


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_factors_multiply_to_each_draw_of_x_in_turn(kind: str) -> None:
    draws = random_run([5, 5], variables=ALL_KINDS[kind])
    X, sigma = dense_draws(draws)
    factors = list(draws.factors(("sigma",) if "sigma" in draws.posterior else ()))
    assert len(factors) == 10
    np.testing.assert_allclose([f.left @ f.right.T for f in factors], X, rtol=1e-12)
    np.testing.assert_array_equal([f.parameters.get("sigma", 1.0) for f in factors], sigma)
    assert draws.has_effects == (factors[0].left.shape[1] == 4)


def test_column_scales_are_one_unless_the_run_had_some() -> None:
    draws = random_run([5])
    assert draws.column_scales == 1.0
    scaled = replace(draws, attributes={**draws.attributes, "column_scales": [1.0, 2.0, 3.0, 4.0]})
    assert scaled.column_scales.tolist() == [1.0, 2.0, 3.0, 4.0]


class CountingArray:
    """A Zarr array that counts how often it is read."""

    def __init__(self, array: Any) -> None:
        self.array, self.chunks, self.shape, self.reads = array, array.chunks, array.shape, 0

    def __getitem__(self, key: Any) -> Any:
        self.reads += 1
        return self.array[key]


def test_factors_of_a_run_on_disk_read_each_chunk_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "CHUNK_BYTES", 3 * M * 2 * 4)
    draws = random_run([7, 7])
    draws.save(tmp_path / "run")
    opened = Draws.open(tmp_path / "run")
    counting = {name: CountingArray(array) for name, array in opened.posterior.items()}
    watched = Draws(opened.variables, counting, opened.statistics, opened.warmup_statistics, opened.attributes)
    for on_disk, in_memory in zip(watched.factors(("sigma",)), draws.factors(("sigma",)), strict=True):
        assert on_disk.left.dtype == on_disk.right.dtype == np.float64
        np.testing.assert_allclose(on_disk.left, in_memory.left, rtol=1e-6)
        np.testing.assert_allclose(on_disk.right, in_memory.right, rtol=1e-6)
        assert on_disk.parameters["sigma"] == pytest.approx(in_memory.parameters["sigma"], rel=1e-6)
    assert counting["U"].reads == 2 * 3
    assert counting["sigma"].reads == 2


@pytest.mark.parametrize("chunk", [None, 2, 4])
@pytest.mark.parametrize("counts", [[12, 12], [12, 3, 12]], ids=str)
@pytest.mark.parametrize("whole_chunks", [True, False])
def test_thinned_draws_are_some_of_the_draws(
    chunk: int | None, counts: list[int], whole_chunks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 of 24, in whole chunks on disk unless these are large; chains of a stopped run count as far as they came."""
    draws = random_run(counts)
    if chunk:
        monkeypatch.setattr(store, "CHUNK_BYTES", chunk * 6 * 2 * 4)
        create_store(tmp_path / "run", VARIABLES, STATISTICS, len(counts), 20, 3, ATTRIBUTES)
        disk_records(tmp_path / "run", counts)
        draws = Draws.open(tmp_path / "run")
    thinned = draws.thinned(16, whole_chunks=whole_chunks)
    index = [0, 1, 2, 3, 6, 7, 8, 9] if chunk == 2 and whole_chunks else [0, 1, 3, 4, 6, 7, 9, 10]
    assert (thinned.chains, thinned.draws) == (2, len(index))
    np.testing.assert_array_equal(thinned.U[:], draws.U[:][:, index])
    np.testing.assert_array_equal(thinned.statistics["lp"], draws.statistics["lp"][:, index])
    every = list(draws.factors())
    for k, factors in enumerate(thinned.factors()):
        chain, draw = divmod(k, len(index))
        np.testing.assert_array_equal(factors.right, every[chain * 12 + index[draw]].right)
    assert draws.thinned(1000) is draws


def test_thinned_draws_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole chunks are hardly more than what was asked for."""
    for chunk in (2, 7, 30):
        monkeypatch.setattr(store, "CHUNK_BYTES", chunk * M * 2 * 4)
        random_run([60, 60]).save(tmp_path / str(chunk))
        draws = Draws.open(tmp_path / str(chunk))
        for count in (*range(1, 30), 60, 119, 120):
            assert count <= 2 * draws.thinned(count).draws <= 1.5 * (count + 1)
            assert 2 * draws.thinned(count, whole_chunks=False).draws <= count + 1


def test_draws_far_apart_are_read_without_those_in_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten draws are 0.4 MB of 8 MB; Zarr may read as many chunks of 0.08 MB at a time."""
    monkeypatch.setattr(store, "CHUNK_BYTES", 2 * 5000 * 2 * 4)
    variables = (Variable("A", ("row", "component"), (5000, 2)), Variable("B", ("column", "component"), (N, 2)))
    random_run([200], variables=variables).save(tmp_path / "run")
    draws = Draws.open(tmp_path / "run").thinned(10, whole_chunks=False)
    draws.A[0]
    tracemalloc.start()
    draws.A[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000
