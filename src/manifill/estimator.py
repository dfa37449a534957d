"""The way in for most people: fit, predict, complete."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike

from manifill.answers import Answers
from manifill.fitting import sample_in_memory, sample_to_disk
from manifill.posterior import Draws
from manifill.problem import Duplicates, Likelihood, Model, Observations, as_observations
from manifill.provenance import provenance
from manifill.runs import RunFolder
from manifill.sampling.chains import Plan
from manifill.settings import build_model, check_count, choose_likelihood, choose_sampler
from manifill.types import Vector
from manifill.units import scale_columns

__all__ = ["ConvergenceWarning", "MatrixCompletion"]


class ConvergenceWarning(UserWarning):
    """The chains have not been shown to agree."""


class Task(NamedTuple):
    """What is to be sampled."""

    model: Model
    scales: Vector | None  # that the columns are divided by
    build: Callable[[], Any]  # makes the sampler


class MatrixCompletion(Answers):
    """Low-rank Bayesian matrix completion: X = U diag(s) Vᵀ, sampled on Stiefel manifolds.

    Parameters
    ----------
    rank
        Number of components, at most min(m, n).
    likelihood
        ``"gaussian"``, ``"softplus"`` (positive data) or ``"binomial"`` (counts out of ``trials``, ratings), or a
        likelihood object such as :func:`manifill.custom_likelihood` makes.
    sampler
        ``"joint"``, which moves everything at once; ``"gibbs"``, the paper's sampler; or ``"factors"``, the Gibbs
        sampler of the A Bᵀ baseline (which has no effects).
    chains, warmup, draws
        Number of chains, and of iterations of each to learn from and to keep.
    seed
        Of everything random; the same seed gives the same draws, whatever ``jobs`` is.
    effects
        ``"additive"`` for a mean and row and column effects beside the low-rank part, so that a row with few cells
        falls back to the mean; None for the paper's model without them.
    column_scales
        ``"auto"`` to divide the columns by their spreads where these differ widely, ``"standardize"`` to do so in any
        case, None to leave them.  Predictions are in the data's units; U, s, V, effects and sigma are not.
    noise
        ``"shared"`` for one noise in all cells, ``"column"`` for one in each column, which learn from each other.
    sigma
        The noise's standard deviation where it is known; learned otherwise.
    noise_prior
        (α, β) of a Gamma prior of 1/σ², or ``"paper"`` for (1e-4, 1e-4); weak and on the data's scale by default.
    lambda_
        Rate of the exponential prior of the singular values where it is known; learned otherwise.
    lambda_prior
        (shape, rate) of the Gamma prior of λ; weak and on the data's scale by default.
    trials, step
        For the Binomial: values are 0, step, …, trials · step.
    duplicates
        What to do with a cell given twice: ``"error"`` or ``"average"``.
    target_acceptance, max_depth
        The mean acceptance that warm-up aims at (raise it when draws diverge), and the number of doublings after which
        a tree of NUTS ends; ``joint`` learns the lengths of its trajectories from trees in warm-up.
    path
        Folder for the draws, written while they are made; they stay in memory by default.
    jobs
        Chains to run at a time, each in a process of its own; all processors by default.
    progress
        Whether to show how far the chains are.

    Attributes
    ----------
    posterior_ : Draws
        ``.U``, ``.s``, ``.V``, ``.sigma`` and so on, (chain, draw, …), with sampler statistics and settings.
    diagnostics_ : Diagnostics
        Whether the chains have converged, and why; ``.verdict`` says it in a sentence.
    observations_ : Observations
        What was fitted.
    model_ : Model
        The model that was sampled, its priors resolved; where columns were scaled, in scaled units.

    Examples
    --------
    >>> import numpy as np
    >>> from manifill import MatrixCompletion
    >>> rng = np.random.default_rng(0)
    >>> table = np.outer(rng.normal(size=30), rng.normal(size=20)) + 0.1 * rng.normal(size=(30, 20))
    >>> table[rng.random(table.shape) < 0.5] = np.nan
    >>> model = MatrixCompletion(rank=1, chains=2, warmup=200, draws=200, seed=0, jobs=1, progress=False)
    >>> mean, sd = model.fit(table).complete()
    >>> mean.shape
    (30, 20)
    """

    def __init__(
        self,
        rank: int = 10,
        likelihood: str | Likelihood = "gaussian",
        sampler: str = "joint",
        chains: int = 4,
        warmup: int = 500,
        draws: int = 1000,
        seed: int | None = None,
        effects: str | None = "additive",
        column_scales: str | None = "auto",
        noise: str = "shared",
        sigma: float | None = None,
        noise_prior: tuple[float, float] | str | None = None,
        lambda_: float | None = None,
        lambda_prior: tuple[float, float] | None = None,
        trials: int | None = None,
        step: float = 1.0,
        duplicates: Duplicates = "error",
        target_acceptance: float = 0.8,
        max_depth: int = 10,
        path: str | Path | None = None,
        jobs: int | None = None,
        progress: bool = True,
    ) -> None:
        self.rank = rank
        self.likelihood = likelihood
        self.sampler = sampler
        self.chains = chains
        self.warmup = warmup
        self.draws = draws
        self.seed = seed
        self.effects = effects
        self.column_scales = column_scales
        self.noise = noise
        self.sigma = sigma
        self.noise_prior = noise_prior
        self.lambda_ = lambda_
        self.lambda_prior = lambda_prior
        self.trials = trials
        self.step = step
        self.duplicates = duplicates
        self.target_acceptance = target_acceptance
        self.max_depth = max_depth
        self.path = path
        self.jobs = jobs
        self.progress = progress

    def fit(
        self,
        rows: Any,
        cols: ArrayLike | None = None,
        values: ArrayLike | None = None,
        *,
        shape: tuple[int, int] | None = None,
        resume: bool = False,
        about: Mapping[str, Any] | None = None,
    ) -> Self:
        """Sample the posterior given the observed cells.

        Parameters
        ----------
        rows, cols, values
            One entry a cell; or, as ``rows`` alone, a 2-D array with NaN for missing, a ``scipy.sparse`` matrix, or a
            long DataFrame with columns for row, column and value.
        shape
            (m, n) of the matrix, with triples; the smallest that holds all cells by default.
        resume
            Whether to go on with the run in ``path`` where it was stopped, or to add draws to it; the same data and
            settings lead to the same draws as a run that was never stopped.
        about
            What else to keep with the draws, such as where the data came from: anything that JSON can hold.
        """
        observations = as_observations(rows, cols, values, shape, self.duplicates)
        task = self._task(observations)
        plan = Plan(
            build=task.build,
            chains=check_count("chains", self.chains, 1),
            warmup=check_count("warmup", self.warmup, 0),
            draws=check_count("draws", self.draws, 1),
        )
        jobs = joblib.cpu_count() if self.jobs is None else check_count("jobs", self.jobs, 1)
        seed = np.random.SeedSequence(None if self.seed is None else check_count("seed", self.seed, 0))
        attributes = dict(about or {}) | provenance(self.get_params(), seed, observations, task.scales)
        if self.path is not None:
            run = RunFolder(self.path)
            posterior = sample_to_disk(
                plan, run, observations, attributes, resume=resume, jobs=jobs, visible=self.progress
            )
        elif resume:
            raise ValueError("resume continues a run on disk; give its folder as path.")
        else:
            posterior = sample_in_memory(plan, attributes, jobs=jobs, visible=self.progress)
        self._take(observations, task.model, posterior)
        if not self.diagnostics_.converged:
            warnings.warn(self.diagnostics_.verdict, ConvergenceWarning, stacklevel=2)
        return self

    def _revive(self, observations: Observations, posterior: Draws) -> None:
        """Become fitted by draws that were made earlier."""
        self._take(observations, self._task(observations).model, posterior)

    def _task(self, observations: Observations) -> Task:
        """Return the model that the parameters describe, and how to sample it."""
        likelihood = choose_likelihood(self.likelihood, self.trials, self.step)
        warmup = check_count("warmup", self.warmup, 0)
        sampler = choose_sampler(self.sampler, self.target_acceptance, self.max_depth, warmup)
        in_units = {name: getattr(self, name) for name in ("sigma", "noise_prior", "lambda_", "lambda_prior")}
        scaled, scales = scale_columns(self.column_scales, observations, likelihood, in_units)
        model = build_model(
            scaled,
            likelihood,
            rank=self.rank,
            sampler=self.sampler,
            effects=self.effects,
            noise=self.noise,
            sigma=self.sigma,
            noise_prior=self.noise_prior,
            lambda_=self.lambda_,
            lambda_prior=self.lambda_prior,
        )
        return Task(model, scales, partial(sampler, model, scaled))
