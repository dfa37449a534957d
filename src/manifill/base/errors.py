"""Errors that callers distinguish from other ValueErrors and OSErrors."""

__all__ = ["CannotResumeError", "ChainsKilledError"]


class CannotResumeError(ValueError):
    """The run in a folder cannot be resumed."""


class ChainsKilledError(ChildProcessError):
    """Processes of chains were killed, and again after they had been started again."""

    def __init__(self, killed: str, remedy: str) -> None:
        super().__init__(f"{killed}; {remedy}.")
        self.killed = killed  # which chains, and why: "chain 2 was killed, perhaps for lack of memory"
