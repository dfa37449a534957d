"""Writes the report: collects the data, makes the sections, fills in the template."""

import base64
import hashlib
import warnings
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from manifill.base.atomic_files import replacing
from manifill.base.errors import DiskFullError
from manifill.estimators.loading import load
from manifill.estimators.matrix_completion import ConvergenceWarning, MatrixCompletion
from manifill.problem import Observations
from manifill.report.report_data import ReportData, collect_report_data
from manifill.report.sections.accuracy import accuracy, scatter_cells
from manifill.report.sections.convergence import convergence
from manifill.report.sections.heat_maps import heat_maps, hover_cells
from manifill.report.sections.least_certain import least_certain, least_certain_cells
from manifill.report.sections.prediction_lists import prediction_lists, top_cells
from manifill.report.sections.run_description import describe_run
from manifill.report.sections.spectrum import spectrum
from manifill.report.sections.traces import traces
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations

__all__ = ["report_of_run", "write_report"]

PAGE = Path(__file__).parent / "page"


def report_of_run(folder: str | Path, path: str | Path | None = None, *, skip_damaged: bool = False) -> Path:
    """Write a report on a run to ``path``, ``report.html`` in its folder by default, and return the path.

    ``skip_damaged`` is that of ``load``.
    """
    run = RunFolder(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the page shows the verdict
        model = load(folder, skip_damaged=skip_damaged)  # first, since it checks all files of the run
    held_out = load_observations(run.held_out) if run.held_out.exists() else None
    path = run.report if path is None else Path(path)
    write_report(model, path, held_out=held_out)
    return path


def write_report(model: MatrixCompletion, path: str | Path, *, held_out: Observations | None = None) -> None:
    """Write a report on a fitted model to ``path``: one self-contained HTML file.

    Parameters
    ----------
    model
        A fitted model, or one loaded from a run directory.
    path
        The file to write; an existing file is replaced.
    held_out
        Cells of the same matrix that were not in the fit, to measure accuracy and coverage.
    """
    if not hasattr(model, "posterior_"):
        raise ValueError("model has not been fitted; call its fit method, or load a run, before writing a report.")
    data = collect_report_data(model, held_out)
    page = _environment().get_template("report.html").render(**_sections(data))
    try:
        with replacing(path) as file:
            file.write(page.encode())
    except DiskFullError:
        raise
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}; choose another file.") from None


def _sections(data: ReportData) -> dict[str, Any]:
    """Return the variables of the template."""
    found = data.model.diagnosed_series()  # the diagnostics only keep summaries of them
    series = found.predictions | found.global_quantities
    in_scatter, in_heat_maps, uncertain, listed = data.predict(
        scatter_cells(data), hover_cells(data), least_certain_cells(data), top_cells(data)
    )
    return {
        "data": data,
        "run": describe_run(data),
        "convergence": convergence(data.model.diagnostics_),
        "accuracy": accuracy(data, in_scatter),
        "spectrum": spectrum(data, series),
        "traces": traces(data, series),
        "heat_maps": heat_maps(data, in_heat_maps),
        "least_certain": least_certain(data, uncertain),
        "prediction_lists": prediction_lists(data, listed),
    }


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(PAGE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    scripts = [get_plotlyjs(), (PAGE / "report.js").read_text(encoding="utf-8")]
    environment.globals |= {
        "style": Markup((PAGE / "report.css").read_text(encoding="utf-8")),
        "scripts": [Markup(script) for script in scripts],
        # The content security policy allows only these scripts and no requests, whatever a label contains.
        "allowed": " ".join(f"'sha256-{_digest(script)}'" for script in scripts),
    }
    return environment


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
