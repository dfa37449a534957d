"""Movie ratings: predicts how a user would rate unseen movies."""

import argparse

import numpy as np

from manifill import MatrixCompletion
from manifill.datasets import load_movielens

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rank", type=int, default=20)
parser.add_argument("--warmup", type=int, default=500)
parser.add_argument("--draws", type=int, default=1000)
options = parser.parse_args()

data = load_movielens()
train, held_out = data.observations.split(np.random.default_rng(0), 0.2)

# Half stars from 0.5 to 5 are counts of up to nine steps, so predictions stay on the scale.
model = MatrixCompletion(
    rank=options.rank,
    likelihood="binomial",
    trials=9,
    step=0.5,
    offset=0.5,
    warmup=options.warmup,
    draws=options.draws,
    seed=0,
)
model.fit(train)
print(model.diagnostics_.verdict)
print(model.score(held_out))

best = model.top(42, n=5)
for movie, stars, probability in zip(best.columns, best.mean, best.probability, strict=True):
    title = data.about_columns[movie]["title"]
    print(f"{stars:.2f} stars, among the best five with probability {probability:.0%}: {title}")
