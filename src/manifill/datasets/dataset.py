"""What a loader returns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manifill.problem import Observations

__all__ = ["Dataset", "Source"]


@dataclass(frozen=True)
class Source:
    """Whom to cite, what is allowed, and where the data come from."""

    citation: str
    licence: str
    url: str


@dataclass(frozen=True, eq=False)
class Dataset:
    """Observed cells with labels, and what else is known of rows and columns: by label, and then by field."""

    observations: Observations
    source: Source
    about_rows: Mapping[Any, Mapping[str, str]] = field(default_factory=dict, repr=False)
    about_columns: Mapping[Any, Mapping[str, str]] = field(default_factory=dict, repr=False)
