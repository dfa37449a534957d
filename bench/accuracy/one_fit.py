"""One fit in a process of its own: ``python -m accuracy.one_fit OUT TABLE METHOD SPLIT [--standardised] [--quick]``.

The figures are written to OUT as JSON.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from accuracy.cost import peak_megabytes, processor_seconds
from accuracy.registry import ALL, Task
from accuracy.standardise import standardise, unchanged
from accuracy.tables import TABLES


def measured(task: Task, quick: bool) -> dict[str, Any]:
    """Fit, predict the test cells, and return scores and costs; the scoring does not count."""
    method, split = ALL[task.method], TABLES[task.table].load(task.split)
    given, units = standardise(split) if task.standardised else unchanged(split)
    method.prepare()
    begin, processor = time.perf_counter(), processor_seconds()
    prediction = method.predict(given, quick)
    cost = {"seconds": time.perf_counter() - begin, "processor_seconds": processor_seconds() - processor}
    cost["megabytes"] = peak_megabytes()
    return prediction.scored(split, units).record(split) | cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("method", choices=ALL)
    parser.add_argument("split", type=int)
    parser.add_argument("--standardised", action="store_true")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    task = Task(given.table, given.method, given.standardised, given.split)
    given.out.write_text(json.dumps(measured(task, given.quick)))


if __name__ == "__main__":
    main()
