"""The same chain as ``polar.py`` the way a user would first write it: NumPyro's model language and its own driver.

It is run for the time of a step only; the posterior, and so the effective sample size of a step, is that of
``polar.py``.
"""

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
from polar import PolarProblem, Start, Traced, inverse_root

__all__ = ["seconds_per_step"]

WARMUP, SHORT, LONG = 20, 20, 120  # iterations


def model(problem: PolarProblem) -> None:
    """X = U diag(s) Vᵀ with U = Z (ZᵀZ)^(-½); the scaled F prior of γ as a Gamma with a Gamma rate."""
    (m, n), r = problem.shape, problem.rank
    U = _polar(numpyro.sample("Z_U", dist.Normal(0.0, 1.0).expand([m, r]).to_event(2)))
    V = _polar(numpyro.sample("Z_V", dist.Normal(0.0, 1.0).expand([n, r]).to_event(2)))
    assert isinstance(problem.rate, tuple)
    rate = numpyro.sample("lambda", dist.Gamma(*problem.rate))
    s = numpyro.sample("s", dist.Exponential(rate).expand([r]).to_event(1))
    x = jnp.sum((U * s)[problem.rows] * V[problem.cols], axis=1)
    if problem.likelihood == "binomial":
        numpyro.sample("y", dist.Binomial(problem.trials, logits=x), obs=problem.values)
        return
    mean = jax.nn.softplus(x) if problem.likelihood == "softplus" else x
    rate_of_noise = numpyro.sample("noise_rate", dist.Gamma(problem.noise[1], problem.noise[2]))
    precision = numpyro.sample("precision", dist.Gamma(problem.noise[0], rate_of_noise))
    numpyro.sample("y", dist.Normal(mean, precision**-0.5), obs=problem.values)


def _polar(Z: Traced) -> Traced:
    return Z @ inverse_root(Z.T @ Z)


def seconds_per_step(problem: PolarProblem, start: Start) -> float:
    """Return the seconds of a leapfrog step, started where the others start.

    Two runs are compared, a short and a long one, since each of them also compiles.
    """
    U, s, V, precision = start
    begin: dict[str, Any] = {
        "Z_U": np.sqrt(len(U)) * U,
        "Z_V": np.sqrt(len(V)) * V,
        "s": s,
        "lambda": len(s) / s.sum(),
    }
    if problem.likelihood != "binomial":
        begin |= {"precision": precision, "noise_rate": problem.noise[0] / precision}
    (short, few), (long, many) = (_run(problem, begin, draws) for draws in (SHORT, LONG))
    return (long - short) / (many - few)


def _run(problem: PolarProblem, begin: dict[str, Any], draws: int) -> tuple[float, float]:
    """Return the seconds after warm-up, and the leapfrog steps."""
    kernel = NUTS(model, init_strategy=numpyro.infer.init_to_value(values=begin), max_tree_depth=6)
    chain = MCMC(kernel, num_warmup=WARMUP, num_samples=draws, progress_bar=False)
    chain.warmup(jax.random.key(0), problem, extra_fields=("num_steps",))
    started = time.perf_counter()
    chain.run(jax.random.key(1), problem, extra_fields=("num_steps",))
    steps = float(np.sum(chain.get_extra_fields()["num_steps"]))  # waits for the end
    return time.perf_counter() - started, steps
