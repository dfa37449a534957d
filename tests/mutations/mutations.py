"""Breaks of one line each that once passed every test, as data: what is changed, and which tests must fail then."""

from pathlib import Path
from typing import NamedTuple

__all__ = ["MUTATIONS", "Edit", "Mutation", "NoMatchError", "edited"]


class NoMatchError(Exception):
    """A mutation's text does not occur exactly once in its file."""


class Edit(NamedTuple):
    """A text that occurs exactly once in a file of the package, and what it becomes."""

    file: str  # below src/manifill
    old: str
    new: str


class Mutation(NamedTuple):
    """A break, the tests that are run with it, and, if they cannot see it, the largest bias that it may have."""

    name: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]  # for pytest, run in this order until one fails
    bound: str = ""  # of a break that survives: how large a bias it may have, and how that was found


def edited(edit: Edit, path: Path) -> str:
    """Return the text of a file after an edit, or raise a NoMatchError."""
    text = path.read_text() if path.exists() else ""
    if text.count(edit.old) != 1:
        raise NoMatchError(
            f"{edit.file} contains {edit.old!r} {text.count(edit.old)} times, not once; adapt the edit in "
            "tests/mutations/mutations.py to the source."
        )
    return text.replace(edit.old, edit.new)


HMC, SLICES, EXCHANGE = "sampling/hmc.py", "sampling/slice_sampling.py", "sampling/effect_exchange.py"
JOINT, STATE = "sampling/joint_sampler.py", "sampling/state.py"

INTEGRATED_OUT = "tests/sampling/test_integrated_out.py::"
NOT_USED = INTEGRATED_OUT + "test_a_step_does_not_depend_on_what_is_integrated_out[gaussian-False-trajectories]"
DRAWN_LAST = INTEGRATED_OUT + "test_noise_and_rate_are_those_of_the_final_point[False]"
RANK_THREE = "tests/exact/test_rank_three.py::test_one_step_short[effects]"

MUTATIONS = (
    Mutation(
        "the two fields of a user's Gamma swapped",
        (Edit("estimators/arguments.py", "shape, rate = value", "rate, shape = value"),),
        ("tests/exact/test_estimator.py::test_unequal_priors[short]",),
    ),
    Mutation(
        "a stale gradient after a refused trajectory",
        (Edit(HMC, "phase.gradient[:] = gradient", "phase.gradient[:] = gradient if k == 0 else phase.gradient"),),
        ("tests/sampling/test_hmc.py::test_one_call_does_what_one_call_per_trajectory_does",),
    ),
    Mutation(
        "levels drawn from stale precisions",
        (
            Edit(STATE, "effects = effects._replace(", "effects = draw_levels(rng, model.effects, effects)._replace("),
            Edit(STATE, "        effects = draw_levels(rng, model.effects, effects)\n", ""),
        ),
        (NOT_USED,),
    ),
    Mutation(
        "acceptance with 0.9·ΔH",
        (Edit(HMC, "if np.log(rng.random()) < -change:", "if np.log(rng.random()) < -0.9 * change:"),),
        ("tests/sampling/test_hmc.py::test_trajectories_from_exact_draws_change_nothing_on_average",),
    ),
    Mutation(
        "a slice bracket on a line that is not placed at random",
        (Edit(SLICES, "low = -WIDTH * rng.random()", "low = -0.5 * WIDTH"),),
        ("tests/sampling/test_slice_shapes.py",),
    ),
    Mutation(
        "a slice bracket on a circle that is not placed at random",
        (Edit(SLICES, "high = width * rng.random()", "high = 0.5 * width"),),
        ("tests/sampling/test_slice_shapes.py",),
    ),
    Mutation(
        "the exchange's length taken from all of a",
        (Edit(EXCHANGE, "_square_outside(U, a, rows, svd_address) / (a.size - r)", "np.mean(a * a)"),),
        ("tests/sampling/test_exchange.py::test_the_prior_stays_if_singular_values_are_large",),
    ),
    Mutation(
        "the exchange's effects counted in rows without cells",
        (Edit(EXCHANGE, "2.0 * half_square(along)", "2.0 * half_square(d)"),),
        ("tests/sampling/test_exchange.py::test_the_prior_stays_if_singular_values_are_large",),
    ),
    Mutation(
        "γ drawn before the collapsed slices",
        (
            Edit(
                JOINT,
                "        for move in self.parts.moves:\n",
                "        early = state.unknowns.moved_to(self.layout, position)\n"
                "        noise = draw_hyperparameters(rng, self.model, self._part, early, state.noise).noise\n"
                "        for move in self.parts.moves:\n",
            ),
            Edit(JOINT, "return state, JointInfo(", "return state._replace(noise=noise), JointInfo("),
        ),
        (DRAWN_LAST,),
    ),
    Mutation(
        "masses that depend on s",
        (
            Edit(
                JOINT,
                "state.unknowns.pack(self.layout), tuning)",
                "state.unknowns.pack(self.layout), tuning._replace(masses=tuning.masses._replace("
                "left=tuning.masses.left * state.unknowns.s / state.unknowns.s.mean())))",
            ),
        ),
        (RANK_THREE,),
    ),
    Mutation(
        "lengths that depend on γ",
        (
            Edit(
                JOINT,
                "state.unknowns.pack(self.layout), tuning)",
                "state.unknowns.pack(self.layout), tuning._replace(lengths=tuning.lengths._replace("
                "longest=tuning.lengths.shortest + round(3.0 * state.noise.precision[0] ** -0.5))))",
            ),
        ),
        (NOT_USED,),
    ),
    Mutation(
        "trajectories without the density of the ranking",
        (Edit("sampling/component_ranks.py", "total += logs[k] - sums[k]", "total += 0.0"),),
        ("tests/sampling/test_component_ranks.py",),
    ),
)
