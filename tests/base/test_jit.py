"""The disk cache of compiled code."""

import pickle
from pathlib import Path
from typing import Any

import numba
import pytest

from manifill.base.jit import _PackageCache
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
