"""Sensor readings: instruments of four kinds with different units, and outages of several hours."""

import argparse

import numpy as np

from manifill import MatrixCompletion
from manifill.problem import from_array

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--warmup", type=int, default=500)
parser.add_argument("--draws", type=int, default=1000)
options = parser.parse_args()

# A synthetic week of hourly readings: 24 instruments that respond to a daily cycle and to drifting weather.
rng = np.random.default_rng(1)
hours = np.arange(7 * 24)
cycle = np.stack([np.sin(2 * np.pi * hours / 24), np.cos(2 * np.pi * hours / 24)], axis=1)
weather = np.cumsum(0.2 * rng.normal(size=(hours.size, 2)), axis=0)
units = np.repeat([1.0, 10.0, 1000.0, 0.01], 6)  # °C, % humidity, Pa, m/s
levels = np.repeat([15.0, 60.0, 101_325.0, 3.0], 6)
signal = np.hstack([cycle, weather]) @ rng.normal(size=(4, 24))
table = levels + units * (signal + 0.3 * rng.normal(size=signal.shape))

# Each instrument has four outages of six to thirty hours.
holes = table.copy()
for sensor in range(table.shape[1]):
    for _ in range(4):
        start, length = rng.integers(hours.size), rng.integers(6, 30)
        holes[start : start + length, sensor] = np.nan

model = MatrixCompletion(rank=6, noise="column", warmup=options.warmup, draws=options.draws, seed=0)
model.fit(holes)
print(model.diagnostics_.verdict)

missing = np.isnan(holes)
rows, cols = np.nonzero(missing)
prediction = model.predict(rows, cols)
error = np.abs(prediction.mean - table[missing]) / np.broadcast_to(units, table.shape)[missing]
covered = np.mean((prediction.lower <= table[missing]) & (table[missing] <= prediction.upper))
print(f"{missing.mean():.0%} of the readings are missing; the median error is {np.median(error):.2f}, the noise 0.30")
print(f"90 % intervals cover {covered:.1%}")
print(model.score(from_array(np.where(missing, table, np.nan))))
