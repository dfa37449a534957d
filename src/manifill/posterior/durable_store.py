"""A Zarr store on disk whose files survive a power cut.

Import this module where it is used: importing Zarr takes a while.
"""

import asyncio
from pathlib import Path
from typing import Any

from zarr.abc.buffer import Buffer
from zarr.storage import LocalStore

from manifill.base.atomic_files import replacing

__all__ = ["DurableStore"]


class DurableStore(LocalStore):
    """Waits until a file is on disk before it replaces the one before; Zarr itself does not wait."""

    async def set(self, key: str, value: Buffer) -> None:
        await asyncio.to_thread(_write, self.root / key, value.as_buffer_like())


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)
