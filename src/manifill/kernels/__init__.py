"""Compiled loops whose cost grows with the number of cells or rows; values are kept apart from scratch.

A kernel writes only the rows it is given, or returns a sum: an r×r matrix, a vector or a number.  Splitting a chain
over threads or processes will change this package only.
"""
