"""Draws handed to ArviZ, whichever line of it is installed."""

import importlib.metadata
import json
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from scipy import stats
from scipy.special import logsumexp

from manifill.likelihoods import Gaussian
from manifill.posterior import Draws, create_store, pointwise
from manifill.posterior.arviz_groups import _relative_efficiency, assembled, cell_groups, draw_groups, loo
from manifill.problem import Observations
from tests.posterior.runs import (
    ALL_KINDS,
    ATTRIBUTES,
    EFFECT_VARIABLES,
    KINDS,
    STATISTICS,
    VARIABLES,
    M,
    N,
    dense_draws,
    disk_records,
    random_run,
)

pytestmark = pytest.mark.filterwarnings("ignore")  # ArviZ announces its own future
arviz = pytest.importorskip("arviz")

SCALES = np.array([0.001, 1.0, 10.0, 500.0])
NAMES = np.array([f"r{i}" for i in range(M)], dtype=object)


def observations(labels: bool = False) -> Observations:
    rows, cols = np.divmod(np.arange(0, M * N, 2), N)
    values = np.random.default_rng(1).normal(size=rows.size)
    return Observations.from_triples(rows, cols, values, (M, N), row_labels=NAMES if labels else None)


def tree_of(draws: Draws, **groups: bool) -> Any:
    asked = {"log_likelihood": False, "posterior_predictive": False, **groups}
    cells = cell_groups(np.random.default_rng(0), draws, Gaussian(), observations(), **asked)
    return assembled(draw_groups(draws) | cells, draws.attributes)


def names_of(tree: Any) -> set[str]:
    return set(tree.groups()) if callable(tree.groups) else set(tree.children)


def concentrated() -> Draws:
    """Return draws that hardly differ, so that leaving a cell out changes nothing."""
    draws = random_run([200, 200])
    return replace(
        draws,
        posterior={name: value[:1, :1] + 1e-3 * (value - value[:1, :1]) for name, value in draws.posterior.items()},
    )


def leave_one_out(draws: Draws) -> float:
    """Return the sum of log p(y) given all other cells, by importance weights as they are."""
    rows, cols, values = observations().triples()
    X, sigma = dense_draws(draws)
    each = stats.norm.logpdf(values, X[:, rows, cols], sigma[:, None])
    return float(np.sum(np.log(len(X)) - logsumexp(-each, axis=0)))


def elpd_of(found: Any) -> float:
    return float(found.elpd if hasattr(found, "elpd") else found.elpd_loo)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_groups_dimensions_and_values(kind: str) -> None:
    draws = random_run([7, 7], variables=ALL_KINDS[kind])
    tree = draws.to_arviz()
    assert names_of(tree) == {"posterior", "sample_stats", "warmup_sample_stats"}
    for variable in draws.variables:
        array = tree["posterior"][variable.name]
        assert array.dims == ("chain", "draw", *variable.dims)
        np.testing.assert_array_equal(array, draws.posterior[variable.name])
    np.testing.assert_array_equal(tree["sample_stats"]["lp"], draws.statistics["lp"])
    np.testing.assert_array_equal(tree["warmup_sample_stats"]["lp"], draws.warmup_statistics["lp"])
    assert tree["sample_stats"]["diverging"].dtype == bool
    np.testing.assert_array_equal(tree["posterior"]["row"], np.arange(M))


def test_without_warmup_there_is_no_group_of_it() -> None:
    assert names_of(random_run([7], warmup=0).to_arviz()) == {"posterior", "sample_stats"}


def test_labels_are_coordinates() -> None:
    posterior = random_run([7]).to_arviz(NAMES, ["a", "b", "c", "d"])["posterior"]
    assert posterior["U"].sel(row="r3").shape == (1, 7, 2)
    assert posterior["V"].sel(column="d").shape == (1, 7, 2)


def test_labels_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match="column_labels must hold 4 labels"):
        random_run([7]).to_arviz(NAMES, ["a", "b"])


def test_attributes_say_how_the_draws_came_about() -> None:
    attributes = random_run([7]).to_arviz().attrs
    assert attributes["inference_library"] == "manifill"
    assert json.loads(attributes["settings"]) == ATTRIBUTES["settings"]
    assert int(attributes["seed"]) == ATTRIBUTES["seed"]
    assert all(isinstance(value, (str, int, float)) for value in attributes.values())


def test_scales_of_columns_are_constant_data() -> None:
    draws = random_run([7])
    scaled = replace(draws, attributes={**draws.attributes, "column_scales": SCALES.tolist()})
    tree = scaled.to_arviz(column_labels=["a", "b", "c", "d"])
    assert tree["constant_data"]["column_scales"].sel(column="c") == 10.0
    assert "column_scales" not in tree.attrs


def test_memory_is_shared() -> None:
    draws = random_run([7])
    assert np.shares_memory(draws.to_arviz()["posterior"]["U"].values, draws.U)


@pytest.mark.parametrize("counts", [[7, 7], [4, 0, 7, 5]])
def test_a_run_on_disk_is_read_when_values_are_asked_for(tmp_path: Path, counts: list[int]) -> None:
    """Also one that was stopped, of which only the largest rectangle is seen."""
    create_store(tmp_path / "run", VARIABLES, STATISTICS, len(counts), 7, 3, ATTRIBUTES)
    disk_records(tmp_path / "run", counts)
    draws, memory = Draws.open(tmp_path / "run"), random_run(counts)
    U = draws.to_arviz()["posterior"]["U"]
    assert U.shape == memory.U.shape
    assert not U.variable._in_memory
    np.testing.assert_allclose(U, memory.U, rtol=1e-6)
    assert not U.variable._in_memory, "reading keeps nothing"
    some = U.isel(chain=[-1, 0], draw=slice(None, None, -2), row=[3, 1])
    np.testing.assert_allclose(some, memory.U[[-1, 0]][:, ::-2][:, :, [3, 1]], rtol=1e-6)
    np.testing.assert_allclose(U.isel(chain=0, draw=2), memory.U[0, 2], rtol=1e-6)


def test_a_summary_reads_no_more_than_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random_run([50, 50]).save(tmp_path / "run")
    draws = Draws.open(tmp_path / "run")
    monkeypatch.setitem(draws.posterior, "U", Untouchable(draws.U))
    summary = arviz.summary(draws.to_arviz(), var_names=["sigma", "s"])
    assert list(summary.index) == ["sigma", "s[0]", "s[1]"]


class Untouchable:
    """An array on disk that nobody may read."""

    def __init__(self, array: Any) -> None:
        self.shape, self.dtype, self.chunks = array.shape, array.dtype, array.chunks

    def __getitem__(self, key: Any) -> Any:
        raise AssertionError("U was read")


@pytest.mark.parametrize("kind", KINDS)
def test_log_likelihood_by_cell(kind: str) -> None:
    draws = random_run([5, 5], variables=KINDS[kind])
    found = tree_of(draws, log_likelihood=True)["log_likelihood"]["y"]
    rows, cols, values = observations().triples()
    X, sigma = dense_draws(draws)
    by_column = np.broadcast_to(sigma if sigma.ndim == 2 else sigma[:, None], (len(X), N))
    expected = stats.norm.logpdf(values, X[:, rows, cols], by_column[:, cols])
    assert found.dims == ("chain", "draw", "cell")
    np.testing.assert_allclose(found, expected.reshape(2, 5, -1), rtol=1e-11)
    np.testing.assert_array_equal(found["row"], rows)
    np.testing.assert_array_equal(found["column"], cols)


def test_observed_data_by_label() -> None:
    cells = cell_groups(
        np.random.default_rng(0),
        random_run([5]),
        Gaussian(),
        observations(labels=True),
        log_likelihood=True,
        posterior_predictive=True,
    )
    rows, _, values = observations().triples()
    for group in cells.values():
        assert group["row"].values.tolist() == NAMES[rows].tolist()
    np.testing.assert_array_equal(cells["observed_data"]["y"], values)


def test_replicated_data_are_in_the_units_of_the_data() -> None:
    """|z| < 5 for 12 means of 4000 samples: 7e-6."""
    draws = random_run([2000, 2000], variables=EFFECT_VARIABLES)
    draws = replace(draws, attributes={**draws.attributes, "column_scales": SCALES.tolist()})
    samples = tree_of(draws, posterior_predictive=True)["posterior_predictive"]["y"]
    rows, cols, _ = observations().triples()
    X, _ = dense_draws(draws)
    z = (samples - (X * SCALES)[:, rows, cols].reshape(samples.shape)).values.reshape(4000, -1)
    assert (np.abs(z.mean(axis=0)) < 5.0 * z.std(axis=0) / np.sqrt(4000)).all()


@pytest.mark.parametrize(("room", "kept"), [(100, range(7)), (7, range(7)), (6, [0, 2, 4, 6]), (3, [0, 3, 6])])
def test_draws_are_thinned_to_fit_in_memory(monkeypatch: pytest.MonkeyPatch, room: int, kept: list[int]) -> None:
    monkeypatch.setattr(pointwise, "POINTWISE_BYTES", room * 2 * 12 * 8)
    monkeypatch.setattr(pointwise, "FEWEST_DRAWS", 4)
    draws = random_run([7, 7])
    table = tree_of(draws, log_likelihood=True)["log_likelihood"]["y"]
    np.testing.assert_array_equal(table["draw"], list(kept))
    assert table.nbytes <= room * 2 * 12 * 8
    monkeypatch.undo()
    whole = tree_of(draws, log_likelihood=True)["log_likelihood"]["y"]
    np.testing.assert_array_equal(table, whole.sel(draw=list(kept)))


def test_too_few_draws_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointwise, "POINTWISE_BYTES", 5 * 2 * 12 * 8)
    with pytest.raises(ValueError, match="12 observed cells leave room for 10 draws in 0 MiB, too few"):
        tree_of(random_run([7, 7]), log_likelihood=True)


def test_loo_of_arviz() -> None:
    """Both ways: with ArviZ's word on the number of independent draws, or with ours."""
    draws = concentrated()
    exact = leave_one_out(draws)
    tree = tree_of(draws, log_likelihood=True)
    for found in (arviz.loo(tree, pointwise=True), loo(draws, Gaussian(), observations())):
        assert elpd_of(found) == pytest.approx(exact, rel=1e-6)
        assert (np.asarray(found.pareto_k) < 0.7).all()
        assert found.pareto_k.shape == (12,)


def test_loo_of_thinned_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = concentrated()
    monkeypatch.setattr(pointwise, "POINTWISE_BYTES", 100 * 2 * 12 * 8)
    for found in (arviz.loo(tree_of(draws, log_likelihood=True)), loo(draws, Gaussian(), observations())):
        assert found.n_samples == 200
        assert elpd_of(found) == pytest.approx(leave_one_out(draws), rel=1e-3)


def test_models_are_compared() -> None:
    good = concentrated()
    runs = {"good": good, "noisy": replace(good, posterior={**good.posterior, "sigma": 9.0 * good.sigma})}
    table = arviz.compare({name: loo(draws, Gaussian(), observations()) for name, draws in runs.items()})
    assert list(table.index) == sorted(runs, key=lambda name: leave_one_out(runs[name]), reverse=True)


@pytest.mark.skipif(not hasattr(arviz, "waic"), reason="ArviZ 1 has no WAIC")
def test_waic_of_arviz() -> None:
    draws = concentrated()
    assert arviz.waic(tree_of(draws, log_likelihood=True)).elpd_waic == pytest.approx(leave_one_out(draws), rel=1e-4)


def test_loo_of_too_few_draws_is_refused() -> None:
    with pytest.raises(ValueError, match="importance sampling needs 100 draws, but the posterior has 6"):
        loo(random_run([3, 3]), Gaussian(), observations())


def test_relative_efficiency() -> None:
    """Of 2000 independent draws 0.1 is two standard errors, and each of them repeated five times counts a fifth."""
    independent = np.random.default_rng(4).normal(size=(2, 1000, 3))
    assert 0.8 < _relative_efficiency(independent) < 1.2
    assert 0.16 < _relative_efficiency(np.repeat(independent, 5, axis=1)) < 0.24
    assert _relative_efficiency(np.zeros((2, 1000, 3))) == 1.0


def test_a_tree_goes_to_a_file_and_back(tmp_path: Path) -> None:
    pytest.importorskip("h5netcdf")
    draws = random_run([7, 7])
    draws.to_arviz().to_netcdf(str(tmp_path / "run.nc"))
    with xarray.open_dataset(tmp_path / "run.nc", group="posterior", engine="h5netcdf") as posterior:
        np.testing.assert_array_equal(posterior["U"], draws.U)


@pytest.mark.parametrize("module", ["xarray", "arviz"])
def test_without_arviz_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.delitem(sys.modules, "manifill.posterior.arviz_groups")
    if module == "xarray":
        monkeypatch.setitem(sys.modules, "xarray", None)
    else:
        monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(ImportError, match=r"pip install 'manifill\[arviz\]'"):
        random_run([2]).to_arviz()
