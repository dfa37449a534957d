"""Errors that callers distinguish from other ValueErrors."""

__all__ = ["CannotResumeError"]


class CannotResumeError(ValueError):
    """The run in a folder cannot be resumed."""
