"""When, where and by what a result was made."""

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from manifill.paper.results import Result

__all__ = ["origins", "with_provenance"]

PACKAGES = ("manifill", "numpy", "scipy", "numba")


def with_provenance(result: Result) -> Result:
    """Return a result that says when, where and by what it was made."""
    software = f"{platform.system()}, Python {platform.python_version()}"
    about = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{os.cpu_count()} processors, {_processor()}; {software}",
        "versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }
    return Result(result.figures | {"made": about}, result.arrays)


def origins(results: Iterable[Result]) -> dict[str, Any]:
    """Return from when to when results were made, and all machines and versions that made them."""
    made = [result.figures["made"] for result in results]
    return {
        "from": min(about["date"] for about in made),
        "to": max(about["date"] for about in made),
        "machines": sorted({about["machine"] for about in made}),
        "versions": sorted({about["versions"] for about in made}),
    }


def _processor() -> str:
    """Return the name of the processor, for people."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
