"""The disk cache of compiled code."""

import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest

import manifill
from manifill.base.kernel_cache import _PackageCache, _private_folder, _readable_index
from manifill.kernels.cell_passes import log_likelihood

SIGNATURE = tuple(numba.typeof(value) for value in (1.0, 2.0))


class NoLonger:
    """Something that an older version had compiled for."""

    def __reduce__(self) -> tuple[Any, ...]:
        return __import__, ("manifill.no_longer",)


@pytest.mark.parametrize("version", ["", numba.__version__])
def test_what_another_version_left_is_not_read(tmp_path: Path, version: str) -> None:
    """After an upgrade, an old index may name modules that have gone."""
    dispatcher: Any = log_likelihood
    cache = _PackageCache(dispatcher.py_func)
    index = tmp_path / "index.nbi"
    index.write_bytes(pickle.dumps(version) + pickle.dumps(("stamp", {NoLonger(): "data"})))
    cache._cache_file._index_path = str(index)
    assert cache.load_overload(SIGNATURE, numba.core.registry.cpu_target.target_context) is None


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a copy of the package whose folders, and the user's cache folder, take no cache.

    A file stands where the cache would be, which stops the superuser as well.
    """
    package = tmp_path / "src" / "manifill"
    shutil.copytree(Path(manifill.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *(path for path in package.rglob("*") if path.is_dir())):
        (folder / "__pycache__").touch()
    (tmp_path / "tmp").mkdir()
    changes = {"PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": os.devnull, "TMPDIR": str(tmp_path / "tmp")}
    return {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | changes


def use_a_kernel(environment: dict[str, str]) -> str:
    command = [sys.executable, "-c", USE_A_KERNEL]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=True).stdout


# A function that is compiled in a moment, and how often it was compiled and loaded.
USE_A_KERNEL = """
import numpy as np
from manifill.base.kernel_cache import cache_note
from manifill.posterior.cell_draws import product_at_cells
print(cache_note())
index = np.zeros(1, dtype=np.int64)
product_at_cells(np.ones((1, 1)), np.ones((1, 1)), index, index, np.empty(1))
stats = product_at_cells.stats
print(f"compiled {sum(stats.cache_misses.values())}, loaded {sum(stats.cache_hits.values())}")
"""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners of folders")
def test_without_a_writable_folder_a_private_one_is_used_and_named(tmp_path: Path, environment: dict[str, str]) -> None:
    first, second = use_a_kernel(environment), use_a_kernel(environment)
    folder = tmp_path / "tmp" / f"manifill-kernels-{os.getuid()}"
    said = f"the kernels are cached in {folder}, since neither the folder of the package nor the user's cache folder"
    assert first.startswith(said)
    assert "compiled 1, loaded 0" in first
    assert "compiled 0, loaded 1" in second
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners of folders")
@pytest.mark.parametrize("kind", ["private", "open to others", "of somebody else", "a link"])
def test_a_folder_that_others_may_have_filled_is_not_used(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = tmp_path / f"manifill-kernels-{os.getuid()}"
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    if kind == "a link":
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir(mode=0o770 if kind == "open to others" else 0o700)
    if kind == "of somebody else":
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        folder.rename(tmp_path / "manifill-kernels-12345")
    assert _private_folder.__wrapped__() == (folder if kind == "private" else None)


@pytest.mark.parametrize("error", [ModuleNotFoundError, AttributeError])
def test_an_index_with_types_that_cannot_be_imported_counts_as_empty(error: type[Exception]) -> None:
    def load() -> dict[Any, str]:
        raise error("No module named 'script'")

    assert _readable_index(load) == {}
    assert _readable_index(lambda: {"key": "file"}) == {"key": "file"}
