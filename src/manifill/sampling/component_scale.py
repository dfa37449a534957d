"""The scales of A and B exchanged component by component; A Bᵀ does not change (docs/math.md, §2.5).

The data determine only the product of the two scales of a component, and the precisions of its columns follow whatever
their entries are.  Draws of columns given precisions, and of precisions given columns, hardly change their ratio.
"""

from typing import NamedTuple

import numpy as np

from manifill.base.arrays import Generator, Matrix
from manifill.base.jit import compiled
from manifill.base.priors import Marginal
from manifill.sampling.slice_sampling import draw_on_line

__all__ = ["exchange_scales"]


class Balance(NamedTuple):
    """The density of t for eᵗ A_k and e⁻ᵗ B_k, the precisions of both columns integrated out."""

    left: Marginal  # the prior of A_k, (m,)
    right: Marginal  # the prior of B_k, (n,)
    left_half_square: float  # ½‖A_k‖²
    right_half_square: float
    excess: int  # m − n

    @compiled
    def log_density_at(self, t: float) -> float:
        """Return the log density of t, with the Jacobian exp((m − n) t) of rescaling both columns."""
        left, _ = self.left.log_marginal(np.exp(2.0 * t) * self.left_half_square)
        right, _ = self.right.log_marginal(np.exp(-2.0 * t) * self.right_half_square)
        return float(left + right + self.excess * t)


@compiled
def exchange_scales(rng: Generator, left: Marginal, right: Marginal, A: Matrix, B: Matrix) -> None:
    """Draw t for every component by slice sampling, and rescale its columns in place."""
    m, n = A.shape[0], B.shape[0]
    for k in range(A.shape[1]):
        squares = 0.5 * np.sum(A[:, k] ** 2), 0.5 * np.sum(B[:, k] ** 2)
        t = draw_on_line(rng, Balance(left, right, squares[0], squares[1], m - n))
        A[:, k] *= np.exp(t)
        B[:, k] *= np.exp(-t)
