"""Draws in ArviZ's groups: an ``InferenceData`` for ArviZ 0.x, an xarray ``DataTree`` for 1.x.

Import this module where it is used: ArviZ is optional, and importing it takes seconds.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from manifill.base.arrays import Array, Generator
from manifill.base.wording import counted
from manifill.likelihoods import Likelihood
from manifill.posterior.draws import Draws
from manifill.posterior.pointwise import check_enough, pointwise_log_likelihood, replicated, thinned
from manifill.problem import Observations

try:
    import xarray
    from xarray.backends import BackendArray
    from xarray.core import indexing

    ARVIZ_LINE = int(version("arviz").partition(".")[0])
except ImportError:
    raise ImportError("this needs ArviZ 0.20 or newer; install it with pip install 'manifill[arviz]'.") from None

__all__ = ["assembled", "cell_groups", "draw_groups", "loo"]

Groups = dict[str, xarray.Dataset]

FLAGS = ("diverging", "reached_max_depth")  # statistics that ArviZ expects as booleans

# Number of cells from whose likelihoods the relative efficiency is estimated.
EFFICIENCY_CELLS = 200


def draw_groups(draws: Draws, row_labels: ArrayLike | None = None, column_labels: ArrayLike | None = None) -> Groups:
    """Return posterior, statistics, and the units of the columns if these were scaled or transformed."""
    m, n = draws.shape
    coords = {"row": _labels("row_labels", row_labels, m), "column": _labels("column_labels", column_labels, n)}
    dims = {v.name: ("chain", "draw", *v.dims) for v in draws.variables}
    groups = {"posterior": _numbered({name: (dims[name], _lazily(a)) for name, a in draws.posterior.items()}, coords)}
    for group, statistics in (("sample_stats", draws.statistics), ("warmup_sample_stats", draws.warmup_statistics)):
        if statistics:
            groups[group] = _numbered({name: (("chain", "draw"), _typed(name, a)) for name, a in statistics.items()})
    units = draws.column_units
    if units.scale.ndim:
        constants = {"column_scales": ("column", draws.column_scales)}
        if not units.is_linear:
            constants |= {f"column_{name}": ("column", values) for name, values in units._asdict().items()}
        groups["constant_data"] = xarray.Dataset(constants, {"column": coords["column"]})
    return groups


def cell_groups(
    rng: Generator,
    draws: Draws,
    likelihood: Likelihood,
    observations: Observations,
    *,
    log_likelihood: bool,
    posterior_predictive: bool,
) -> Groups:
    """Return the observed data, with log likelihoods and replicated data, along a dimension ``cell``, row by row."""
    rows, cols, values = observations.triples()
    indices = {"row": (rows, observations.row_labels), "column": (cols, observations.column_labels)}
    coords = {
        name: ("cell", index if labels is None else np.asarray(labels)[index])
        for name, (index, labels) in indices.items()
    }
    groups = {"observed_data": xarray.Dataset({"y": ("cell", values)}, coords)}
    kept = thinned(draws, observations.size)
    coords["draw"] = ("draw", kept)
    if log_likelihood:
        table = pointwise_log_likelihood(draws, likelihood, observations, kept)
        groups["log_likelihood"] = _numbered({"y": (("chain", "draw", "cell"), table)}, coords)
    if posterior_predictive:
        table = replicated(rng, draws, likelihood, observations, kept)
        groups["posterior_predictive"] = _numbered({"y": (("chain", "draw", "cell"), table)}, coords)
    return groups


def assembled(groups: Groups, attributes: Mapping[str, Any]) -> Any:
    """Return the groups in the type that the installed ArviZ expects, with attributes that netCDF can store."""
    flat = {name: _flat(value) for name, value in attributes.items() if name != "column_scales"}
    flat |= {"inference_library": "manifill", "inference_library_version": version("manifill")}
    if ARVIZ_LINE == 0:
        return import_module("arviz").InferenceData(attrs=flat, **groups)
    return xarray.DataTree.from_dict({"/": xarray.Dataset(attrs=flat), **groups})


def loo(draws: Draws, likelihood: Likelihood, observations: Observations) -> Any:
    """Return ArviZ's estimate of the log density of each observed cell given all others, by importance sampling.

    ArviZ needs the relative efficiency of the draws.  By default it is estimated from all variables, including U and V,
    whose signs and order are not identified; here it is estimated from the likelihoods themselves.
    """
    check_enough(draws)
    table = pointwise_log_likelihood(draws, likelihood, observations, thinned(draws, observations.size))
    tree = assembled({"log_likelihood": _numbered({"y": (("chain", "draw", "cell"), table)})}, {})
    return import_module("arviz").loo(tree, pointwise=True, reff=_relative_efficiency(table))


def _relative_efficiency(log_likelihood: Array) -> float:
    """Return the effective sample size per draw of the mean likelihood, averaged over some cells."""
    some = log_likelihood[:, :, :: -(-log_likelihood.shape[2] // EFFICIENCY_CELLS)]
    likelihoods = np.exp(some - some.max(axis=(0, 1)))
    ess = import_module("arviz_stats.base").array_stats.ess(likelihoods, chain_axis=0, draw_axis=1, method="mean")
    known = ess[np.isfinite(ess)]  # undefined for a cell whose likelihood is the same in all draws
    return float(known.mean() / some[..., 0].size) if known.size else 1.0


class _OnDisk(BackendArray):
    """A Zarr array, or a part of one, that xarray reads lazily, slice by slice."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        basic = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, basic, self.array.__getitem__)


def _lazily(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else indexing.LazilyIndexedArray(_OnDisk(array))


def _numbered(variables: Mapping[str, Any], coords: Mapping[str, Any] | None = None) -> xarray.Dataset:
    """Return a dataset; dimensions without ``coords`` are numbered from 0."""
    data = xarray.Dataset(variables, coords)
    return data.assign_coords({dim: np.arange(size) for dim, size in data.sizes.items() if dim not in data.coords})


def _labels(name: str, given: ArrayLike | None, size: int) -> Array:
    labels = np.arange(size) if given is None else np.asarray(given)
    if labels.shape != (size,):
        raise ValueError(
            f"{name} must hold {counted(size, 'label')}, one for each, not an array of shape {labels.shape}."
        )
    return labels


def _typed(name: str, statistic: Array) -> Array:
    return statistic.astype(bool) if name in FLAGS else statistic


def _flat(value: Any) -> Any:
    """Return numbers and strings as they are, and everything else, including 128-bit seeds, as JSON."""
    is_plain = isinstance(value, (str, float)) or (isinstance(value, int) and abs(value) < 2**63)
    return value if is_plain else json.dumps(value)
