"""Histograms of deviations."""

from pathlib import Path

import numpy as np

from manifill.paper.fig_mad import bin_edges, fig_mad
from manifill.paper.repetition_groups import RepetitionGroup
from tests.paper.example_results import two_repetitions


def with_deviations(scale: float) -> RepetitionGroup:
    deviations = np.abs(np.random.default_rng(1).normal(0.0, scale, 500)).astype(np.float32)
    return two_repetitions("SVD", "joint", {"deviations": deviations})


def test_bins_are_linear_unless_all_deviations_are_tiny(tmp_path: Path) -> None:
    large, tiny = with_deviations(2.0), with_deviations(1e-5)
    assert bin_edges([large], 12.0)[[0, -1]].tolist() == [0.0, 12.0]
    ratios = bin_edges([large, tiny], 12.0)
    np.testing.assert_allclose(np.diff(np.log(ratios)), np.log(ratios[1] / ratios[0]))
    assert ratios[0] < 1e-6 < 5.0 < ratios[-1], "the bins include both"
    exact = two_repetitions("SVD", "gibbs", {"deviations": np.zeros(500, np.float32)})
    baseline = two_repetitions("ABT", "factors", {"deviations": np.ones(500, np.float32)})
    section = fig_mad([tiny, exact, baseline], tmp_path)
    assert (tmp_path / f"{section.figures[0].name}.png").stat().st_size > 5000
