"""The options ``--hold-out`` and ``--hold-out-by`` of ``manifill fit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from manifill.base.wording import counted

if TYPE_CHECKING:
    from manifill.problem import Observations
    from manifill.problem.hold_out import HoldOutBy

__all__ = ["HoldOut", "hold_out_before", "parse_hold_out"]


class HoldOut(NamedTuple):
    """The cells to hold out: a share, or the number of cells, rows or columns if it is at least 1; 0 for none."""

    amount: float
    by: HoldOutBy
    is_default: bool = False  # whether neither option was given

    def divide(self, observations: Observations, seed: int) -> tuple[Observations, Observations | None]:
        """Return the training cells and the held-out cells; small tables are divided only on request."""
        from manifill.run.split import LEAST_TO_HOLD_OUT, choose_held_out

        least = LEAST_TO_HOLD_OUT if self.is_default else 0
        return choose_held_out(observations, self.amount, seed, self.by, least)

    def describe(self, held_out: Observations | None) -> str:
        """Return a phrase about the held-out cells."""
        from manifill.run.split import LEAST_TO_HOLD_OUT

        if held_out is None:
            few = f", since there are fewer than {LEAST_TO_HOLD_OUT}" if self.amount else ""
            return f"none of them held out{few}"
        rows, cols = (len(set(part.tolist())) for part in held_out.triples()[:2])
        where = {
            "cell": "",
            "row": f", all of {counted(rows, 'row')}",
            "column": f", all of {counted(cols, 'column')}",
            "block": f", in {counted(rows, 'row')} and {counted(cols, 'column')}",
        }
        return f"{held_out.size} of them held out{where[self.by]}"


def parse_hold_out(text: str, by: HoldOutBy, *, is_default: bool) -> HoldOut:
    """Return the meaning of the options: ``5%`` and ``0.05`` are shares, ``200`` is a number of cells or rows."""
    try:
        amount = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        amount = -1.0
    is_share, is_count = 0.0 <= amount < 1.0, not text.endswith("%") and 1.0 <= amount < 2**31 and amount % 1.0 == 0.0
    if not (is_share or is_count):
        units = "cells" if by == "block" else f"{by}s"
        raise ValueError(
            f"--hold-out {text} is neither a share below 1, such as 5% or 0.05, nor a whole number of {units}; give "
            "one of them, or 0 for none."
        )
    return HoldOut(amount, by, is_default)


def hold_out_before(attributes: Mapping[str, Any]) -> HoldOut:
    """Return what was held out when the run with these attributes was started."""
    stored = attributes.get("hold_out") or {"amount": attributes.get("holdout", 0.0), "by": "cell"}
    return HoldOut(stored["amount"], stored["by"])
