"""``python -m manifill`` is the command line."""

from manifill.cli import main

main()
