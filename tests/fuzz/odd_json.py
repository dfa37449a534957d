"""JSON documents in which something has been replaced."""

import json
from copy import deepcopy
from random import Random
from typing import Any

__all__ = ["odd_json"]

ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, 3, -1, 7, 0.5, -0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 2**31, 2**62,
    2**63, 10**30, "", "0", "x", "NaN", "gamma", "float32", "int64", "chain", "draw", "row", "../x", "/", "a\nb",
    "\x00", "\ud800", "x" * 500, [], {}, [None], [0], [1, 2], [[]], {"a": 1}, {"": None}, {"name": "x"},
)  # fmt: skip


def odd_json(random: Random, text: bytes) -> Any:
    """Return a document after one or two changes: a value replaced, removed, added, renamed or taken from elsewhere."""
    tree = json.loads(text)
    for _ in range(random.choice((1, 1, 1, 2))):
        places = _places(tree)
        if not places:
            return _odd_value(random)
        parent, key = random.choice(places)
        kind = random.random()
        if kind < 0.6:
            parent[key] = _odd_value(random)
        elif kind < 0.75:
            del parent[key]
        elif kind < 0.85:
            other, name = random.choice(places)
            parent[key] = deepcopy(other[name])  # since a tree must not hold itself
        elif isinstance(parent, dict):
            parent[random.choice(("x", "", "name", "prior", "left_out_chains"))] = _odd_value(random)
        else:
            parent.insert(key, _odd_value(random))
    return tree


def _odd_value(random: Random) -> Any:
    """Return a value, as a copy, since the next change may be one of its own parts."""
    return deepcopy(random.choice(ODD_VALUES))


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Return every object or list in a document with each of its keys."""
    if isinstance(tree, dict):
        items: list[tuple[Any, Any]] = list(tree.items())
    elif isinstance(tree, list):
        items = list(enumerate(tree))
    else:
        return []
    return [(tree, key) for key, _ in items] + [place for _, value in items for place in _places(value)]
