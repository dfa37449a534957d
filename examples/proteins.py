"""Protein levels: positive numbers, many of them missing."""

import argparse

import numpy as np

from manifill import MatrixCompletion
from manifill.datasets import load_mice_protein

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rank", type=int, default=20)
parser.add_argument("--warmup", type=int, default=500)
parser.add_argument("--draws", type=int, default=1000)
options = parser.parse_args()

train, held_out = load_mice_protein().observations.split_cells(np.random.default_rng(0), train=0.4)
mice, proteins = np.asarray(held_out.row_labels), np.asarray(held_out.column_labels)

# The scales of the 77 proteins differ by a factor of thirty, so the columns are standardised internally.
for likelihood in ("gaussian", "softplus"):
    model = MatrixCompletion(
        rank=options.rank, likelihood=likelihood, warmup=options.warmup, draws=options.draws, seed=0
    )
    model.fit(train)
    rows, cols, _ = held_out.triples()
    prediction = model.predict(mice[rows], proteins[cols])
    below = np.mean(prediction.lower < 0.0)
    print(f"{likelihood:8s} {model.score(held_out)}; {below:.1%} of the intervals extend below zero")
