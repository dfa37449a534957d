"""The result of a loader: observations, metadata and source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from manifill.problem import Observations

__all__ = ["Dataset", "Source"]


@dataclass(frozen=True)
class Source:
    """Citation, licence and address of a dataset."""

    citation: str
    licence: str
    url: str


@dataclass(frozen=True, eq=False)
class Dataset:
    """Observed cells with labels, and metadata of rows and columns: a mapping of fields per label."""

    observations: Observations
    source: Source
    about_rows: Mapping[Any, Mapping[str, str]] = field(default_factory=dict, repr=False)
    about_columns: Mapping[Any, Mapping[str, str]] = field(default_factory=dict, repr=False)
