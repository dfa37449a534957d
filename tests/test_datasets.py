"""Loaders, with tiny files and a local web server; with the real data if MANIFILL_DATA names their folder."""

import hashlib
import io
import os
import struct
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from manifill.datasets import Dataset, load_mice_protein, load_movielens, mice_protein, movielens
from tests.problem.cells import labels_of

real = pytest.mark.skipif(not os.environ.get("MANIFILL_DATA"), reason="MANIFILL_DATA names no folder with real data")

RATINGS = "userId,movieId,rating,timestamp\n7,50,4.0,1\n7,3,0.5,2\n2,50,5.0,3\n"
MOVIES = 'movieId,title,genres\n3,"Misérables, Les (1995)",Drama|War\n50,Up (2009),Comedy\n60,Unseen (1999),Drama\n'
MICE: list[list[str | float]] = [
    ["MouseID", "B_N", "A_N", "Genotype", "Treatment", "Behavior", "class"],
    ["309_1", 0.5, "", "Control", "Memantine", "C/S", "c-CS-m"],
    ["18_2", 1.25, -0.062, "Ts65Dn", "Saline", "S/C", "t-SC-s"],
]


Serve: TypeAlias = Callable[[bytes], list[str]]


def zipped(**files: str | bytes) -> bytes:
    """Return a zip archive; keywords name files, with two underscores for a dot."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"folder/{name.replace('__', '.')}", content)
    return packed.getvalue()


def excel(table: list[list[str | float]]) -> bytes:
    """Return a sheet in the oldest Excel format: records of an opcode, a length and a cell of text or number."""
    records = [struct.pack("<HHHH", 0x0009, 4, 2, 0x0010)]
    for row, cells in enumerate(table):
        for col, cell in enumerate(cells):
            position = struct.pack("<HH3x", row, col)
            if isinstance(cell, float):
                records.append(struct.pack("<HH", 0x0003, 15) + position + struct.pack("<d", cell))
            elif cell:
                text = cell.encode()
                records.append(struct.pack("<HH", 0x0004, 8 + len(text)) + position + bytes([len(text)]) + text)
    return b"".join([*records, struct.pack("<HH", 0x000A, 0)])


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MANIFILL_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)
    return tmp_path / "manifill"


@pytest.fixture
def serve(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Return a function that makes both loaders download this content, and returns the list of requested paths."""
    requested: list[str] = []
    content: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(200 if self.path in content else 404)
            self.end_headers()
            self.wfile.write(content.get(self.path, b""))

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def start(archive: bytes) -> list[str]:
        content["/data.zip"] = archive
        for module in (movielens, mice_protein):
            monkeypatch.setattr(module, "URL", f"http://127.0.0.1:{server.server_port}/data.zip")
        return requested

    yield start
    server.shutdown()
    thread.join()
    server.server_close()


def expect_checksums(monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    hashes = {name.replace("__", "."): hashlib.sha256(content.encode()).hexdigest() for name, content in files.items()}
    monkeypatch.setattr(movielens, "SHA256", hashes)


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def check_movielens(data: Dataset) -> None:
    assert data.observations.shape == (2, 2)
    assert [labels.tolist() for labels in labels_of(data.observations)] == [[2, 7], [3, 50]]
    rows, cols, values = data.observations.triples()
    assert list(zip(rows, cols, values, strict=True)) == [(0, 1, 5.0), (1, 0, 0.5), (1, 1, 4.0)]
    assert data.observations.row_indices([7]).tolist() == [1]
    assert data.about_columns[3] == {"title": "Misérables, Les (1995)", "genres": "Drama|War"}
    assert data.about_columns[60]["title"] == "Unseen (1999)"
    assert "MovieLens" in data.source.citation


def check_mice(data: Dataset) -> None:
    assert [labels.tolist() for labels in labels_of(data.observations)] == [["309_1", "18_2"], ["B_N", "A_N"]]
    rows, cols, values = data.observations.triples()
    assert list(zip(rows, cols, values, strict=True)) == [(0, 0, 0.5), (1, 0, 1.25), (1, 1, -0.062)]
    assert data.observations.column_indices(["A_N"]).tolist() == [1]
    assert data.about_rows["18_2"] == {
        "Genotype": "Ts65Dn",
        "Treatment": "Saline",
        "Behavior": "S/C",
        "class": "t-SC-s",
    }
    assert data.source.licence == "CC BY 4.0"


def test_movielens_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANIFILL_DATA", str(tmp_path))
    folder = tmp_path / "ml-latest-small"
    folder.mkdir()
    (folder / "ratings.csv").write_text(RATINGS)
    with pytest.raises(ValueError, match=r"ml-latest-small has no movies.csv; put it there, or unset MANIFILL_DATA"):
        load_movielens()
    (folder / "movies.csv").write_text(MOVIES, encoding="utf-8")
    check_movielens(load_movielens())
    (folder / "ratings.csv").write_text("user,item,rating\n")
    with pytest.raises(ValueError, match=r"ratings\.csv has no column 'userId'"):
        load_movielens()


@pytest.mark.parametrize("suffix", ["csv", "xls"])
def test_mice_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setenv("MANIFILL_DATA", str(tmp_path))
    folder = tmp_path / "mice-protein"
    with pytest.raises(ValueError, match=r"has no Data_Cortex_Nuclear\.csv or Data_Cortex_Nuclear\.xls"):
        load_mice_protein()
    folder.mkdir()
    text = "\n".join(",".join(str(cell) for cell in row) for row in MICE)
    content = text.encode() if suffix == "csv" else excel(MICE)
    (folder / f"Data_Cortex_Nuclear.{suffix}").write_bytes(content)
    check_mice(load_mice_protein())


def test_movielens_is_downloaded_once(serve: Serve, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requested = serve(zipped(ratings__csv=RATINGS, movies__csv=MOVIES, README__txt="Read me."))
    expect_checksums(monkeypatch, ratings__csv=RATINGS, movies__csv=MOVIES)
    for _ in range(2):
        check_movielens(load_movielens())
    assert requested == ["/data.zip"]
    assert sorted(path.relative_to(cache).as_posix() for path in files_in(cache)) == [
        "ml-latest-small/movies.csv",
        "ml-latest-small/ratings.csv",
    ]


def test_mice_are_downloaded_once(serve: Serve, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requested = serve(zipped(Data_Cortex_Nuclear__xls=excel(MICE)))
    for name, value in (("ROWS", 2), ("COLUMNS", 7), ("MISSING", 1)):
        monkeypatch.setattr(mice_protein, name, value)
    for _ in range(2):
        check_mice(load_mice_protein())
    assert requested == ["/data.zip"]
    assert [path.name for path in files_in(cache)] == ["Data_Cortex_Nuclear.xls"]


def test_changed_files_are_rejected_and_not_cached(serve: Serve, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(zipped(ratings__csv=RATINGS + "9,50,1.0,4\n", movies__csv=MOVIES))
    expect_checksums(monkeypatch, ratings__csv=RATINGS, movies__csv=MOVIES)
    with pytest.raises(ValueError, match=r"ratings\.csv in http.*SHA-256.*MANIFILL_DATA"):
        load_movielens()
    serve(zipped(Data_Cortex_Nuclear__xls=excel(MICE)))
    with pytest.raises(ValueError, match="has 2 rows, 7 columns and 1 empty cells instead of 1080, 82 and 1396"):
        load_mice_protein()
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("archive", [b"<html>Please log in.</html>", zipped(readme__txt="Moved.")], ids=["page", "zip"])
def test_other_content_is_rejected_and_not_cached(serve: Serve, cache: Path, archive: bytes) -> None:
    serve(archive)
    with pytest.raises(ValueError, match=r"did not send a zip archive with movies\.csv and ratings\.csv"):
        load_movielens()
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize(
    ("load", "needed"),
    [
        (load_movielens, "ml-latest-small/movies.csv and ml-latest-small/ratings.csv"),
        (load_mice_protein, "mice-protein/Data_Cortex_Nuclear.xls"),
    ],
)
def test_without_a_network_the_error_explains_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch, load: Callable[[], Dataset], needed: str
) -> None:
    for module in (movielens, mice_protein):
        monkeypatch.setattr(
            module, "URL", "http://127.0.0.1:9/data.zip"
        )  # the discard port, on which no server listens
    with pytest.raises(ValueError, match=f"could not be downloaded.*MANIFILL_DATA.*{needed}") as caught:
        load()
    assert "\n" not in str(caught.value)
    assert str(caught.value).count(". ") == 0
    assert list(cache.iterdir()) == []


def test_an_http_error_is_reported(serve: Serve, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(b"")
    monkeypatch.setattr(movielens, "URL", movielens.URL + ".old")
    with pytest.raises(ValueError, match=r"could not be downloaded \(HTTPError\)"):
        load_movielens()


def test_excel_without_xlrd(serve: Serve, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(zipped(Data_Cortex_Nuclear__xls=excel(MICE)))
    monkeypatch.setitem(sys.modules, "xlrd", None)
    with pytest.raises(ImportError, match=r"xlrd is needed.*manifill\[datasets\]"):
        load_mice_protein()
    assert list(cache.iterdir()) == []


@real
def test_real_movielens() -> None:
    data = load_movielens()
    assert data.observations.shape == (610, 9724)
    assert data.observations.size == 100_836
    assert data.observations.by_row.values.mean() == pytest.approx(3.501557, abs=1e-6)
    assert all((np.diff(labels) > 0).all() for labels in labels_of(data.observations))
    assert data.about_columns[318]["title"] == "Shawshank Redemption, The (1994)"
    assert len(data.about_columns) == 9742


@real
def test_real_mice() -> None:
    data = load_mice_protein()
    assert data.observations.shape == (1080, 77)
    assert data.observations.size == 1080 * 77 - 1396
    rows, columns = labels_of(data.observations)
    assert columns[[0, -1]].tolist() == ["DYRK1A_N", "CaNA_N"]
    assert rows[0] == "309_1"
    assert len({known["class"] for known in data.about_rows.values()}) == 8
