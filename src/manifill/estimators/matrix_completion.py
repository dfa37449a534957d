"""The main estimator: fit, predict, complete."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from manifill.base import progress
from manifill.base.progress_display import displayed
from manifill.estimators.arguments import (
    build_model,
    check_choice,
    check_count,
    check_count_or_auto,
    check_values,
    choose_likelihood,
    choose_sampler,
)
from manifill.estimators.automatic_choices import choose_names, choose_rank, with_sweeps, without_off_components
from manifill.estimators.column_scaling import scale_columns
from manifill.estimators.column_transform import IN_UNITS, transform_columns
from manifill.estimators.draw_arguments import choose_draws
from manifill.estimators.fitted_model import FittedModel
from manifill.likelihoods import Likelihood
from manifill.problem import Duplicates, Layout, Model, Observations, as_observations
from manifill.problem.column_units import SAME_UNITS, ColumnUnits
from manifill.problem.convert import is_frame
from manifill.problem.frame_labels import describe_frame
from manifill.problem.frames import frame_layout
from manifill.run.draw_rule import AUTO, Ending
from manifill.run.folder import RunFolder, Start
from manifill.run.observations_file import load_observations
from manifill.run.provenance import provenance
from manifill.run.resolved import Resolved
from manifill.run.seeds import Stream, generator
from manifill.run.split import check_held_out
from manifill.run.verdict import write_verdict

if TYPE_CHECKING:
    from manifill.run.chains_to_draws import Request

__all__ = ["ConvergenceWarning", "MatrixCompletion"]

# What is counted while arguments are checked, with a guess of the seconds per cell: the comparison with held-out cells
# and the fingerprint of the data.
CHECKS, SECONDS_PER_CHECK = 2, 1e-7

OFF_COMPONENTS = ("drop", "keep")


class ConvergenceWarning(UserWarning):
    """The diagnostics do not show that predictions can be relied on."""


class MatrixCompletion(FittedModel):
    """Low-rank Bayesian matrix completion: X = U diag(s) Vᵀ on Stiefel manifolds, or X = A Bᵀ.

    Parameters
    ----------
    rank
        Number of components, at most min(m, n); ``"auto"`` for a generous number that the data support, found by how
        well cells that are left out are predicted from the others.  Of more than 16, those that are off are dropped.
    likelihood
        ``"gaussian"``, ``"softplus"`` (positive data) or ``"binomial"`` (counts out of ``trials``, ratings), or a
        likelihood object, such as one from :func:`manifill.custom_likelihood`.
    sampler
        ``"joint"``, which updates U, s, V and all else together; ``"gibbs"``, the paper's sampler; ``"factors"``, Gibbs
        sweeps over A Bᵀ with a precision for each component, for normal noise only; or ``"auto"``: ``"factors"`` if the
        likelihood is Gaussian and no argument is about the paper's priors, otherwise ``"joint"``.
    chains
        Number of chains.
    warmup
        Warm-up iterations per chain, which are discarded; ``"auto"`` for what suits the sampler: 500, or 200 for
        ``"factors"``, and fewer on large tables.
    draws
        Draws per chain; ``"auto"`` to draw in blocks until predictions are green or a limit is reached, which is
        announced.
    max_draws, max_minutes
        The limits of ``draws="auto"``: draws per chain, and minutes of wall time since the chains were started.  A
        block that would take too long is shortened; warm-up and the first draws are always made.
    seed
        Random seed; the same seed gives the same draws, whatever ``jobs`` is.
    effects
        ``"additive"`` for a mean, row and column effects in addition to the low-rank matrix, so that predictions for a
        row with few cells shrink to the mean; None for the paper's model without effects.
    column_scales
        ``"auto"`` to divide the columns by their standard deviations if these differ widely and there are no more
        columns than rows, ``"standardize"`` to always do so, None to leave the columns unscaled.  Predictions are in
        the data's units; U, s, V, effects and sigma are in scaled units.
    column_transform
        ``"auto"`` to make skewed and heavy-tailed columns nearly normal by a sinh-arcsinh transform, if there are no
        more columns than rows and cells that are left out are then predicted better; ``"sinh-arcsinh"`` to always do
        so; None to never do so.  Predictions are in the data's units; everything else is in transformed units.
    noise
        ``"shared"`` for one noise level in all cells; ``"row"``, ``"column"`` or ``"both"`` for one per row, column, or
        a product of a factor for each row and one for each column.  The factors are pooled: their spread is
        learned, and they are nearly equal if the data do not support more.  ``"auto"`` is ``"both"`` with the sampler
        ``"factors"``, unless ``sigma`` or ``noise_prior="paper"`` is given, and ``"shared"`` otherwise.
    tails
        ``"normal"``, or ``"student"`` for the tails of Student's t, with learned degrees of freedom.
    sigma
        The standard deviation of the noise, if known; inferred by default.  With factors of rows or columns, that of a
        cell whose factors are 1; with Student's tails, the scale.
    noise_prior
        (α, β) of a Gamma prior of 1/σ², or ``"paper"`` for (1e-4, 1e-4); weak and on the data's scale by default.
    lambda_
        Rate of the exponential prior of the singular values, if known; inferred by default.
    lambda_prior
        (shape, rate) of the Gamma prior of λ; weak and on the data's scale by default.
    trials, step, offset
        For the Binomial: values are offset, offset + step, …, offset + trials · step.
    duplicates
        How to handle a cell given more than once: ``"error"`` or ``"average"``.
    target_acceptance, max_depth
        The mean acceptance probability that warm-up targets (raise it if there are divergences), and the maximum depth
        of a NUTS tree; ``joint`` learns its trajectory lengths from NUTS trees during warm-up.
    off_components
        What to do with components of a given rank above 16 that are off: ``"drop"`` those without which left-out cells
        are predicted as well, before the chains start; or ``"keep"`` all.  Those of ``gibbs`` and of the paper's priors
        are always kept.
    path
        Folder that the draws are written to during sampling; by default they are kept in memory.
    jobs
        Number of chains to run in parallel, each in its own process; the number of processors by default.
    progress
        Whether to show the phases of the fit and the time left: as bars on a terminal, as lines of text elsewhere.

    Attributes
    ----------
    posterior_ : Draws
        ``.U``, ``.s``, ``.V``, ``.sigma`` and so on, (chain, draw, …), with sampler statistics and settings.
    diagnostics_ : Diagnostics
        Whether predictions and global quantities are green, amber or red, with reasons; ``.verdict`` says it in a
        sentence each, and ``.converged`` is whether predictions are green.
    ended_by_ : str
        Why the fit ended: ``"draws"`` if it has the number that was given, ``"green"``, ``"max_draws"``,
        ``"max_minutes"`` or ``"interrupt"``; a run that was loaded does not have it.
    effective_rank_ : EffectiveRank
        How many equal components would be as many as the low-rank part has: ``mean``, ``lower`` and ``upper``.
    observations_ : Observations
        The observed cells that were fitted.
    model_ : Model
        The model that was sampled, with resolved priors; in scaled units if columns were scaled.

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

    ended_by_: Ending

    def __init__(
        self,
        rank: int | Literal["auto"] = "auto",
        likelihood: str | Likelihood = "gaussian",
        sampler: str = "auto",
        chains: int = 4,
        warmup: int | Literal["auto"] = "auto",
        draws: int | Literal["auto"] = "auto",
        max_draws: int = 4000,
        max_minutes: float | None = None,
        seed: int | None = None,
        effects: str | None = "additive",
        column_scales: str | None = "auto",
        column_transform: str | None = "auto",
        noise: str = "auto",
        tails: str = "normal",
        sigma: float | None = None,
        noise_prior: tuple[float, float] | str | None = None,
        lambda_: float | None = None,
        lambda_prior: tuple[float, float] | None = None,
        trials: int | None = None,
        step: float = 1.0,
        offset: float = 0.0,
        duplicates: Duplicates = "error",
        target_acceptance: float = 0.8,
        max_depth: int = 10,
        off_components: str = "drop",
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
        self.max_draws = max_draws
        self.max_minutes = max_minutes
        self.seed = seed
        self.effects = effects
        self.column_scales = column_scales
        self.column_transform = column_transform
        self.noise = noise
        self.tails = tails
        self.sigma = sigma
        self.noise_prior = noise_prior
        self.lambda_ = lambda_
        self.lambda_prior = lambda_prior
        self.trials = trials
        self.step = step
        self.offset = offset
        self.duplicates = duplicates
        self.target_acceptance = target_acceptance
        self.max_depth = max_depth
        self.off_components = off_components
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
        layout: Layout | None = None,
        held_out: Observations | None = None,
        resume: bool = False,
        overwrite: bool = False,
        about: Mapping[str, Any] | None = None,
    ) -> Self:
        """Sample the posterior given the observed cells.

        Parameters
        ----------
        rows, cols, values
            One entry per cell; or, as ``rows`` alone, a 2-D array with NaN for missing cells, a ``scipy.sparse``
            matrix, or a DataFrame, long or wide (see ``layout``).
        shape
            (m, n) of the matrix, for triples only; the smallest that holds all cells by default.
        layout
            ``"long"`` for a DataFrame with the columns row, column and value, ``"wide"`` for one that is the matrix
            itself, with labels as index and column names and NaN for missing cells; decided from the frame if it is not
            ambiguous.
        held_out
            Cells of the same matrix to evaluate the fit on.  They are written to ``path`` before the first iteration
            and used by the report.
        resume
            Whether to resume the run in ``path``, which was interrupted, or to add draws to it.  The same data and
            settings give the same draws as an uninterrupted run.  It is an error if there is no run.
        overwrite
            Whether to replace the run in ``path``, if there is one.  Without it, and without ``resume``, a folder that
            is not empty is refused.  Files that are not of a run are never removed.
        about
            Additional attributes to store with the draws, such as the source of the data; must be JSON-serialisable.
        """
        with displayed(visible=self.progress):
            start = Start.of(resume=resume, overwrite=overwrite)
            self._fit(rows, cols, values, shape, layout, held_out, start, about)
            progress.begin("diagnosing")
            converged = self.diagnostics_.converged
        if self.path is not None:
            write_verdict(RunFolder(self.path), self.diagnostics_)
        if not converged:
            warnings.warn(self.diagnostics_.predictions.sentence, ConvergenceWarning, stacklevel=2)
        return self

    def _fit(
        self,
        rows: Any,
        cols: ArrayLike | None,
        values: ArrayLike | None,
        shape: tuple[int, int] | None,
        layout: Layout | None,
        held_out: Observations | None,
        start: Start,
        about: Mapping[str, Any] | None,
    ) -> None:
        # Imported here because loading a run imports this module too, and needs no samplers and no processes.
        from manifill.run.chains_to_draws import sample_in_memory, sample_to_disk

        size = _likely_size(rows)
        with progress.followed_by(self._chain_seconds(size)):
            progress.begin("checking", guess=SECONDS_PER_CHECK * size)
            observations = as_observations(rows, cols, values, shape, self.duplicates, layout)
            if is_frame(rows):
                about = {"layout": describe_frame(rows, frame_layout(rows, layout), observations), **(about or {})}
            request = self._request(observations, held_out, about)
        jobs = None if self.jobs is None else check_count("jobs", self.jobs, 1)
        if self.path is not None:
            found = sample_to_disk(request, RunFolder(self.path), start=start, jobs=jobs)
        elif start is not Start.NEW:
            raise ValueError(f"{start.value} applies to a run on disk; give its folder as path.")
        elif held_out is not None:
            raise ValueError("held_out is stored in a run on disk; give a folder as path, or pass the cells to score.")
        else:
            found = sample_in_memory(request, jobs=jobs)
        self._take(observations, found.model, found.draws, found.diagnostics)
        self.ended_by_ = found.ending

    def _chain_seconds(self, cells: int) -> float:
        """Return a guess of the seconds that the chains take."""
        from manifill.run.time_guess import chain_seconds

        names = ("sampler", "rank", "chains", "warmup", "draws", "jobs")
        return chain_seconds(cells, **{name: getattr(self, name) for name in names})

    def _held_out(self) -> Observations | None:
        if self.path is None or not RunFolder(self.path).held_out.exists():
            return None
        return load_observations(RunFolder(self.path).held_out)

    def _request(
        self, observations: Observations, held_out: Observations | None, about: Mapping[str, Any] | None
    ) -> "Request":
        """Return the request that the parameters describe."""
        from manifill.run.chains_to_draws import Request

        progress.begin("checking", CHECKS, "steps", guess=SECONDS_PER_CHECK * observations.size)
        if held_out is not None:
            check_held_out(held_out, observations)
        progress.advance()
        likelihood = choose_likelihood(self.likelihood, self.trials, self.step, self.offset)
        seed = np.random.SeedSequence(None if self.seed is None else check_count("seed", self.seed, 0))
        attributes = dict(about or {}) | provenance(self.get_params(), seed, observations, held_out)
        progress.advance()
        return Request(
            observations=observations,
            held_out=held_out,
            attributes=attributes,
            chains=check_count("chains", self.chains, 1),
            draws=choose_draws(self.draws, self.max_draws, self.max_minutes),
            resolve=partial(self._resolve, observations, attributes["seed"]),
            likelihood=None if isinstance(self.likelihood, str) else likelihood,
            chain_seconds=self._chain_seconds(observations.size),
        )

    def _resolve(self, observations: Observations, seed: int) -> Resolved:
        """Return the model and sampler that the parameters describe, with priors and scales derived from the data."""
        likelihood = choose_likelihood(self.likelihood, self.trials, self.step, self.offset)
        check_values(observations, likelihood)  # before columns are transformed or scaled
        in_units = {name: getattr(self, name) for name in IN_UNITS}
        name, noise = choose_names(likelihood, sampler=self.sampler, noise=self.noise, **in_units)
        sampler = choose_sampler(name, self.target_acceptance, self.max_depth, self.warmup)
        chosen: dict[str, Any] = {"sampler": name, "effects": self.effects, "noise": noise, "tails": self.tails}
        units = self._units(observations, likelihood, chosen | in_units, seed)
        scaled = units.observations(observations)
        described = partial(build_model, scaled, likelihood, **chosen | in_units)
        model = self._model(scaled, lambda rank: described(rank=rank), name, seed)
        if self.sampler == AUTO and name == "factors":
            sampler = with_sweeps(sampler, self.warmup, scaled, model.rank)
        return Resolved(model, units, sampler)

    def _model(self, scaled: Observations, of_rank: Callable[[int], Model], sampler: str, seed: int) -> Model:
        """Return the model of the rank that is given or found, without components that are off."""
        drops = check_choice("off_components", self.off_components, OFF_COMPONENTS) == "drop"
        rank, rng = check_count_or_auto("rank", self.rank, 1), generator(seed, Stream.RANK)
        given = of_rank(1 if rank is None else rank)  # also raises errors in other arguments, before the search
        if rank is None:
            return of_rank(choose_rank(rng, scaled, given))
        return without_off_components(rng, scaled, given) if drops and sampler != "gibbs" else given

    def _units(
        self, observations: Observations, likelihood: Likelihood, arguments: dict[str, Any], seed: int
    ) -> ColumnUnits:
        """Return the units of the columns: transformed, scaled, or as they are."""
        rng, with_scales = generator(seed, Stream.TRANSFORM), arguments | {"column_scales": self.column_scales}
        units = transform_columns(self.column_transform, rng, observations, likelihood, with_scales)
        if units is not None:
            return units
        in_units = {name: arguments[name] for name in IN_UNITS}
        _, scales = scale_columns(self.column_scales, observations, likelihood, in_units, arguments["tails"])
        return SAME_UNITS if scales is None else ColumnUnits.divided_by(scales)


def _likely_size(data: Any) -> int:
    """Return the number of entries of an array, a DataFrame or a sparse matrix; 0 if it is not known yet."""
    size = getattr(data, "size", 0)
    return size if isinstance(size, int) else 0
