"""A reproduction on a cluster: Dask worker processes that share only the folder."""

import sys
from collections.abc import Iterator
from pathlib import Path

import joblib
import pytest
from distributed import Client, LocalCluster

from manifill.paper.fit_task import Fit
from manifill.paper.protocol import Size
from manifill.paper.task_runner import run_tasks

TASKS = [Fit("case-1", share, "ABT", "factors", k, Size(2, 5, 10, 1)) for share in (0.1, 0.4) for k in range(2)]


@pytest.fixture
def client() -> Iterator[Client]:
    """Return a client of a cluster of two processes."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


def test_a_cluster_gives_the_results_of_one_process(tmp_path: Path, client: Client) -> None:
    with joblib.parallel_config(backend="dask"):
        on_cluster = run_tasks(TASKS, tmp_path / "cluster", jobs=None, quiet=True)
    here = run_tasks(TASKS, tmp_path / "here", jobs=1, quiet=True)
    assert set(on_cluster) == set(here) == {task.key for task in TASKS}
    for key, result in here.items():
        assert on_cluster[key].metrics["deviations"] == result.metrics["deviations"]
    assert any(client.run(lambda: "manifill.paper.fit_task" in sys.modules).values()), "no worker ran a fit"
