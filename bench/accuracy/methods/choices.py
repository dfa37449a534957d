"""Manifill with other choices than its defaults, to see what each is worth: short chains that are not extended."""

from functools import partial
from typing import Any

from accuracy.methods import ours
from accuracy.methods.method import Method

# Enough for the third digit of the scores; all choices have the same.
LENGTH = {"chains": 2, "draws": 250}

CHOICES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "noise shared": {"noise": "shared"},
    "noise by row": {"noise": "row"},
    "noise by column": {"noise": "column"},
    "no transform": {"column_transform": None},
    "no transform, noise shared": {"column_transform": None, "noise": "shared"},
    "no transform, Student's t": {"column_transform": None, "tails": "student"},
}

METHODS = {
    name: Method(
        partial(ours.completion, settings=LENGTH | choice),
        "manifill",
        scalable=False,
        single_thread=False,
        prepare=ours.compile_kernels,
    )
    for name, choice in CHOICES.items()
}
