"""The folder of a reproduction: tables, results.json, and a page that shows paper and product side by side."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from manifill.files import replacing
from manifill.paper.protocol import Protocol
from manifill.paper.provenance import origins
from manifill.paper.results import Result
from manifill.paper.section import Section

__all__ = ["write_page"]

PAGE = Path(__file__).parent / "page"


def write_page(
    folder: Path, sections: Sequence[Section], protocol: Protocol, results: Mapping[str, Result], *, missing: int
) -> None:
    """Write everything but the pictures, which are there already; ``missing`` tasks have no result yet."""
    about = _about(protocol, results) | {"fits": len(results), "missing": missing}
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for table in (table for section in sections for table in section.tables):
        _write(tables / f"{table.name}.csv", table.to_csv())
        _write(tables / f"{table.name}.md", table.to_markdown())
    facts = {
        "about": about,
        "experiments": {section.name: _facts(section) for section in sections},
        "fits": {key: _finite(result.figures) for key, result in results.items()},
    }
    _write(folder / "results.json", json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    count = Counter(verdict.answer for section in sections for verdict in section.verdicts)
    page = environment.get_template("index.html").render(about=about, sections=sections, count=count)
    _write(folder / "index.html", page)


def _about(protocol: Protocol, results: Mapping[str, Result]) -> dict[str, Any]:
    return {
        "protocol": protocol.name,
        "sizes": {name: getattr(protocol, name)._asdict() for name in ("synthetic", "mice", "movielens", "rank")},
        "made": origins(results.values()),
        "seeds": "repetition k draws data, split and chains from seed k, counted from 0",
    }


def _finite(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return figures as JSON knows them, which has no NaN."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value for name, value in figures.items()
    }


def _facts(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "verdicts": [verdict._asdict() for verdict in section.verdicts],
        "tables": {table.name: [_finite(record) for record in table.records()] for table in section.tables},
        "pictures": [f"figures/{picture.name}.{kind}" for picture in section.pictures for kind in ("png", "svg")],
    }


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
