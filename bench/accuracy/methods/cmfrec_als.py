"""Cmfrec: regularised matrix factorisation with biases, by alternating least squares."""

from itertools import product

import numpy as np
import pandas as pd

from accuracy.methods.method import Method
from accuracy.predicted import Points
from accuracy.tables import Cells, Split
from manifill.base.arrays import Vector

RANKS, PENALTIES = (8, 20, 40), (0.1, 1.0, 3.0, 10.0, 30.0)
VALIDATION = 0.1  # of the training cells
SEED = 1


def factorization(split: Split, quick: bool) -> Points:
    """Return predictions with the rank and the penalty that are best for a tenth of the training cells."""
    held_out = np.random.default_rng(SEED).random(split.train.y.size) < VALIDATION
    inner, validation = split.train.chosen(~held_out), split.train.chosen(held_out)

    def error(choice: tuple[int, float]) -> float:
        return float(np.mean((_predict(inner, validation, *choice) - validation.y) ** 2))

    choices = list(product(RANKS, PENALTIES))
    return Points(_predict(split.train, split.test, *min(choices[-1:] if quick else choices, key=error)))


def _predict(train: Cells, test: Cells, rank: int, penalty: float) -> Vector:
    from cmfrec import CMF

    model = CMF(k=rank, lambda_=penalty, nthreads=1, verbose=False, random_state=SEED)
    model.fit(pd.DataFrame({"UserId": train.rows, "ItemId": train.cols, "Rating": train.y}))
    return np.asarray(model.predict(test.rows, test.cols), dtype=np.float64)


METHODS = {"cmfrec": Method(factorization, "cmfrec")}
