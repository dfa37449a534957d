"""Samplers by name, with the settings that a run stores."""

from typing import Any, NamedTuple

from manifill.problem import Model, Observations

__all__ = ["DEFAULT_WARMUP", "SAMPLERS", "SamplerChoice"]

SAMPLERS = ("joint", "gibbs", "factors")

# Iterations of warm-up if the user does not give any, by sampler: sweeps have no trajectories to tune.
DEFAULT_WARMUP = {"joint": 500, "gibbs": 500, "factors": 200}


class SamplerChoice(NamedTuple):
    """The name of a sampler and its settings."""

    name: str
    target_acceptance: float
    max_depth: int
    warmup: int
    sweeps: int = 1  # of ``factors`` per draw

    def build(self, model: Model, observations: Observations) -> Any:
        """Return the sampler for a model, or raise a ValueError if it does not support the model.

        Samplers are imported here, since predicting from a stored run needs none.
        """
        if self.name == "factors":  # it draws from exact conditionals and has no trajectory to tune
            from manifill.sampling.factor_gibbs import Factors

            return Factors(model, observations, sweeps=self.sweeps)
        if self.name == "gibbs":
            from manifill.sampling.paper_gibbs import Gibbs

            return Gibbs(model, observations, target_acceptance=self.target_acceptance, max_depth=self.max_depth)
        if self.name == "joint":
            from manifill.sampling.joint_sampler import Joint

            return Joint(
                model,
                observations,
                target_acceptance=self.target_acceptance,
                max_depth=self.max_depth,
                warmup=self.warmup,
            )
        raise ValueError(f"sampler {self.name!r} is unknown; choose one of {', '.join(map(repr, SAMPLERS))}.")
