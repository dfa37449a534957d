"""All methods by name, cheap ones first, and which run on which table."""

from collections.abc import Iterator
from typing import NamedTuple

from accuracy.methods import choices, cmfrec_als, gcimpute_copula, myfm_gibbs, ours, sklearn_imputers, smurff_gibbs
from accuracy.tables import SPLITS, TABLES

METHODS = (
    ours.METHODS
    | cmfrec_als.METHODS
    | myfm_gibbs.METHODS
    | smurff_gibbs.METHODS
    | gcimpute_copula.METHODS
    | sklearn_imputers.METHODS
)

# Everything that a fit can be asked for by name.
ALL = METHODS | choices.METHODS


class Task(NamedTuple):
    """One fit."""

    table: str
    method: str
    standardised: bool
    split: int


def tasks(tables: list[str], methods: list[str], splits: int = SPLITS) -> Iterator[Task]:
    """Yield the fits, one split of all methods and tables after the other, so that a part is a fair comparison."""
    for split in range(splits):
        for name in methods:
            for table in tables:
                for standardised in (False, True):
                    if _makes_sense(table, name, standardised):
                        yield Task(table, name, standardised, split)


def quick_tasks(tables: list[str], methods: list[str]) -> list[Task]:
    """Return one split, of similar methods one, and of two scalings one."""
    found = list(tasks(tables, [name for name in methods if ALL[name].quick], splits=1))
    return [task for task in found if task.standardised or task._replace(standardised=True) not in found]


def _makes_sense(table: str, name: str, standardised: bool) -> bool:
    """Return whether to run a method; columns of stars have one unit, and are not standardised."""
    method, stars = ALL[name], TABLES[table].stars
    if method.stars_only and not stars:
        return False
    if standardised and (stars or not method.scalable):
        return False
    return TABLES[table].peers or name == ours.NAME
