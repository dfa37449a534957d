"""The MAP estimate and the independent solver."""

from pathlib import Path

import pytest

from manifill.paper.cases import CASES
from manifill.paper.map_comparison import MapComparison, map_comparisons


@pytest.mark.parametrize("task", map_comparisons(tuple(CASES)), ids=lambda task: task.likelihood)
def test_map_is_the_nuclear_norm_solution(task: MapComparison, tmp_path: Path) -> None:
    metrics = task.run(tmp_path).metrics
    assert metrics["difference"] <= 1e-6
    assert metrics["objective_difference"] <= 1e-6
