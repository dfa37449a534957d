"""``python -m manifill`` runs the command line."""

from manifill.cli import main

main()
