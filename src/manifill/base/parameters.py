"""scikit-learn's conventions for parameters, without the import: ``get_params``, ``set_params``, a short ``repr``."""

import inspect
from typing import Any, Self

__all__ = ["HasParameters"]


class HasParameters:
    """A class whose ``__init__`` stores every argument under its own name and does nothing else."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls.__init__)
        return {name: given.default for name, given in signature.parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters and return the object."""
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}.")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = self._defaults()
        changed = {k: v for k, v in self.get_params().items() if not (v is defaults[k] or v == defaults[k])}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"
