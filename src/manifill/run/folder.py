"""Run directories: the data, draws and checkpoints of a fit in one folder, without pickle."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from manifill.base.atomic_files import locked
from manifill.base.errors import CannotResumeError

__all__ = ["RunFolder"]


class RunFolder:
    """The paths of a run's files."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.data = self.path / "data.npz"  # observed cells, shape and labels
        self.held_out = self.path / "held_out.npz"  # cells held out to evaluate the fit, if any
        self.draws = self.path / "draws.zarr"  # its attributes: settings, resolved model, seed, versions, fingerprint
        self.checkpoints = self.path / "checkpoints"  # chain-0.npz …, one per chain

    def check_free(self, *, resume: bool) -> None:
        """Raise a ValueError if the folder is in use, or if it is to be resumed but does not contain a run."""
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return
        if not resume:
            remedy = "choose another folder, delete it, or resume the run in it"
            raise ValueError(f"{self.path} already exists; {remedy}.")
        if not self.checkpoints.is_dir():
            raise CannotResumeError(f"{self.path} is not a manifill run and cannot be resumed; choose another folder.")

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Create the folder, and prevent other processes from writing to it."""
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        with locked(self.checkpoints / "run.lock", wait=False) as alone:
            if not alone:
                raise ValueError(f"another process is writing to {self.path}; wait for it, or choose another folder.")
            yield

    def iterations(self) -> int:
        """Return the total number of iterations of all chains up to their last checkpoints."""
        from manifill.sampling.checkpoint import next_iteration  # here, since loading a run needs no sampling code

        return sum(next_iteration(path) for path in self.checkpoints.glob("chain-*.npz"))
