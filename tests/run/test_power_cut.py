"""A power cut: files that were not written to disk are empty afterwards, and a run is resumed to the same draws.

The test keeps account of what was synced.  At some renames it copies the folder as the disk would hold it: a file with
unsynced contents is empty there.
"""

import os
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import manifill
from manifill.posterior import zarr_store
from manifill.run.folder import RunFolder
from manifill.run.run_files import is_lock
from manifill.run.verification import verify_run
from manifill.sampling import chain
from tests.run.runs import fit

pytestmark = pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")


class Disk:
    """Knows which files of a folder were synced, and copies the folder as it would be after a power cut."""

    def __init__(self, path: Path, images: Path, patch: pytest.MonkeyPatch) -> None:
        self.path, self.images = path, images
        there = (file.stat() for file in path.rglob("*"))
        self.synced = {status.st_ino: status.st_mtime_ns for status in there}
        self.renames = 0
        self.moments: set[int] = set()
        for module, name in ((os, "replace"), (os, "rename")):
            patch.setattr(module, name, self._counting(getattr(module, name)))
        original = os.fsync

        def fsync(descriptor: int) -> None:
            original(descriptor)
            status = os.fstat(descriptor)
            self.synced[status.st_ino] = status.st_mtime_ns

        patch.setattr(os, "fsync", fsync)

    def _counting(self, original: Any) -> Any:
        def rename(source: Any, target: Any, **options: Any) -> None:
            original(source, target, **options)
            if self.path in Path(target).parents:
                self.renames += 1
                if self.renames in self.moments:
                    self._copy(self.images / str(self.renames))

        return rename

    def _copy(self, image: Path) -> None:
        shutil.copytree(self.path, image)
        for file in self.path.rglob("*"):
            if file.is_file() and not is_lock(file.relative_to(self.path)):
                status = file.stat()
                if self.synced.get(status.st_ino) != status.st_mtime_ns:
                    (image / file.relative_to(self.path)).write_bytes(b"")


def test_a_run_is_resumed_to_the_same_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zarr_store, "CHUNK_BYTES", 3 * 14 * 2 * 4)
    monkeypatch.setattr(chain, "SECONDS_BETWEEN_CHECKPOINTS", 0.02)
    settings: dict[str, Any] = {"warmup": 5, "draws": 20}
    with monkeypatch.context() as patch:
        disk = Disk(tmp_path / "whole", tmp_path, patch)
        fit(tmp_path / "whole", **settings)
    whole = manifill.load(tmp_path / "whole").posterior_.A[:]
    moments = set(random.Random(1).sample(range(disk.renames), 8)) | {1, 40}
    with monkeypatch.context() as patch:
        disk = Disk(tmp_path / "run", tmp_path / "images", patch)
        disk.moments = moments
        fit(tmp_path / "run", **settings)
    images = sorted((tmp_path / "images").iterdir())
    assert len(images) >= 8
    for image in images:
        if RunFolder(image).manifest.exists():
            assert verify_run(image).damage == ()
        np.testing.assert_array_equal(fit(image, resume=True, **settings).posterior_.A[:], whole)
        assert verify_run(image).damage == ()


def test_an_extension_that_is_cut_off_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zarr_store, "CHUNK_BYTES", 3 * 14 * 2 * 4)
    settings: dict[str, Any] = {"warmup": 5, "draws": 8}
    fit(tmp_path / "whole", warmup=5, draws=12)
    fit(tmp_path / "run", **settings)
    before = manifill.load(tmp_path / "run").posterior_.A[:]
    with monkeypatch.context() as patch:
        disk = Disk(tmp_path / "run", tmp_path / "images", patch)
        disk.moments = {*range(1, 30, 4)}
        fit(tmp_path / "run", resume=True, warmup=5, draws=12)
    images = sorted((tmp_path / "images").iterdir())
    assert len(images) == 8
    for image in images:
        np.testing.assert_array_equal(manifill.load(image).posterior_.A[:, :8], before)
        shorter = shutil.copytree(image, image.with_suffix(".shorter"))
        assert fit(shorter, resume=True, **settings).posterior_.draws in (8, 12)
        assert verify_run(shorter).damage == ()
        fit(image, resume=True, warmup=5, draws=12)
        whole = manifill.load(tmp_path / "whole").posterior_.A[:]
        np.testing.assert_array_equal(manifill.load(image).posterior_.A[:], whole)
        assert verify_run(image).damage == ()
