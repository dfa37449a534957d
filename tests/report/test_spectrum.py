import numpy as np
import pytest

from manifill.posterior import Draws, Variable
from manifill.report.spectrum import agreement, spectrum
from manifill.report.study import study_of

from .runs import made_up_model

M, N, DRAWS = 40, 30, 100


def draws_of(lefts, rights):
    """Return two chains of draws of A Bᵀ."""
    shape = lefts.shape[-1]
    variables = Variable("A", ("row", "component"), (M, shape)), Variable("B", ("column", "component"), (N, shape))
    posterior = {"A": lefts.reshape(2, DRAWS // 2, M, shape), "B": rights.reshape(2, DRAWS // 2, N, shape)}
    return Draws(variables, posterior, {}, {}, {})


@pytest.mark.parametrize("known", [0, 1, 3])
def test_components_that_turn_do_not_agree(known):
    rng = np.random.default_rng(0)
    lefts, rights = rng.normal(size=(DRAWS, M, 4)), rng.normal(size=(DRAWS, N, 4))
    lefts[:, :, :known], rights[:, :, :known] = 3.0 * lefts[0, :, :known], rights[0, :, :known]
    found = agreement(draws_of(lefts, rights))
    assert np.all(found[known:] < 0.5)
    if known:
        assert found[known - 1] > 0.9


def test_equal_singular_values_may_swap_their_vectors():
    rng = np.random.default_rng(0)
    left, right = np.linalg.qr(rng.normal(size=(M, 2)))[0], np.linalg.qr(rng.normal(size=(N, 2)))[0]
    sizes = np.array([1.0, 1.0]) + 1e-3 * rng.normal(size=(DRAWS, 2))
    found = agreement(draws_of(left * sizes[:, None, :], np.broadcast_to(right, (DRAWS, N, 2)).copy()))
    assert found[1] > 0.99  # the plane is the same, whichever of its vectors comes first


def test_section_names_the_rank(tmp_path):
    model = made_up_model(tmp_path / "run")
    series = {f"singular_value[{k}]": np.full((4, 200), 4.0 - k) for k in range(4)}
    found = spectrum(study_of(model, None), series)
    assert found.total == 4
    assert len(found.table.rows) == 4
    assert found.supported == 4  # two components, a mean and effects, which all draws share
    assert "rank above 2" in found.sentence


@pytest.mark.parametrize(
    ("agreements", "supported", "said"),
    [
        ([0.3, 0.9, 0.4, 0.1], 2, "leading 2 components are the same in all draws; the other 2 turn"),  # 1 and 2 swap
        ([0.9, 0.8, 0.7, 0.1], 3, "leading 3 components are the same in all draws; the other one turns"),
        ([0.4, 0.3, 0.2, 0.1], 0, "No component"),
    ],
)
def test_rank_is_the_last_component_that_agrees(tmp_path, monkeypatch, agreements, supported, said):
    monkeypatch.setattr("manifill.report.spectrum.agreement", lambda draws: np.array(agreements))
    study = study_of(made_up_model(tmp_path / "run"), None)
    found = spectrum(study, {f"singular_value[{k}]": np.full((4, 200), 4.0 - k) for k in range(4)})
    assert found.supported == supported
    assert said in found.sentence
