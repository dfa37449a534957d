"""Accuracy on real tables, compared with other packages: ``make bench-accuracy``."""
