"""What a method is."""

from collections.abc import Callable
from dataclasses import dataclass

from accuracy.predicted import Prediction
from accuracy.tables import Split


def nothing() -> None:
    """Prepare nothing."""


@dataclass(frozen=True)
class Method:
    """A way to predict the test cells of a split from its training cells."""

    predict: Callable[[Split, bool], Prediction]  # the flag asks for a quick run
    package: str  # the module that must be importable
    scalable: bool = True  # whether standardised columns are tried too; some methods do not depend on scales
    stars_only: bool = False
    quick: bool = True  # whether a quick run has it; of similar methods it has one
    single_thread: bool = True  # whether libraries are kept from starting threads
    prepare: Callable[[], None] = nothing  # what is not measured
