"""What a display shows of the chains: a row for each."""

from manifill.base.progress import Row
from manifill.sampling.progress_board import Line, Stage

__all__ = ["row"]

WORDS = {
    Stage.WAITING: "waiting",
    Stage.INITIALISING: "initialising",
    Stage.COMPILING: "compiling",
    Stage.WARMUP: "warm-up",
    Stage.DRAWING: "drawing",
    Stage.STOPPED: "stopped",
    Stage.DONE: "done",
    Stage.KILLED: "killed",
}
BEFORE_ITERATIONS = (Stage.WAITING, Stage.INITIALISING, Stage.COMPILING, Stage.KILLED)


def row(chain: int, line: Line, iterations: int) -> Row:
    """Return the row of a chain that is run to this number of iterations."""
    name, stage = f"chain {chain + 1}", Stage(int(line.stage))
    if stage == Stage.INITIALISING and line.initial_steps:
        return Row(name, f"initialising, step {line.initial_steps:.0f}", 0.0, None)
    if stage in BEFORE_ITERATIONS and not line.iteration:
        return Row(name, WORDS[stage], 0.0, None)
    details = (
        f"step {line.step_size:.2g}" if line.step_size == line.step_size else "",
        f"{line.leapfrog_steps:.0f} leapfrogs" if line.leapfrog_steps else "",
        f"{line.divergences:.0f} divergent" if line.divergences else "",
    )
    return Row(name, WORDS[stage], line.iteration, iterations, ", ".join(part for part in details if part))
