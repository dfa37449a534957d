"""The figures of ``error_by_time``, in Markdown."""

import json
from pathlib import Path

from accuracy.methods import ours

TARGET = 0.834  # the RMSE whose time is reported

ROWS = 8  # of the table, for each method


def curve_report(path: Path) -> str:
    """Return RMSE against processor seconds, some points of each curve and its last one."""
    lines = [
        "### MovieLens, RMSE against processor seconds",
        "",
        "| method | seconds: RMSE |",
        "|---|---|",
    ]
    curves = json.loads(path.read_text())
    for name, curve in curves.items():
        points = list(zip(curve["seconds"], curve["rmse"], strict=True))
        every = max(len(points) // ROWS, 1)
        shown = ", ".join(f"{seconds:.1f}: {error:.4f}" for seconds, error in points[::-1][::every][::-1])
        lines.append(f"| {name} | {shown} |")
    return "\n".join([*lines, "", *_times_to_reach(curves)])


def _times_to_reach(curves: dict[str, dict[str, list[float]]]) -> list[str]:
    """Return when this package has the target, in processor seconds and as multiples of the peers' whole runs."""
    own = curves[ours.NAME]
    there = [seconds for seconds, error in zip(own["seconds"], own["rmse"], strict=True) if error <= TARGET]
    if not there:
        return [f"{ours.NAME} does not reach an RMSE of {TARGET}."]
    last = {name: curve["seconds"][-1] for name, curve in curves.items() if name != ours.NAME}
    multiples = ", ".join(f"{min(there) / seconds:.1f} times a whole run of {name}" for name, seconds in last.items())
    return [f"{ours.NAME} is below an RMSE of {TARGET} after at most {min(there):.1f} s: {multiples}."]
