"""The command line: ``manifill fit``, ``predict``, ``complete``, ``top``, ``report``, ``diagnose``, ``demo``."""

from manifill.cli.app import main

__all__ = ["main"]
