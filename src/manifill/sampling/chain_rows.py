"""What a display shows of the chains: a row for each."""

from manifill.base.durations import in_words
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


def row(chain: int, line: Line, iterations: int, seconds: float) -> Row:
    """Return the row of a chain that is run to this number of iterations, and has been in its stage for so long."""
    name, stage = f"chain {chain + 1}", Stage(int(line.stage))
    if stage in BEFORE_ITERATIONS and not line.iteration:
        return Row(name, WORDS[stage], ", ".join([*_steps(line), in_words(seconds)]))
    details = (
        f"step {line.step_size:.2g}" if line.step_size == line.step_size else "",
        f"{line.leapfrog_steps:.0f} leapfrogs" if line.leapfrog_steps else "",
        f"{line.divergences:.0f} divergent" if line.divergences else "",
    )
    count = f"{line.iteration:.0f}/{iterations}"
    if stage in BEFORE_ITERATIONS:  # between two blocks of draws, or started again
        count += f", {in_words(seconds)}"
    detail = ", ".join(part for part in details if part)
    return Row(name, WORDS[stage], count, line.iteration, iterations, detail)


def _steps(line: Line) -> list[str]:
    """Return how many steps the start has taken, if any, and of how many if that is known."""
    if not line.initial_steps:
        return []
    return [f"{line.initial_steps:.0f}{f'/{line.initial_total:.0f}' if line.initial_total else ' steps'}"]
