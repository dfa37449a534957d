"""NUTS in NumPyro written as its manual recommends: a model of ``sample`` statements.

The posterior of U, s, V and γ is that of ``numpyro_polar.py``, which is tuned by hand for speed.  Here no
derivatives are written by hand, U and V are formed, cells are gathered from their rows, and λ and the rate of γ are
sampled, not integrated out.  Only the time per gradient is measured; the draws are assumed to be as good as those of
the tuned chain.
"""

import time

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import NUTS, init_to_value
from numpyro_polar import PolarProblem, Start, Traced

# Steps so short that every tree reaches the depth limit: the cost outside of its 127 gradients is then negligible.
STEP_SIZE, DEPTH = 1e-6, 7
MEASURED_SECONDS = 5.0


def polar_factor(name: str, rows: int, rank: int) -> Traced:
    """Draw Z and return Z (ZᵀZ)^(-½)."""
    Z = numpyro.sample(name, dist.Normal().expand([rows, rank]).to_event(2))
    w, Q = jnp.linalg.eigh(Z.T @ Z)
    return Z @ ((Q / jnp.sqrt(w)) @ Q.T)


def model(problem: PolarProblem) -> None:
    """The polar expansion of X = U diag(s) Vᵀ; λ and the rate of γ are sampled, not integrated out."""
    (m, n), r = problem.shape, problem.rank
    U, V = polar_factor("Z_U", m, r), polar_factor("Z_V", n, r)
    rate = numpyro.sample("rate", dist.Gamma(*problem.rate))
    s = numpyro.sample("s", dist.Exponential(rate).expand([r]).to_event(1))
    x = jnp.sum(U[problem.rows] * s * V[problem.cols], axis=1)
    if problem.likelihood == "binomial":
        numpyro.sample("y", dist.Binomial(problem.trials, logits=x), obs=problem.values)
        return
    shape, tail, scale, floor = problem.noise
    noise_rate = numpyro.sample("noise_rate", dist.Gamma(tail, scale))
    precision = numpyro.sample("precision", dist.Gamma(shape, noise_rate + floor))
    mean = jax.nn.softplus(x) if problem.likelihood == "softplus" else x
    numpyro.sample("y", dist.Normal(mean, precision**-0.5), obs=problem.values)


def microseconds_per_gradient(problem: PolarProblem, start: Start) -> float:
    """Return the time per gradient within trees of NUTS, without compilation."""
    U, s, V, precision = start
    # U times any positive diagonal matrix has the polar factor U; with equal entries ``eigh`` has no derivative.
    uneven = jnp.linspace(0.9, 1.1, len(s))
    values = {"Z_U": len(U) ** 0.5 * U * uneven, "Z_V": len(V) ** 0.5 * V * uneven, "s": s, "rate": len(s) / s.sum()}
    if problem.likelihood != "binomial":
        values |= {"precision": precision, "noise_rate": problem.noise[0] / precision}
    fixed = {"step_size": STEP_SIZE, "adapt_step_size": False, "adapt_mass_matrix": False, "max_tree_depth": DEPTH}
    kernel = NUTS(lambda: model(problem), init_strategy=init_to_value(values=values), **fixed)
    state = kernel.init(jax.random.key(0), 0, init_params=None, model_args=(), model_kwargs={})
    advance = jax.jit(lambda state: kernel.sample(state, (), {})).lower(state).compile()
    state, steps = jax.block_until_ready(advance(state)), 0
    begin = time.process_time()
    while time.process_time() - begin < MEASURED_SECONDS:
        state = advance(state)
        steps += int(state.num_steps)
    return 1e6 * (time.process_time() - begin) / steps
