"""The way in for most people: fit, predict, complete."""

import logging
import platform
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, Self

import joblib
import numpy as np
from numpy.typing import ArrayLike

from manifill.fitting import sample_in_memory, sample_to_disk
from manifill.parameters import HasParameters
from manifill.posterior import (
    Diagnostics,
    Draws,
    Prediction,
    Ranking,
    Score,
    complete,
    diagnose,
    predict,
    rank_columns,
    sample_predictive,
    score,
)
from manifill.problem import (
    Binomial,
    Duplicates,
    Gaussian,
    Likelihood,
    Model,
    Observations,
    SoftplusGaussian,
    as_observations,
    matched_cells,
)
from manifill.problem.scaling import divided_by
from manifill.runs import RunFolder, fingerprint, load_observations
from manifill.sampling.chains import Plan
from manifill.settings import build_model, check_count, choose_column_scales, choose_likelihood, choose_sampler
from manifill.types import Matrix, Vector

__all__ = ["ConvergenceWarning", "MatrixCompletion", "load"]

logger = logging.getLogger("manifill")

# Children of the seed: chain k takes spawn key (k,), so what is not a chain takes one that no chain will reach.
DIAGNOSTICS_KEY, PREDICTION_KEY = 1 << 30, (1 << 30) + 1


class ConvergenceWarning(UserWarning):
    """The chains have not been shown to agree."""


class Task(NamedTuple):
    """What is to be sampled."""

    model: Model
    scales: Vector | None  # that the columns are divided by
    build: Callable[[], Any]  # makes the sampler


class MatrixCompletion(HasParameters):
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

    posterior_: Draws
    observations_: Observations
    model_: Model

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
        attributes = dict(about or {}) | self._attributes(seed, observations, task.scales)
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

    def predict(self, rows: ArrayLike, cols: ArrayLike, interval: float = 0.9) -> Prediction:
        """Return the predictive distribution of y at these cells: mean, sd, and an interval of this probability.

        Cells are named as in the data of the fit: by the labels of a DataFrame, otherwise by numbers from 0.
        """
        self._check_fitted()
        cells = self.observations_.row_indices(rows), self.observations_.column_indices(cols)
        return predict(self._rng(PREDICTION_KEY), self.posterior_, self.model_.likelihood, *cells, interval)

    def sample_posterior_predictive(self, rows: ArrayLike, cols: ArrayLike, draws: int | None = None) -> Matrix:
        """Return samples of y at these cells, in the data's units, (samples, cells); the same on every call.

        There is one from each draw, chain after chain, or from each of so many ``draws`` evenly spread over all.  The
        cells of a sample are of one draw, so that their sums and differences are as uncertain as they should be.
        """
        self._check_fitted()
        cells = self.observations_.row_indices(rows), self.observations_.column_indices(cols)
        count = None if draws is None else check_count("draws", draws, 1)
        return sample_predictive(self._rng(PREDICTION_KEY), self.posterior_, self.model_.likelihood, *cells, count)

    def score(
        self,
        rows: Any,
        cols: ArrayLike | None = None,
        values: ArrayLike | None = None,
        *,
        interval: float = 0.9,
    ) -> Score:
        """Return how well held-out values are predicted: RMSE, MAE, log density, CRPS, coverage of intervals.

        Cells are named as in ``predict``, or come in any other form that ``fit`` accepts.  scikit-learn expects one
        number of a method of this name, higher being better: that is ``float(model.score(…))``, the mean log predictive
        density, without its constant for a likelihood of one's own.
        """
        self._check_fitted()
        cells = matched_cells(self.observations_, rows, cols, values, self.duplicates)
        return score(self._rng(PREDICTION_KEY), self.posterior_, self.model_.likelihood, *cells, interval)

    def complete(self) -> tuple[Matrix, Matrix]:
        """Return the predictive mean and standard deviation of every cell, observed or not, as two m×n arrays."""
        self._check_fitted()
        return complete(self.posterior_, self.model_.likelihood)

    def top(self, row: Any, n: int = 10) -> Ranking:
        """Return the ``n`` columns without an observation in a row whose expected values are highest."""
        self._check_fitted()
        observations = self.observations_
        index = int(observations.row_indices([row])[0])
        begin, end = observations.by_row.starts[index : index + 2]
        unseen = np.setdiff1d(np.arange(observations.shape[1]), observations.by_row.indices[begin:end])
        if not unseen.size:
            raise ValueError(f"row {row!r} has an observation in every column; there is nothing unseen to rank.")
        found = rank_columns(self.posterior_, self.model_.likelihood, index, unseen, check_count("n", n, 1))
        labels = observations.column_labels
        return found if labels is None else replace(found, columns=labels[found.columns])

    def to_arviz(self, *, log_likelihood: bool = False, posterior_predictive: bool = False) -> Any:
        """Return the posterior as ArviZ takes it, by labels; see ``Draws.to_arviz``, which this extends.

        Parameters
        ----------
        log_likelihood
            Whether to add log p(y | draw) of each observed cell, in the data's units, for ``arviz.loo``; a likelihood
            of one's own lacks what its ``log_density`` leaves out.
        posterior_predictive
            Whether to add data as each draw would have produced it, for posterior predictive checks.

        With either comes the group ``observed_data``.  Both are held in memory, from all draws or from every second,
        third, … of each chain, so that neither takes more than 1 GiB.
        """
        self._check_fitted()
        from manifill.posterior.inference_data import assembled, cell_groups, draw_groups  # where ArviZ is needed

        draws, observations = self.posterior_, self.observations_
        groups = draw_groups(draws, observations.row_labels, observations.column_labels)
        if log_likelihood or posterior_predictive:
            groups |= cell_groups(
                self._rng(PREDICTION_KEY),
                draws,
                self.model_.likelihood,
                observations,
                log_likelihood=log_likelihood,
                posterior_predictive=posterior_predictive,
            )
        return assembled(groups, draws.attributes)

    def loo(self) -> Any:
        """Return ArviZ's PSIS-LOO estimate of how well each observed cell is predicted by all others.

        ``arviz.compare({"rank 2": two.loo(), "rank 5": five.loo()})`` compares models of the same data.  ArviZ warns
        where the estimate is not to be trusted, as often with few cells in a row or column; then hold cells out, and
        compare by ``score``.
        """
        self._check_fitted()
        from manifill.posterior.inference_data import loo

        return loo(self.posterior_, self.model_.likelihood, self.observations_)

    @cached_property
    def diagnostics_(self) -> Diagnostics:
        """Whether the chains have converged, found when it is first asked for."""
        self._check_fitted()
        return diagnose(self._rng(DIAGNOSTICS_KEY), self.posterior_)

    def _take(self, observations: Observations, model: Model, posterior: Draws) -> None:
        """Become fitted."""
        self.observations_, self.model_, self.posterior_ = observations, model, posterior
        self.__dict__.pop("diagnostics_", None)  # of an earlier fit

    def _check_fitted(self) -> None:
        if not hasattr(self, "posterior_"):
            raise ValueError("this MatrixCompletion has not been fitted; call fit with the observed cells first.")

    def _rng(self, key: int) -> np.random.Generator:
        entropy = self.posterior_.attributes["seed"]
        return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(key,)))

    def _task(self, observations: Observations) -> Task:
        """Return the model that the parameters describe, and how to sample it."""
        likelihood = choose_likelihood(self.likelihood, self.trials, self.step)
        warmup = check_count("warmup", self.warmup, 0)
        sampler = choose_sampler(self.sampler, self.target_acceptance, self.max_depth, warmup)
        given = (self.sigma, self.noise_prior, self.lambda_, self.lambda_prior)
        in_units = any(value is not None for value in given)
        scales = choose_column_scales(self.column_scales, observations, likelihood, in_units=in_units)
        if scales is not None:
            logger.info("columns are divided by their spreads, from %.3g to %.3g", scales.min(), scales.max())
        scaled = observations if scales is None else divided_by(observations, scales)
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

    def _attributes(
        self, seed: np.random.SeedSequence, observations: Observations, scales: Vector | None
    ) -> dict[str, Any]:
        """Return what is needed to know later how the draws came about."""
        libraries = ("manifill", "numpy", "scipy", "numba")
        scaling = {} if scales is None else {"column_scales": scales.tolist()}
        return scaling | {
            "settings": {name: _plain(value) for name, value in self.get_params().items()},
            "seed": seed.entropy,
            "fingerprint": fingerprint(observations),
            "shape": list(observations.shape),
            "observed_cells": observations.size,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in libraries}},
        }


def load(path: str | Path, likelihood: Likelihood | None = None) -> MatrixCompletion:
    """Return the fitted :class:`MatrixCompletion` of a run directory, as far as its chains came.

    A run with a likelihood of one's own does not hold its code; give it as ``likelihood``.
    """
    run = RunFolder(path)
    if not run.draws.exists():
        raise ValueError(f"{path} is no run of manifill; give the folder that a fit was written to.")
    posterior, observations = Draws.open(run.draws), load_observations(run.data)
    settings = dict(posterior.attributes["settings"], path=str(path))
    if likelihood is not None:
        settings["likelihood"] = likelihood
    elif isinstance(settings["likelihood"], dict):
        settings["likelihood"] = _named_likelihood(path, settings["likelihood"])
    for name in ("noise_prior", "lambda_prior"):
        if isinstance(settings[name], list):
            settings[name] = tuple(settings[name])
    model = MatrixCompletion(**settings)
    model._take(observations, model._task(observations).model, posterior)
    return model


def _named_likelihood(path: str | Path, saved: dict[str, Any]) -> Likelihood:
    """Return a likelihood of this package that was given as an object."""
    known: dict[str, Any] = {"gaussian": Gaussian, "softplus": SoftplusGaussian, "binomial": Binomial}
    fields = {name: value for name, value in saved.items() if name != "name"}
    try:
        return known[saved["name"]](**fields)  # type: ignore[no-any-return]
    except (KeyError, TypeError):
        raise ValueError(
            f"{path} was fitted with the likelihood {saved['name']!r}, whose code is not in the run; give it to load "
            "as likelihood."
        ) from None


def _plain(value: Any) -> Any:
    """Return a parameter as JSON can hold it."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if hasattr(value, "evaluate"):
        return {"name": value.name, **{name: _plain(part) for name, part in value._asdict().items()}}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value
