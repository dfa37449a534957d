"""The page as text: its contents, and that it is self-contained."""

import base64
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from manifill import MatrixCompletion, load
from manifill.base.arrays import Array
from manifill.report import report_of_run, write_report
from manifill.run.folder import RunFolder
from manifill.run.observations_file import load_observations
from tests.report.synthetic_runs import synthetic_model, synthetic_run


def page_of(folder: Path, **options: Any) -> str:
    return report_of_run(synthetic_run(folder, **options)).read_text(encoding="utf-8")


def charts(page: str) -> dict[str, Any]:
    """Return the figures of a page by name."""
    found = re.findall(r'<script type="application/json" data-chart="(.*?)">(.*?)</script>', page, re.DOTALL)
    return {name: json.loads(text) for name, text in found}


def shown_values(heat_map: dict[str, Any]) -> Array:
    """Return the values of the tiles of a heat map, decoded from the page."""
    z = heat_map["data"][0]["z"]
    return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(
        [int(size) for size in z["shape"].split(",")]
    )


def visible_text(page: str) -> str:
    """Return the text of a page on one line."""
    without_scripts = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", without_scripts))


class Links(HTMLParser):
    """Collects the addresses that a page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href")]


def test_page_refers_to_nothing_outside(tmp_path: Path) -> None:
    links = Links()
    links.feed(page_of(tmp_path / "run"))
    assert links.found
    assert all(link.startswith("#") for link in links.found)


def test_page_has_every_section_and_chart(tmp_path: Path) -> None:
    page = page_of(tmp_path / "run")
    sections = re.findall(r'<section id="(.*?)">', page)
    assert sections == ["convergence", "accuracy", "rank", "chains", "matrix", "unsure", "predictions", "settings"]
    traces = {f"trace-{k}" for k in range(6)}
    others = {"errors", "calibration", "scatter", "spectrum", "autocorrelation"}
    maps = {"observed", "completed", "uncertainty"}
    assert set(charts(page)) == traces | others | maps
    assert "4 chains of 200 draws" in visible_text(page)


def test_two_reports_on_a_run_are_the_same(tmp_path: Path) -> None:
    folder = synthetic_run(tmp_path / "run")
    assert report_of_run(folder).read_bytes() == report_of_run(folder).read_bytes()


def test_labels_are_text(tmp_path: Path) -> None:
    labels = np.array(["<script>alert(1)</script>", "a & b", *map(str, range(22))], dtype=object), None
    page = page_of(tmp_path / "run", labels=labels)
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "a &amp; b" in charts(page)["completed"]["layout"]["yaxis"]["ticktext"]


def test_names_of_the_table_are_used(tmp_path: Path) -> None:
    layout = {"kind": "long", "row": "user", "col": "film", "value": "stars"}
    text = visible_text(page_of(tmp_path / "run", attributes={"layout": layout, "file": "films.csv"}))
    assert text.startswith(" films.csv · manifill films.csv A 24 × 15 matrix")
    assert "(user × film)" in text
    assert "film stars 90 % interval" in text


def test_without_held_out_cells_the_page_explains_how_to_hold_out_some(tmp_path: Path) -> None:
    page = page_of(tmp_path / "run", held_out=None)
    assert "--hold-out 5%" in page
    assert "calibration" not in charts(page)


def test_disagreeing_chains_are_red(tmp_path: Path) -> None:
    page = page_of(tmp_path / "run", stuck=1.0)
    assert 'class="light red"' in page
    assert "Do not use the predictions yet" in visible_text(page)


def test_an_interrupted_run_is_reported(tmp_path: Path) -> None:
    settings = MatrixCompletion(rank=2, chains=4, draws=500).get_params()
    assert "(interrupted before the requested 4 chains of 500 were complete)" in visible_text(
        page_of(tmp_path / "run", attributes={"settings": settings})
    )


def test_paths_of_the_machine_are_not_in_the_page(tmp_path: Path) -> None:
    assert str(tmp_path) not in page_of(tmp_path / "run", path=str(tmp_path))


def test_a_complete_matrix_has_no_predictions(tmp_path: Path) -> None:
    text = visible_text(page_of(tmp_path / "run", observed=1.0, held_out=None))
    assert "nothing to predict" in text
    assert "Unobserved cells" not in text


def test_columns_with_different_units_are_compared_by_their_spreads(tmp_path: Path) -> None:
    page = page_of(tmp_path / "run", scales=10.0 ** np.arange(-7, 8))
    assert "in units of its spread" in visible_text(page)
    colours = charts(page)["completed"]["data"][0]
    assert colours["zmax"] < 20.0


def test_large_matrices_are_shown_in_tiles(tmp_path: Path) -> None:
    page = page_of(tmp_path / "run", shape=(400, 160), draws=20)
    assert "mean of up to 3 × 2 neighbouring cells" in visible_text(page)
    completed = charts(page)["completed"]
    assert completed["data"][0]["z"]["shape"] == "150, 150"
    assert any("… " in text for text in completed["layout"]["yaxis"]["ticktext"])


@pytest.mark.parametrize("samples", [10**9, 24 * 15 * 400])
@pytest.mark.parametrize("work", [10**9, 24 * 15 * 200])
def test_expensive_predictions_use_a_subset_of_the_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samples: int, work: int
) -> None:
    """Two limits apply: that of all predictions, and that of the report."""
    monkeypatch.setattr("manifill.posterior.predictive.SAMPLES", samples)
    monkeypatch.setattr("manifill.report.report_data.LARGEST_WORK", work)
    used = min(samples, work) // (24 * 15)
    text = visible_text(page_of(tmp_path / "run"))
    if used < 800:
        assert f"are computed from {used} draws, evenly spaced among all draws" in text
    else:
        assert "evenly spaced" not in text


@pytest.mark.parametrize("shape", [(1, 12), (12, 1), (3, 3)])
def test_small_matrices_have_a_report(tmp_path: Path, shape: tuple[int, int]) -> None:
    """Every cell is shown with its prediction, in any order; the number of components is limited by the shape."""
    folder, (m, n) = synthetic_run(tmp_path / "run", shape=shape, rank=1, held_out=None, observed=1.0), shape
    page = report_of_run(folder).read_text(encoding="utf-8")
    assert f"A {m} × {n} matrix (row × column) with {m * n} observed cells (100.0 % of all cells)" in visible_text(page)
    found, model = charts(page), load(folder)
    shown = [shown_values(found[name]) for name in ("observed", "completed", "uncertainty")]
    for values, expected in zip(shown, [model.observations_.triples()[2], *model.complete()], strict=True):
        assert values.shape == shape
        np.testing.assert_allclose(np.sort(values.ravel()), np.sort(expected.ravel()), rtol=1e-5)
    assert found["spectrum"]["data"][0]["x"] == list(range(1, min(m, n, 3) + 1))


@pytest.mark.parametrize("draws", [1, 2, 9])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_short_chains_have_a_report(tmp_path: Path, draws: int) -> None:
    assert 'class="light red"' in page_of(tmp_path / "run", draws=draws, chains=1)


def test_draws_may_be_in_memory(tmp_path: Path) -> None:
    model = synthetic_model(tmp_path / "run")
    write_report(model, tmp_path / "from disk.html")
    arrays = {name: array[:] for name, array in model.posterior_.posterior.items()}
    model.posterior_ = replace(model.posterior_, posterior=arrays)
    write_report(model, tmp_path / "from memory.html")
    assert (tmp_path / "from disk.html").read_bytes() == (tmp_path / "from memory.html").read_bytes()


def test_held_out_cells_of_another_matrix_are_refused(tmp_path: Path) -> None:
    model = synthetic_model(tmp_path / "one")
    other = load_observations(RunFolder(synthetic_run(tmp_path / "two", shape=(5, 5))).data)
    with pytest.raises(ValueError, match=r"held_out has the shape \(5, 5\), the fit \(24, 15\)"):
        write_report(model, tmp_path / "page.html", held_out=other)


def test_a_model_without_a_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has not been fitted"):
        write_report(MatrixCompletion(), tmp_path / "page.html")


def test_a_report_may_be_written_elsewhere(tmp_path: Path) -> None:
    folder = synthetic_run(tmp_path / "run")
    assert report_of_run(folder, tmp_path / "page.html") == tmp_path / "page.html"
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert not (folder / "report.html").exists()


def test_a_report_that_cannot_be_written_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    model = synthetic_model(tmp_path / "run")
    monkeypatch.setattr("manifill.report.html_report.replacing", full)
    with pytest.raises(ValueError, match=r"page\.html cannot be written: No space left on device; choose another file"):
        write_report(model, tmp_path / "page.html")


def test_cells_are_named_by_label_everywhere(tmp_path: Path) -> None:
    labels = np.arange(100, 124), np.array([f"c{j}" for j in range(15)], dtype=object)
    layout = {"row": "user", "col": "film"}
    page = page_of(tmp_path / "run", labels=labels, stuck=1.0, attributes={"layout": layout})
    text = visible_text(page)
    assert re.search(r"X at user 1\d\d, film c\d", text)
    assert "X[" not in text
    legend = [line["name"] for line in charts(page)["autocorrelation"]["data"]]
    assert any(re.fullmatch(r"X at user 1\d\d, film c\d+", name) for name in legend)


@pytest.mark.parametrize("scales", [None, 10.0 ** np.arange(-7, 8)], ids=["one unit", "units"])
def test_the_model_is_compared_with_means(tmp_path: Path, scales: Array | None) -> None:
    page = page_of(tmp_path / "run", scales=scales)
    bars = charts(page)["errors"]["data"][0]
    assert bars["y"] == ["model", "row and column means", "column means"]
    assert bars["x"][0] < bars["x"][1] < bars["x"][2]
    text = visible_text(page)
    assert re.search(r"The RMSE of the model is [\d.]+ % below that of row and column means\.", text)
    assert re.search(r"errors RMSE MAE model [\d.]+ [\d.]+ row and column means [\d.]+ [\d.]+ column means", text)


def test_a_model_that_does_not_beat_means_is_said_not_to(tmp_path: Path) -> None:
    text = visible_text(page_of(tmp_path / "run", stuck=20.0))
    assert "The model does not beat row and column means, whose RMSE is" in text


def test_long_labels_keep_their_ends(tmp_path: Path) -> None:
    labels = np.array([f"{'x' * 80} row {k}" for k in range(24)], dtype=object), None
    text = visible_text(page_of(tmp_path / "run", labels=labels))
    assert re.search(r"x{20,30}…x{10,30} row \d+ ", text)


def text_of_predictions(folder: Path, shape: tuple[int, int], observed: float) -> tuple[str, Array]:
    """Return the section with the predictions as text, and the number of unknown cells in each row of the table."""
    page, unknown = page_of(folder, shape=shape, observed=observed), np.ones(shape, dtype=bool)
    for file in (RunFolder(folder).data, RunFolder(folder).held_out):
        unknown[load_observations(file).triples()[:2]] = False
    return visible_text(page.partition('<section id="predictions">')[2].partition("</section>")[0]), unknown.sum(axis=1)


@pytest.mark.parametrize(("observed", "have", "are"), [(0.7, "have", "are"), (0.3, "has", "is")])
def test_rows_without_gaps_are_counted(tmp_path: Path, observed: float, have: str, are: str) -> None:
    text, gaps = text_of_predictions(tmp_path / "run", (24, 4), observed)
    full = int(np.sum(gaps == 0))
    assert (full == 1) == (have == "has")
    assert f"highest predictions. {full} of 24 {have} no unobserved cell and {are} not listed." in text
    assert "For the rest" not in text


def test_rows_beyond_the_limit_are_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manifill.report.sections.prediction_lists.MAX_ROWS", 3)
    text, gaps = text_of_predictions(tmp_path / "some", (24, 4), 0.7)
    full, others = np.sum(gaps == 0), np.sum(gaps > 0)
    assert (
        f"{full} of 24 have no unobserved cell and are not listed. The list has the 3 of the other {others} with the "
        "most observed cells. For the rest, use manifill top or manifill predict ." in text
    )
    text, gaps = text_of_predictions(tmp_path / "all", (24, 15), 0.5)
    assert gaps.all()
    assert "highest predictions. The list has the 3 of 24 with the most observed cells. For the rest, use" in text


def test_nothing_is_said_if_all_rows_are_listed(tmp_path: Path) -> None:
    text, gaps = text_of_predictions(tmp_path / "run", (24, 15), 0.5)
    assert gaps.all()
    assert "not listed" not in text
    assert "The list has" not in text


def test_a_table_whose_only_gaps_are_held_out_has_no_predictions(tmp_path: Path) -> None:
    text = visible_text(page_of(tmp_path / "run", observed=1.0))
    assert "nothing to predict" in text
    assert "Unobserved cells" not in text
    assert "Grey cells are not observed, or held out." in text
