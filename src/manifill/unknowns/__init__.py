"""What is sampled: U, s, V, effects and the likelihood's coordinates, as one structure with one layout."""

from manifill.unknowns.effects import Effects, EffectsPrior
from manifill.unknowns.layout import Layout, Views, view
from manifill.unknowns.point import Components, Unknowns, components_of_product

__all__ = ["Components", "Effects", "EffectsPrior", "Layout", "Unknowns", "Views", "components_of_product", "view"]
