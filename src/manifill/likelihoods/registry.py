"""The likelihoods that have a name.  To import this module imports none of them: the command line shows their names."""

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from manifill.likelihoods.likelihood import Likelihood

__all__ = ["LIKELIHOODS", "likelihood_class"]


class Entry(NamedTuple):
    """Where a likelihood is, and what it is for in a few words."""

    module: str
    class_name: str
    values: str


LIKELIHOODS = {
    "gaussian": Entry("gaussian", "Gaussian", "real numbers"),
    "softplus": Entry("softplus", "SoftplusGaussian", "positive numbers"),
    "binomial": Entry("binomial", "Binomial", "counts out of a number of trials, ratings"),
    "poisson": Entry("poisson", "Poisson", "counts"),
}


def likelihood_class(name: str) -> "type[Likelihood]":
    """Return the class of a likelihood in the registry."""
    entry = LIKELIHOODS[name]
    found: type[Likelihood] = getattr(import_module(f"{__package__}.{entry.module}"), entry.class_name)
    return found
