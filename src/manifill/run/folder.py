"""Run directories: the data, draws and checkpoints of a fit in one folder, without pickle."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum
from pathlib import Path

from manifill.base.argument_words import Argument, Wording
from manifill.base.atomic_files import locked, reporting_full_disk
from manifill.base.errors import CannotResumeError, DiskFullError
from manifill.run.run_files import MOVING, NEW, READY, foreign_files, is_lock, own_files, quoted

__all__ = ["RunFolder", "Start"]

RESUMING, OVERWRITING = Argument("resume", True), Argument("overwrite", True)


class Start(Enum):
    """What a fit does with its folder."""

    NEW = "new"  # which must be free
    RESUME = "resume"  # the run in it
    OVERWRITE = "overwrite"  # the run in it, if there is one

    @classmethod
    def of(cls, *, resume: bool, overwrite: bool) -> "Start":
        """Return the start that two options ask for."""
        if resume and overwrite:
            parts = RESUMING, " continues the run in ", Argument("path"), ", ", OVERWRITING, " replaces it"
            raise ValueError(Wording(*parts, "; give one of them."))
        return cls.RESUME if resume else cls.OVERWRITE if overwrite else cls.NEW


class RunFolder:
    """The paths of a run's files."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = self.path / "manifest.json"  # sizes and checksums of the files that chains do not write
        self.data = self.path / "data.npz"  # observed cells, shape and labels
        self.held_out = self.path / "held_out.npz"  # cells held out to evaluate the fit, if any
        self.draws = self.path / "draws.zarr"  # its attributes: settings, resolved model, seed, versions, fingerprint
        self.verdict = self.path / "verdict.json"  # whether the chains have converged, once a fit has ended
        self.checkpoints = self.path / "checkpoints"  # chain-0.npz …, one per chain
        self.report = self.path / "report.html"

    def check(self, start: Start) -> None:
        """Raise a ValueError if a fit cannot start in this way, before anything is computed."""
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"{self.path} is a file; choose another name for the folder of the run.")
        if start is Start.RESUME:
            self._check_resumable()
        elif start is Start.OVERWRITE:
            self._check_replaceable()
        elif not self._is_free():
            both = Wording(", resume the run in it (", RESUMING, "), or replace it (", OVERWRITING, ")")
            remedy = both if self.holds_run() else ""
            raise ValueError(Wording(f"{self.path} already exists; choose another folder", remedy, "."))

    def _check_resumable(self) -> None:
        advice = Wording("so it cannot be resumed; leave ", RESUMING, " out to begin a run.")
        if not self.path.exists():
            raise CannotResumeError(Wording(f"{self.path} does not exist, ", advice))
        if not any(self.path.iterdir()):
            raise CannotResumeError(Wording(f"{self.path} is empty, ", advice))
        if self.holds_run():
            return
        if self._is_free():
            raise CannotResumeError(Wording(f"{self.path} holds no run, ", advice))
        raise CannotResumeError(f"{self.path} is not a manifill run and cannot be resumed; choose another folder.")

    def _check_replaceable(self) -> None:
        if self._is_free():
            return
        if not self.holds_run():
            raise ValueError(f"{self.path} is not a manifill run and is not overwritten; choose another folder.")
        foreign = foreign_files(self.path)
        if foreign:
            raise ValueError(
                f"{self.path} is not overwritten, since it also holds files that are not of a run: {quoted(foreign)}; "
                "move them elsewhere, or choose another folder."
            )

    def holds_run(self) -> bool:
        """Return whether there is a run, or a part of one.

        A folder for checkpoints with nothing but locks is none: a fit that was stopped before its run began leaves it.
        """
        if self.manifest.exists() or self.draws.exists():
            return True
        is_begun = any((self.path / name).is_dir() for name in (NEW, READY, MOVING))
        return self.checkpoints.is_dir() and (is_begun or bool(own_files(self.path)))

    def _is_free(self) -> bool:
        """Return whether there is nothing in the folder, except for locks."""
        return all(is_lock(file.relative_to(self.path)) for file in self.path.rglob("*") if not file.is_dir())

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Create the folder, and prevent other processes from writing to it."""
        with ExitStack() as stack:
            try:
                with reporting_full_disk(self.path):
                    self.checkpoints.mkdir(parents=True, exist_ok=True)
                    alone = stack.enter_context(locked(self.checkpoints / "run.lock", wait=False))
            except DiskFullError:
                raise
            except OSError as error:
                raise ValueError(
                    f"{self.path} cannot be written to ({error.strerror or error}); choose another folder."
                ) from None
            if not alone:
                raise ValueError(f"another process is writing to {self.path}; wait for it, or choose another folder.")
            yield

    @contextmanager
    def without_workers(self) -> Iterator[None]:
        """Wait until no worker writes to the run: one whose parent was killed may still finish its last iteration."""
        with ExitStack() as stack:
            for lock in sorted(self.checkpoints.glob("chain-*.lock")):
                stack.enter_context(locked(lock, wait=True))
            yield

    def iterations(self) -> int:
        """Return the total number of iterations of all chains up to their last checkpoints."""
        from manifill.sampling.checkpoint import next_iteration  # here, since loading a run needs no sampling code

        return sum(next_iteration(path) for path in self.checkpoints.glob("chain-*.npz"))
