"""The tables of results, in Markdown."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from accuracy.comparison import paired_z
from accuracy.coverage import LEVELS
from accuracy.methods import ours
from accuracy.runner import Record
from accuracy.tables import TABLES

HEADER = (
    "method",
    "columns",
    "splits",
    "RMSE",
    "MAE",
    "log score",
    "CRPS",
    f"covered at {', '.join(f'{100 * level:.0f}' for level in LEVELS)} %",
    "columns that miss",
    "processor seconds",
    "peak MB",
    "verdict",
)

# Scores that are compared with the best peer, and whether low (1) or high (−1) values are good.
SCORES = {"rmse": ("RMSE", 1.0), "log_score": ("log score", -1.0), "crps": ("CRPS", 1.0)}


def report(records: Sequence[Record]) -> str:
    """Return a section for each table."""
    return "\n\n".join(section for name in TABLES if (section := _section(name, records)))


def _section(name: str, records: Sequence[Record]) -> str:
    groups: dict[tuple[str, bool], list[Record]] = defaultdict(list)
    for record in records:
        if record["table"] == name:
            groups[record["method"], record["standardised"]].append(record)
    if not groups:
        return ""
    chosen = _better_scaling(groups)
    unit = "in standard deviations of the columns" if TABLES[name].column_units else "in the units of the data"
    lines = [f"### {name}", "", f"Errors and densities are {unit}.", "", _line(HEADER), "|---" * len(HEADER) + "|"]
    lines += [_row(method, *chosen[method]) for method in sorted(chosen, key=lambda method: _rmse(chosen[method][1]))]
    return "\n".join([*lines, "", *_comparison({method: found for method, (_, found) in chosen.items()})])


def _better_scaling(groups: Mapping[tuple[str, bool], list[Record]]) -> dict[str, tuple[str, list[Record]]]:
    """Return for each method the better of raw and standardised columns by the error on test cells."""
    chosen: dict[str, tuple[str, list[Record]]] = {}
    for (method, standardised), found in groups.items():
        if method not in chosen or _rmse(found) < _rmse(chosen[method][1]):
            chosen[method] = "standardised" if standardised else "raw", found
    return chosen


def _rmse(records: Sequence[Record]) -> float:
    return _mean(records, "rmse", np.inf)


def _mean(records: Sequence[Record], name: str, otherwise: float = np.nan) -> float:
    values = [record[name] for record in records if record.get(name) is not None]
    return float(np.mean(values)) if values else otherwise


def _row(method: str, scaling: str, records: Sequence[Record]) -> str:
    done = [record for record in records if "failure" not in record]
    failures = sorted({record["failure"] for record in records if "failure" in record})
    if not done:
        return _line([method, scaling, f"**0 of {len(records)}: {'; '.join(failures)}**", *[""] * (len(HEADER) - 3)])
    splits = str(len(done)) + (f" (**{'; '.join(failures)}**)" if failures else "")
    figures = [_number(_mean(done, name)) for name in ("rmse", "mae", "log_score", "crps")]
    costs = [f"{_mean(done, 'processor_seconds'):.1f}", f"{max(record['megabytes'] for record in done):.0f}"]
    return _line([method, scaling, splits, *figures, *_coverage(done), *costs, _verdicts(done)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    if np.isnan(value):
        return ""
    return (f"{value:.4f}" if abs(value) >= 0.01 else f"{value:.2g}").replace("-", "−")


def _coverage(done: Sequence[Record]) -> tuple[str, str]:
    """Return the pooled coverage, and how many columns of how many miss beyond chance, over all splits."""
    scored = [record for record in done if "coverage" in record]
    if not scored:
        return "", ""
    pooled = np.mean([record["coverage"] for record in scored], axis=0)
    failed, columns = (sum(record[name] for record in scored) for name in ("failed_columns", "columns"))
    return ", ".join(f"{100 * share:.1f}" for share in pooled), f"{failed} of {columns}"


def _verdicts(done: Sequence[Record]) -> str:
    """Return the beginnings of the verdicts, which say whether chains converged, with their numbers."""
    starts = [record["verdict"].split(":")[0] for record in done if "verdict" in record]
    return ", ".join(f"{starts.count(start)} × {start}" for start in sorted(set(starts)))


def _comparison(found: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    """Yield how the scores of this package compare with those of the best peer, paired over splits.

    Log score and CRPS are compared with those of continuous models: a model of classes knows that ratings are such.
    """
    if ours.NAME not in found:
        return
    for score, (label, sign) in SCORES.items():
        by_split = {name: _by_split(records, score) for name, records in found.items()}
        own = by_split.pop(ours.NAME)
        peers = {name: values for name, values in by_split.items() if own.keys() & values.keys()}
        if not peers:
            continue
        best = min(peers, key=lambda name: sign * float(np.mean(list(peers[name].values()))))
        both = sorted(own.keys() & peers[best].keys())
        first, second = ([values[split] for split in both] for values in (own, peers[best]))
        means = " and ".join(_number(float(np.mean(values))) for values in (first, second))
        z = f"{paired_z(first, second):.1f}".replace("-", "−")
        yield f"- {label} of {ours.NAME} and of the best peer, {best}: {means}, z = {z}"


def _by_split(records: Sequence[Record], score: str) -> dict[int, float]:
    """Return the values of a score, without those that do not compare."""
    return {
        record["split"]: record[score]
        for record in records
        if record.get(score) is not None and (score == "rmse" or not record.get("classes"))
    }
