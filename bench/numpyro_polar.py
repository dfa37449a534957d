"""NUTS in NumPyro on the polar expansion, tuned by hand, for ``bench/samplers.py`` to compare with.

If Z is Gaussian, U = Z (ZᵀZ)^(-½) is uniform on the Stiefel manifold.  So X = U diag(s) Vᵀ = Z_U M Z_Vᵀ with the r×r
matrix M = (Z_UᵀZ_U)^(-½) diag(s) (Z_VᵀZ_V)^(-½), and neither U nor V needs to be formed.  A position is one flat vector
(Z_U, Z_V, log s, log γ), the last only if there is noise.  Import this module before anything else starts JAX.
"""

import os
import time
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from manifill.base.arrays import IntVector, Matrix, Vector

os.environ["NPROC"] = "1"  # the size of XLA's thread pool; with XLA_FLAGS alone there was one thread per core
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")  # products stay on the calling thread

import jax
import jax.numpy as jnp
from numpyro.infer import NUTS

jax.config.update("jax_enable_x64", True)

Traced: TypeAlias = Any  # a JAX array
Entries: TypeAlias = Callable[[Traced, Traced], Traced]
Start: TypeAlias = tuple[Matrix, Vector, Matrix, float]  # U (m, r), s (r,), V (n, r), γ
Cells: TypeAlias = tuple[IntVector, IntVector]

DENSE = 1 / 8  # share of observed cells above which the whole product is faster than gathered rows; equal at 0.1–0.2
PILOT, LEAST_WARMUP, LEAST_DRAWS = 10, 30, 20  # iterations


class PolarProblem(NamedTuple):
    """Data and model.  Cells are distinct; a pair of numbers is the shape and rate of a Gamma prior."""

    rows: IntVector  # (N,)
    cols: IntVector  # (N,)
    values: Vector  # (N,), encoded
    shape: tuple[int, int]
    rank: int
    likelihood: Literal["gaussian", "softplus", "binomial"]
    rate: tuple[float, float]  # prior of λ of the singular values, which is integrated out
    noise: tuple[float, float, float, float]  # prior of γ = 1/σ²: the numbers of a ScaledF
    trials: int = 1


class PolarRun(NamedTuple):
    """The draws of a chain and their cost."""

    x: Matrix  # (draws, cells)
    sigma: Vector  # (draws,), 1 if there is no noise
    log_density: Vector  # (draws,), log p(y, U, s, V, γ) up to a constant, without the Jacobians of Z and log
    steps: IntVector  # (draws,), leapfrog steps
    diverging: NDArray[np.bool_]  # (draws,)
    warmup_seconds: float  # processor time
    draw_seconds: float
    cut_short: bool  # the time limit allowed less warm-up or fewer draws than requested


class Coordinates(NamedTuple):
    """The components of a position."""

    Z_U: Traced  # (m, r)
    Z_V: Traced  # (n, r)
    z: Traced  # (r,), log s
    log_precision: Traced  # (), 0 if there is no noise


def inverse_root_forward(G: Traced) -> tuple[Traced, tuple[Traced, Traced]]:
    """Return G^(-½) of a positive definite (r, r) matrix, and the values that its derivative needs."""
    w, Q = jnp.linalg.eigh(G, symmetrize_input=False)
    p = jnp.sqrt(w)
    return (Q / p) @ Q.T, (Q, p)


def inverse_root_backward(saved: tuple[Traced, Traced], gradient: Traced) -> tuple[Traced]:
    """Return the gradient in G by divided differences of w^(-½), finite at equal eigenvalues unlike that of eigh."""
    Q, p = saved
    return (-Q @ ((Q.T @ gradient @ Q) / (p[:, None] * p * (p[:, None] + p))) @ Q.T,)


inverse_root = jax.custom_vjp(lambda G: inverse_root_forward(G)[0])
inverse_root.defvjp(inverse_root_forward, inverse_root_backward)


def split_position(problem: PolarProblem, position: Traced) -> Coordinates:
    (m, n), r = problem.shape, problem.rank
    Z_U, Z_V, z, rest = jnp.split(position, np.cumsum([m * r, n * r, r]))
    return Coordinates(Z_U.reshape(m, r), Z_V.reshape(n, r), z, rest[0] if rest.size else jnp.zeros(()))


def factors(coordinates: Coordinates) -> tuple[Traced, Traced]:
    """Return A (m, r) and B (n, r) with X = A Bᵀ: M joins the shorter of Z_U and Z_V."""
    Z_U, Z_V = coordinates.Z_U, coordinates.Z_V
    M = (inverse_root(Z_U.T @ Z_U) * jnp.exp(coordinates.z)) @ inverse_root(Z_V.T @ Z_V)
    return (Z_U @ M, Z_V) if len(Z_U) <= len(Z_V) else (Z_U, Z_V @ M.T)


def entries_of_product(rows: IntVector, cols: IntVector) -> Entries:
    """Return (A, B) ↦ A Bᵀ at the cells (N,), by the whole product."""
    return lambda A, B: (A @ B.T).at[rows, cols].get(mode="promise_in_bounds", unique_indices=True)


def entries_by_rows(rows: IntVector, cols: IntVector) -> Entries:
    """Return the same by gathered rows; the gradient of a factor is summed over the cells in the order of its rows."""

    def take(array: Traced, index: IntVector) -> Traced:
        return array.at[index].get(mode="promise_in_bounds")

    def forward(A: Traced, B: Traced) -> tuple[Traced, tuple[Traced, Traced]]:  # column by column: XLA fuses this best
        return sum(take(A[:, k], rows) * take(B[:, k], cols) for k in range(A.shape[1])), (A, B)

    def collect(gradient: Traced, own: IntVector, other: IntVector, factor: Traced, size: int) -> Traced:
        order = np.argsort(own, kind="stable")
        terms = take(gradient, order)[:, None] * take(factor, other[order])
        return jax.ops.segment_sum(terms, own[order], size, indices_are_sorted=True, mode="promise_in_bounds")

    def backward(saved: tuple[Traced, Traced], gradient: Traced) -> tuple[Traced, Traced]:
        A, B = saved
        return collect(gradient, rows, cols, B, len(A)), collect(gradient, cols, rows, A, len(B))

    entries = jax.custom_vjp(lambda A, B: forward(A, B)[0])
    entries.defvjp(forward, backward)
    return cast(Entries, entries)


def log_volume(coordinates: Coordinates) -> Traced:
    """Return the terms that the coordinates add to the log density: the Gaussian of Z, Jacobians of log s and log γ."""
    return (
        -0.5 * (jnp.sum(coordinates.Z_U**2) + jnp.sum(coordinates.Z_V**2))
        + jnp.sum(coordinates.z)
        + coordinates.log_precision
    )


def potential_of(problem: PolarProblem) -> Callable[[Traced], Traced]:
    """Return the potential energy as a function of the position: −log p(y, U, s, V, γ) − log volume."""
    order = np.lexsort((problem.cols, problem.rows))
    rows, cols, y = problem.rows[order].astype(np.int32), problem.cols[order].astype(np.int32), problem.values[order]
    dense = len(y) >= DENSE * problem.shape[0] * problem.shape[1]
    entries = entries_of_product(rows, cols) if dense else entries_by_rows(rows, cols)

    def log_prior(s: Traced) -> Traced:
        return -(problem.rate[0] + problem.rank) * jnp.log(problem.rate[1] + jnp.sum(s))

    def log_likelihood(x: Traced, log_precision: Traced) -> Traced:  # and the prior of γ
        if problem.likelihood == "binomial":
            return jnp.sum(y * x - problem.trials * jax.nn.softplus(x))
        half_square = 0.5 * jnp.sum((y - (jax.nn.softplus(x) if problem.likelihood == "softplus" else x)) ** 2)
        (shape, tail, scale, floor), precision = problem.noise, jnp.exp(log_precision)
        total = (shape - 1.0 + 0.5 * len(y)) * log_precision - precision * (floor + half_square)
        return total - (shape + tail) * jnp.log(precision + scale)

    def potential(position: Traced) -> Traced:
        coordinates = split_position(problem, position)
        x = entries(*factors(coordinates))
        return (
            -log_prior(jnp.exp(coordinates.z)) - log_likelihood(x, coordinates.log_precision) - log_volume(coordinates)
        )

    return potential


def gradient_of(potential: Callable[[Traced], Traced]) -> Callable[[Traced], Traced]:
    """Return the gradient that NUTS follows."""
    return cast(Callable[[Traced], Traced], jax.grad(potential))


def position_at(problem: PolarProblem, start: Start) -> Traced:
    U, s, V, precision = start
    pieces = [np.sqrt(len(U)) * U.ravel(), np.sqrt(len(V)) * V.ravel(), np.log(s)]
    return jnp.asarray(np.concatenate(pieces if problem.likelihood == "binomial" else [*pieces, [np.log(precision)]]))


class Chain:
    """A NumPyro chain, one iteration per call; each returns the first five fields of PolarRun, and is timed."""

    def __init__(self, problem: PolarProblem, cells: Cells) -> None:
        self.problem, self.cells, self.potential = problem, cells, potential_of(problem)
        self.seconds: list[float] = []

    def begin(self, position: Traced, warmup: int, seed: int, **tuning: Any) -> None:
        """Start at a position, and compile; ``tuning`` are initial step size and inverse mass matrix of NUTS."""
        kernel = NUTS(potential_fn=self.potential, target_accept_prob=0.8, max_tree_depth=10, **tuning)

        def step(state: Any) -> tuple[Any, tuple[Traced, ...]]:
            state = kernel.sample(state, (), {})
            coordinates = split_position(self.problem, state.z)
            A, B = factors(coordinates)
            x, sigma = jnp.sum(A[self.cells[0]] * B[self.cells[1]], axis=1), jnp.exp(-0.5 * coordinates.log_precision)
            return state, (
                x,
                sigma,
                -state.potential_energy - log_volume(coordinates),
                state.num_steps,
                state.diverging,
            )

        self.state = jax.jit(lambda key, z: kernel.init(key, warmup, init_params=z))(jax.random.key(seed), position)
        self.step = jax.jit(step).lower(self.state).compile()

    def advance(self) -> Any:
        """Run the next iteration and return its record."""
        started = time.process_time()
        self.state, record = self.step(self.state)
        kept = jax.device_get(record)
        self.seconds.append(time.process_time() - started)
        return kept


def warm_up(chain: Chain, position: Traced, warmup: int, seed: int, seconds: float) -> None:
    """Run the warm-up within half of ``seconds``.

    If it is about to need more, it starts again from the present position, with the present step size and mass matrix
    and NumPyro's schedule for as many iterations as still fit, but at least LEAST_WARMUP.
    """
    chain.begin(position, warmup, seed)
    left, since = warmup, 0
    while left:
        chain.advance()
        left, since = left - 1, since + 1
        spent, pace = sum(chain.seconds), float(np.mean(chain.seconds[-PILOT:]))
        if since >= PILOT and left > LEAST_WARMUP and spent + left * pace > 0.6 * seconds:
            left, since = max(LEAST_WARMUP, int((0.5 * seconds - spent) / pace)), 0
            adapted = chain.state.adapt_state
            tuning = {"step_size": adapted.step_size, "inverse_mass_matrix": adapted.inverse_mass_matrix}
            chain.begin(chain.state.z, left, seed + len(chain.seconds), **tuning)


def sample_polar(
    problem: PolarProblem, start: Start, cells: Cells, warmup: int, draws: int, seed: int, seconds: float = np.inf
) -> PolarRun:
    """Run one chain and store X at ``cells``; it stops after ``seconds`` (without compilation) and LEAST_DRAWS."""
    chain = Chain(problem, cells)
    warm_up(chain, position_at(problem, start), warmup, seed, seconds)
    done = len(chain.seconds)
    records: list[tuple[Any, ...]] = []
    while len(records) < draws and (len(records) < LEAST_DRAWS or sum(chain.seconds) < seconds):
        records.append(chain.advance())
    x, sigma, log_density, steps, diverging = (np.array(column) for column in zip(*records, strict=True))
    cut_short = done < warmup or len(records) < draws
    times = sum(chain.seconds[:done]), sum(chain.seconds[done:])
    return PolarRun(x, sigma, log_density, steps, diverging, *times, cut_short)
