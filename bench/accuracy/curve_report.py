"""The figures of ``error_by_time``, in Markdown."""

import json
from pathlib import Path

ROWS = 8  # of the table, for each method


def curve_report(path: Path) -> str:
    """Return RMSE against processor seconds, some points of each curve and its last one."""
    lines = [
        "### MovieLens, RMSE against processor seconds",
        "",
        f"The picture is {path.with_suffix('.png')}.",
        "",
        "| method | seconds: RMSE |",
        "|---|---|",
    ]
    for name, curve in json.loads(path.read_text()).items():
        points = list(zip(curve["seconds"], curve["rmse"], strict=True))
        every = max(len(points) // ROWS, 1)
        shown = ", ".join(f"{seconds:.1f}: {error:.4f}" for seconds, error in points[::-1][::every][::-1])
        lines.append(f"| {name} | {shown} |")
    return "\n".join(lines)
