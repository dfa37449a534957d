"""The date, machine and software versions of a result."""

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from manifill.paper.tasks import Result

__all__ = ["combined_provenance", "with_provenance"]

PACKAGES = ("manifill", "numpy", "scipy", "numba")


def with_provenance(result: Result) -> Result:
    """Return a result with the present date, machine and software versions added to its metrics."""
    software = f"{platform.system()}, Python {platform.python_version()}"
    made = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{os.cpu_count()} processors, {_processor()}; {software}",
        "versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }
    return Result(result.metrics | {"made": made}, result.arrays)


def combined_provenance(results: Iterable[Result]) -> dict[str, Any]:
    """Return the first and last date of some results, and all machines and versions that computed them."""
    made = [result.metrics["made"] for result in results]
    return {
        "from": min(each["date"] for each in made),
        "to": max(each["date"] for each in made),
        "machines": sorted({each["machine"] for each in made}),
        "versions": sorted({each["versions"] for each in made}),
    }


def _processor() -> str:
    """Return the name of the processor, as displayed."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
