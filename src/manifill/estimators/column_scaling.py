"""Columns in different units: the decision to put them on one scale, which is announced."""

from typing import Any

from manifill.base.argument_words import Argument, Wording, joined
from manifill.base.arrays import Vector
from manifill.base.progress import announce
from manifill.estimators.arguments import check_choice
from manifill.likelihoods import Likelihood
from manifill.problem import Observations
from manifill.problem.column_spreads import are_variables, column_spreads, differ_widely, divided_by, without_outliers

__all__ = ["are_scaled", "scale_columns"]


def scale_columns(
    given: Any, observations: Observations, likelihood: Likelihood, in_units: dict[str, Any], tails: str = "normal"
) -> tuple[Observations, Vector | None]:
    """Return the observations for the model, and the divisors of their columns, (n,), or None if they are unscaled.

    With Student's tails, gross outliers do not count in the spreads.  ``in_units`` holds the arguments in the data's
    units; if one of them is given, columns cannot be scaled.
    """
    check_choice("column_scales", given, ("auto", "standardize", None))
    names = Wording(*joined([Argument(name) for name, value in in_units.items() if value is not None]))
    can_scale = likelihood.is_scale_family
    if given == "standardize" and not can_scale:
        raise ValueError(
            Wording(
                Argument("column_scales", "standardize"),
                " has no meaning for ",
                Argument("likelihood", likelihood.name),
                "; leave it out.",
            )
        )
    if given == "standardize" and names:
        raise ValueError(
            Wording(
                Argument("column_scales", "standardize"),
                " divides the columns by their spreads, so ",
                names,
                " would not be in the data's units; leave one of them out, or scale the data yourself.",
            )
        )
    if given is None or not can_scale:
        return observations, None
    spreads = column_spreads(without_outliers(observations) if tails == "student" else observations)
    if given == "auto" and not differ_widely(observations, spreads):
        return observations, None
    extremes = f"from {spreads.min():.3g} to {spreads.max():.3g}"
    if names:
        announce(Wording(f"columns have spreads {extremes}, but are not scaled, because of ", names))
        return observations, None
    if given == "auto" and not are_variables(observations):
        more = f"columns have spreads {extremes}, but are not scaled, since there are more columns than rows; "
        announce(Wording(more, Argument("column_scales", "standardize"), " scales them"))
        return observations, None
    announce(f"columns are divided by their spreads, {extremes}")
    return divided_by(observations, spreads), spreads


def are_scaled(given: Any, observations: Observations) -> bool:
    """Return whether ``scale_columns`` divides the columns if nothing prevents it, without an announcement."""
    if given == "auto":
        return differ_widely(observations, column_spreads(observations)) and are_variables(observations)
    return given is not None
