"""The results of ``samplers.py`` in Markdown: all values, the ratios, and whether they reach their targets."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

Figures: TypeAlias = dict[str, Any]  # the results of one sampler, by name
Row: TypeAlias = dict[str, Any]  # the name of the problem, and the results of each sampler

# The figures that samplers are compared by: ESS per second of the draws, and of the whole run with start and warm-up.
DRAWS, WHOLE = "ess_per_second", "ess_per_second_whole"

# Above this R-hat the ESS of a run is unreliable.
UNSETTLED = 1.1


def details(rows: list[dict[str, Any]]) -> str:
    """Return all results of every sampler in Markdown; a star marks a run that was cut short."""
    lines = [
        "| problem | sampler | ESS per second: 5 %, median, σ or log density | of the whole run: 5 % | "
        "ESS per 1000 gradients: 5 %, median | "
        "ESS per draw | gradients per draw | µs per gradient | R-hat (worst) | divergences | depth limit | "
        "chains × draws |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        for name, f in row.items():
            if name == "problem":
                continue
            speeds = (f[f"ess_per_second{which}"] for which in ("", "_median", "_scalar"))
            lines.append(
                f"| {row['problem']} | {name} | {', '.join(f'{speed:.3g}' for speed in speeds)} | "
                f"{f['ess_per_second_whole']:.3g} | "
                f"{f['ess_per_1000']:.2f}, {f['ess_per_1000_median']:.1f} | {f['ess_per_draw']:.2g} | "
                f"{f['steps']:.0f} | {_microseconds(f)} | {f['rhat']:.3f} ({f['worst']}) | "
                f"{f['divergences']:.0f} | {f['depth_limit']:.1%} | "
                f"{f['chains']} × {f['draws']}{'*' * f['cut_short']} |"
            )
    return "\n".join(lines)


def _microseconds(figures: Figures) -> str:
    plain = f"; plain {figures['plain_microseconds']:.0f}" if "plain_microseconds" in figures else ""
    return f"{figures['microseconds']:.0f}{plain}"


def summary(rows: list[Row]) -> str:
    """Return the table of ratios; a star marks a ratio to a run that was cut short or had not mixed."""
    lines = [
        "| problem | joint, ESS per second: draws, whole run | to gibbs: draws, whole run | to NumPyro: plain, tuned, "
        "whole run of the tuned | ESS per 1000 gradients, joint and "
        "NumPyro | gradients per draw | R-hat | with effects: ESS per second, gradients, R-hat | chains × draws |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        joint, full, numpyro = row["joint"], row["joint with effects"], row["numpyro"]
        lines.append(
            f"| {row['problem']} | {joint['ess_per_second']:.3g}, {joint['ess_per_second_whole']:.3g} | "
            f"{_ratio(row, 'gibbs')}, {_ratio(row, 'gibbs', WHOLE)} | "
            f"{_faster_than_plain(row):.1f}{_star(row, 'numpyro')}, {_ratio(row, 'numpyro')}, "
            f"{_ratio(row, 'numpyro', WHOLE)} | "
            f"{joint['ess_per_1000']:.2f} and {numpyro['ess_per_1000']:.2f} = {_per_gradient(row):.1f} | "
            f"{joint['steps']:.0f} | {joint['rhat']:.3f} | "
            f"{full['ess_per_second']:.3g}, {full['steps']:.0f}, {full['rhat']:.3f} | "
            f"{joint['chains']} × {joint['draws']} |"
        )
    return "\n".join(lines)


def _ratio(row: Row, other: str, figure: str = DRAWS) -> str:
    return f"{_faster(row, other, figure):.1f}{_star(row, other)}"


def _star(row: Row, other: str) -> str:
    return "*" if row[other]["cut_short"] or row[other]["rhat"] > UNSETTLED else ""


def _faster(row: Row, other: str, figure: str = DRAWS) -> float:
    return float(row["joint"][figure] / row[other][figure])


def _with_effects(row: Row) -> float:
    """Return the ESS per gradient with effects in units of that without."""
    return float(row["joint with effects"]["ess_per_1000"] / row["joint"]["ess_per_1000"])


def _faster_than_plain(row: Row) -> float:
    """Return the ratio to the draws of tuned NumPyro at the time per gradient of plain NumPyro."""
    numpyro = row["numpyro"]
    return float(row["joint"]["ess_per_second"] * numpyro["plain_microseconds"] / (1e3 * numpyro["ess_per_1000"]))


def _per_gradient(row: Row) -> float:
    return float(row["joint"]["ess_per_1000"] / row["numpyro"]["ess_per_1000"])


def bars(rows: list[Row]) -> str:
    """Return the targets, and on how many rows each is reached."""
    lines = [
        f"- joint / gibbs, ESS per second, geometric mean: {_mean_ratio(rows, DRAWS):.1f}, at least 12",
        f"- joint / gibbs, the same of the whole run, geometric mean: {_mean_ratio(rows, WHOLE):.1f}, at least 15",
        _bar("joint / gibbs, ESS per second", rows, lambda row: _faster(row, "gibbs"), 3.0),
        _bar("joint / plain NumPyro, ESS per second", rows, _faster_than_plain, 8.0),
        _bar("joint / tuned NumPyro, ESS per second", rows, lambda row: _faster(row, "numpyro"), 8.0),
        _bar(
            "joint / tuned NumPyro, ESS per second of the whole run",
            rows,
            lambda row: _faster(row, "numpyro", WHOLE),
            8.0,
        ),
        _bar("joint / NumPyro, ESS per 1000 gradients", rows, _per_gradient, 2.0),
        _bar("joint, ESS per 1000 gradients with effects / without", rows, _with_effects, 0.8),
    ]
    for name in ("joint", "joint with effects"):
        lines += [
            _bar(f"{name}, gradients per draw", rows, _figure(name, "steps"), 63.0, most=True),
            _bar(f"{name}, R-hat", rows, _figure(name, "rhat"), 1.01, most=True),
            _bar(f"{name}, divergences", rows, _figure(name, "divergences"), 0.0, most=True),
            _bar(f"{name}, share of trees cut short", rows, _figure(name, "depth_limit"), 0.01, most=True),
        ]
    return "\n".join(lines)


def _mean_ratio(rows: list[Row], figure: str) -> float:
    return float(np.exp(np.mean([np.log(_faster(row, "gibbs", figure)) for row in rows])))


def _figure(sampler: str, figure: str) -> Callable[[Row], float]:
    return lambda row: float(row[sampler][figure])


def _bar(name: str, rows: list[Row], value: Callable[[Row], float], bar: float, most: bool = False) -> str:
    sign = -1.0 if most else 1.0
    values = {row["problem"]: value(row) for row in rows}
    reached = sum(sign * each >= sign * bar for each in values.values())
    worst = min(values, key=lambda problem: sign * values[problem])
    wanted = f"at {'most' if most else 'least'} {bar:g}"
    return f"- {name}, {wanted}: on {reached} of {len(rows)} rows; worst {values[worst]:.4g} ({worst})"
