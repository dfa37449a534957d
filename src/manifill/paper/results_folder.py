"""The output folder of a reproduction: tables, results.json, and a page that compares paper and package."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from manifill.base.atomic_files import replacing
from manifill.paper.page_section import Section
from manifill.paper.protocol import Protocol
from manifill.paper.result_provenance import combined_provenance
from manifill.paper.tasks import Result

__all__ = ["write_results_folder"]

TEMPLATES = Path(__file__).parent / "page"


def write_results_folder(
    folder: Path, sections: Sequence[Section], protocol: Protocol, results: Mapping[str, Result], *, missing: int
) -> None:
    """Write everything except the figures, which exist already; ``missing`` tasks have no result yet."""
    about = _about(protocol, results) | {"fits": len(results), "missing": missing}
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for table in (table for section in sections for table in section.tables):
        _write(tables / f"{table.name}.csv", table.to_csv())
        _write(tables / f"{table.name}.md", table.to_markdown())
    contents = {
        "about": about,
        "experiments": {section.name: _section_contents(section) for section in sections},
        "fits": {key: _finite(result.metrics) for key, result in results.items()},
    }
    _write(folder / "results.json", json.dumps(contents, indent=2, ensure_ascii=False) + "\n")
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    count = Counter(verdict.answer for section in sections for verdict in section.verdicts)
    page = environment.get_template("index.html").render(about=about, sections=sections, count=count)
    _write(folder / "index.html", page)


def _about(protocol: Protocol, results: Mapping[str, Result]) -> dict[str, Any]:
    return {
        "protocol": protocol.name,
        "sizes": {name: getattr(protocol, name)._asdict() for name in ("synthetic", "mice", "movielens", "rank")},
        "made": combined_provenance(results.values()),
        "seeds": "repetition k uses seed k for data, split and chains, counted from 0",
    }


def _finite(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return metrics with None in place of NaN and infinity, which JSON does not have."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value for name, value in metrics.items()
    }


def _section_contents(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "verdicts": [verdict._asdict() for verdict in section.verdicts],
        "tables": {table.name: [_finite(record) for record in table.records()] for table in section.tables},
        "pictures": [f"figures/{figure.name}.{kind}" for figure in section.figures for kind in ("png", "svg")],
    }


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
