"""Fuzzing: inputs made at random, of which only documented errors may come.

``python -m tests.fuzz --target readers --cases 200000 --seed 1`` runs many cases, ``make test`` a few of each target.
"""
