"""The command line: ``manifill fit``, ``predict``, ``complete``, ``top``, ``report``, ``diagnose``, ``demo``.

One module per command; ``app`` puts them together.  The modules import at their top only what ``--help`` needs; a
command imports the rest when it runs, so that help and errors in the arguments appear at once.
"""

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name and exit with its code.

    The imports are inside, so that Ctrl-C while they run is handled as well: one line, and exit code 130.
    """
    try:
        from manifill.cli.app import run

        code = run()
    except KeyboardInterrupt as interrupt:
        print(f"manifill: {str(interrupt) or 'interrupted'}", file=sys.stderr, flush=True)
        # Not sys.exit: if the interrupt came inside exec(), which dataclasses call when they are imported, Python would
        # end with the signal instead of the code; and a second Ctrl-C must not print a traceback.
        os._exit(130)
    sys.exit(code)
