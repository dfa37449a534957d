from pathlib import Path

import numpy as np
import pytest

from manifill.base.arrays import Array
from manifill.posterior import Draws, Variable
from manifill.report.report_data import collect_report_data
from manifill.report.sections.spectrum import agreement, spectrum
from tests.report.synthetic_runs import synthetic_model

M, N, DRAWS = 40, 30, 100


def draws_of(lefts: Array, rights: Array) -> Draws:
    """Return two chains of draws of A Bᵀ."""
    shape = lefts.shape[-1]
    variables = Variable("A", ("row", "component"), (M, shape)), Variable("B", ("column", "component"), (N, shape))
    posterior = {"A": lefts.reshape(2, DRAWS // 2, M, shape), "B": rights.reshape(2, DRAWS // 2, N, shape)}
    return Draws(variables, posterior, {}, {}, {})


@pytest.mark.parametrize("known", [0, 1, 3])
def test_random_components_do_not_agree(known: int) -> None:
    rng = np.random.default_rng(0)
    lefts, rights = rng.normal(size=(DRAWS, M, 4)), rng.normal(size=(DRAWS, N, 4))
    lefts[:, :, :known], rights[:, :, :known] = 3.0 * lefts[0, :, :known], rights[0, :, :known]
    found = agreement(draws_of(lefts, rights))
    assert np.all(found[known:] < 0.5)
    if known:
        assert found[known - 1] > 0.9


def test_equal_singular_values_may_swap_their_vectors() -> None:
    rng = np.random.default_rng(0)
    left, right = np.linalg.qr(rng.normal(size=(M, 2)))[0], np.linalg.qr(rng.normal(size=(N, 2)))[0]
    sizes = np.array([1.0, 1.0]) + 1e-3 * rng.normal(size=(DRAWS, 2))
    found = agreement(draws_of(left * sizes[:, None, :], np.broadcast_to(right, (DRAWS, N, 2)).copy()))
    assert found[1] > 0.99  # both orders of the vectors span the same plane


def test_summary_recommends_a_higher_rank(tmp_path: Path) -> None:
    model = synthetic_model(tmp_path / "run").set_params(rank="auto")  # as given; the model's own rank is reported
    series = {f"singular_value[{k}]": np.full((4, 200), 4.0 - k) for k in range(4)}
    found = spectrum(collect_report_data(model, None), series)
    assert found.total == 4
    assert len(found.table.rows) == 4
    assert found.supported == 4  # two components, a mean and effects, which agree in all draws
    assert "rank above 2" in found.summary
    assert (
        "the low-rank term alone, which counts components by their shares of the sum of the singular values, is "
        in (found.summary)
    )
    assert found.summary.endswith(f"{model.effective_rank_}.")


@pytest.mark.parametrize(
    ("agreements", "supported", "expected"),
    [
        ([0.3, 0.9, 0.4, 0.1], 2, "leading 2 components agree across draws; the other 2 vary"),  # 1 and 2 swap
        ([0.9, 0.8, 0.7, 0.1], 3, "leading 3 components agree across draws; the other one varies"),
        ([0.4, 0.3, 0.2, 0.1], 0, "No component"),
    ],
)
def test_rank_is_the_last_component_that_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agreements: list[float], supported: int, expected: str
) -> None:
    monkeypatch.setattr("manifill.report.sections.spectrum.agreement", lambda draws: np.array(agreements))
    data = collect_report_data(synthetic_model(tmp_path / "run"), None)
    found = spectrum(data, {f"singular_value[{k}]": np.full((4, 200), 4.0 - k) for k in range(4)})
    assert found.supported == supported
    assert expected in found.summary
