"""From a fitted model to a page: sections are made one by one, and a template sets them."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from manifill.answers import DIAGNOSTICS_KEY
from manifill.estimator import MatrixCompletion
from manifill.files import replacing
from manifill.loading import load
from manifill.posterior import identified_quantities
from manifill.problem import Observations
from manifill.report.accuracy import accuracy, judged_cells
from manifill.report.convergence import convergence
from manifill.report.doubts import doubtful_cells, doubts
from manifill.report.lookup import lookup, promising_cells
from manifill.report.matrix import heat_maps, single_cells
from manifill.report.provenance import provenance
from manifill.report.spectrum import spectrum
from manifill.report.study import Study, study_of
from manifill.report.traces import traces
from manifill.runs import RunFolder, load_observations
from manifill.types import Array

__all__ = ["report_of_run", "write_report"]

PAGE = Path(__file__).parent / "page"


def report_of_run(folder: str | Path) -> Path:
    """Write ``report.html`` into a run directory, and return its path."""
    run = RunFolder(folder)
    held_out = load_observations(run.held_out) if run.held_out.exists() else None
    path = run.path / "report.html"
    write_report(load(folder), path, held_out=held_out)
    return path


def write_report(model: MatrixCompletion, path: str | Path, *, held_out: Observations | None = None) -> None:
    """Write a page about a fitted model to ``path``: one HTML file that needs nothing else.

    Parameters
    ----------
    model
        Fitted, or loaded from a run directory.
    path
        Where to write; a file that is there is replaced.
    held_out
        Cells of the same matrix that the fit has not seen, to judge predictions and intervals by.
    """
    if not hasattr(model, "posterior_"):
        raise ValueError("model has not been fitted; call its fit, or load a run, before a report on it is written.")
    study = study_of(model, held_out)
    page = _environment().get_template("report.html").render(**_sections(study))
    with replacing(path) as file:
        file.write(page.encode())


def _sections(study: Study) -> dict[str, Any]:
    series = _diagnosed(study)
    judged, every, doubtful, promising = study.ask(
        judged_cells(study), single_cells(study), doubtful_cells(study), promising_cells(study)
    )
    return {
        "study": study,
        "provenance": provenance(study),
        "convergence": convergence(study.model.diagnostics_),
        "accuracy": accuracy(study, judged),
        "spectrum": spectrum(study, series),
        "traces": traces(study, series),
        "maps": heat_maps(study, every),
        "doubts": doubts(study, doubtful),
        "lookup": lookup(study, promising),
    }


def _diagnosed(study: Study) -> dict[str, Array]:
    """Return the series behind the diagnostics, which keep their summaries alone."""
    seed = np.random.SeedSequence(study.draws.attributes["seed"], spawn_key=(DIAGNOSTICS_KEY,))
    return identified_quantities(np.random.default_rng(seed), study.draws)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    scripts = [get_plotlyjs(), (PAGE / "report.js").read_text(encoding="utf-8")]
    environment.globals |= {
        "style": Markup((PAGE / "report.css").read_text(encoding="utf-8")),
        "scripts": [Markup(script) for script in scripts],
        # Nothing but these scripts may run, and nothing may be fetched, whatever a label holds.
        "allowed": " ".join(f"'sha256-{_digest(script)}'" for script in scripts),
    }
    return environment


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
