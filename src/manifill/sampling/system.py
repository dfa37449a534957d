"""What a trajectory needs: a manifold, a log density on it, and a U-turn rule.

Integrators and samplers call these through the addresses of compiled functions, so that their own code is compiled
without that of the manifold or of the density: each is compiled once, separately.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import types

from manifill.base.arrays import Generator, Vector
from manifill.base.jit import address_of, caller, compiled, compiled_method, compiled_type_key, type_key
from manifill.geometry import Manifold

__all__ = ["System", "Target"]


class Target(Protocol):
    """A named tuple of data with one compiled method: the log density to sample from, and its Euclidean gradient."""

    def log_density_gradient(self, position: Vector, gradient: Vector) -> float:
        """Write the gradient of the log density at ``position`` and return the log density, up to a constant."""


compiled_method("log_density_gradient")

_call, _call_float, _call_bool = caller(types.void), caller(types.float64), caller(types.boolean)


class Addresses(NamedTuple):
    """Addresses of the compiled functions of a manifold and a target whose types are identified by ``key``."""

    key: int
    log_density_gradient: int
    restore: int
    random_velocity: int
    project: int
    accelerate: int
    move: int
    kinetic_energy: int
    has_turned: int


_known: dict[tuple[int, Any], Addresses] = {}


def _compiled_addresses(key: int, manifold: Any, target: Any, rule: Any) -> Addresses:
    """Compile all functions for values of these types."""
    m, v, rng = type(manifold), np.empty(0), np.random.default_rng(0)
    return Addresses(
        key=key,
        log_density_gradient=address_of(type(target).log_density_gradient, target, v, v),
        restore=address_of(m.restore, manifold, v),
        random_velocity=address_of(m.random_velocity, manifold, rng, v, v),
        project=address_of(m.project, manifold, v, v),
        accelerate=address_of(m.accelerate, manifold, v),
        move=address_of(m.move, manifold, v, v, 1.0),
        kinetic_energy=address_of(m.kinetic_energy, manifold, v),
        has_turned=address_of(rule, manifold, v, v, v, v),
    )


class System(NamedTuple):
    """A manifold and a target of any class."""

    manifold: Any
    target: Any
    addresses: Addresses

    @classmethod
    def of(cls, manifold: Manifold, target: Target, has_turned: Any = None) -> "System":
        """Return the system; ``has_turned`` is a compiled function that replaces the manifold's U-turn rule."""
        rule = type(manifold).has_turned if has_turned is None else has_turned
        key = type_key(manifold, target)
        if (key, rule) not in _known:
            _known[key, rule] = _compiled_addresses(key, manifold, target, rule)
        return cls(manifold, target, _known[key, rule])

    @classmethod
    def without_addresses(cls, manifold: Manifold, target: Target) -> "System":
        """Return a system of the right type for compiling functions; it cannot be evaluated."""
        return cls(manifold, target, Addresses(*[0] * len(Addresses._fields)))

    @compiled
    def check(self) -> None:
        """Raise a TypeError if the functions were compiled for other types than those of manifold and target."""
        if self.addresses.key != compiled_type_key(self.manifold, self.target):
            raise TypeError("the functions of a System were compiled for other types")

    @compiled
    def evaluate(self, position: Vector, gradient: Vector) -> float:
        """Return the log density at ``position`` and write its gradient in the manifold's metric."""
        log_density = _call_float(self.addresses.log_density_gradient, self.target, position, gradient)
        _call(self.addresses.accelerate, self.manifold, gradient)
        return float(log_density)

    @compiled
    def restore(self, position: Vector) -> None:
        _call(self.addresses.restore, self.manifold, position)

    @compiled
    def random_velocity(self, rng: Generator, position: Vector, velocity: Vector) -> None:
        _call(self.addresses.random_velocity, self.manifold, rng, position, velocity)

    @compiled
    def project(self, position: Vector, vector: Vector) -> None:
        _call(self.addresses.project, self.manifold, position, vector)

    @compiled
    def move(self, position: Vector, velocity: Vector, time: float) -> bool:
        return bool(_call_bool(self.addresses.move, self.manifold, position, velocity, time))

    @compiled
    def kinetic_energy(self, velocity: Vector) -> float:
        return float(_call_float(self.addresses.kinetic_energy, self.manifold, velocity))

    @compiled
    def has_turned(self, first: Vector, first_velocity: Vector, last: Vector, last_velocity: Vector) -> bool:
        turned = _call_bool(self.addresses.has_turned, self.manifold, first, first_velocity, last, last_velocity)
        return bool(turned)


for _name in ("check", "evaluate"):
    compiled_method(_name)
