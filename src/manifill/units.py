"""Columns in different units: whether to put them on one scale, said in the log."""

import logging
from typing import Any

from manifill.problem import Gaussian, Likelihood, Observations, SoftplusGaussian
from manifill.problem.scaling import column_spreads, differ_widely, divided_by
from manifill.settings import check_choice
from manifill.types import Vector

__all__ = ["scale_columns"]

logger = logging.getLogger("manifill")


def scale_columns(
    given: Any, observations: Observations, likelihood: Likelihood, in_units: dict[str, Any]
) -> tuple[Observations, Vector | None]:
    """Return the observations that a model is to see, and what their columns were divided by, (n,), or None.

    ``in_units`` are arguments in the data's units; where one of them is given, columns must stay as they are.
    """
    check_choice("column_scales", given, ("auto", "standardize", None))
    names = ", ".join(name for name, value in in_units.items() if value is not None)
    can_scale = isinstance(likelihood, (Gaussian, SoftplusGaussian))  # which have a noise that scales with the data
    if given == "standardize" and not can_scale:
        raise ValueError(
            f"column_scales='standardize' has no meaning for likelihood={likelihood.name!r}; leave it out."
        )
    if given == "standardize" and names:
        raise ValueError(
            f"column_scales='standardize' divides the columns by their spreads, so {names} would not be in the data's "
            "units; leave one of them out, or scale the data yourself."
        )
    if given is None or not can_scale:
        return observations, None
    spreads = column_spreads(observations)
    if given == "auto" and not differ_widely(observations, spreads):
        return observations, None
    extremes = spreads.min(), spreads.max()
    if names:
        logger.warning("columns have spreads from %.3g to %.3g, but stay as they are: %s is given", *extremes, names)
        return observations, None
    logger.info("columns are divided by their spreads, from %.3g to %.3g", *extremes)
    return divided_by(observations, spreads), spreads
