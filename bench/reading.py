"""Memory and time that reading a table takes: ``make bench-reading``.

Each table is read in a process of its own.  Memory is what the process needs at its peak beyond what it needs for a
table of three lines, per observed cell; it should not depend on the length of the text.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

READ = """
import resource, sys, time
from manifill.tables import read_table
read_table(sys.argv[1])
before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
cells = read_table(sys.argv[2]).observations.size
seconds = time.process_time() - start
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / cells, seconds, cells)
"""


def write_tables(folder: Path, cells: int) -> dict[str, Path]:
    """Write tables with so many cells: long with ids, long with names and comments, wide."""
    rng = np.random.default_rng(0)
    keys = np.unique(rng.integers(0, cells // 50 * 20_000, cells))
    rows, cols = np.divmod(keys, 20_000)
    values = rng.integers(1, 11, len(keys)) / 2.0
    paths = {name: folder / f"{name}.csv" for name in ("ids", "names", "wide")}
    with paths["ids"].open("w") as file:
        file.write("userId,movieId,rating,timestamp\n")
        file.writelines(f"{i},{j},{y},{964982703 + i}\n" for i, j, y in zip(rows, cols, values, strict=True))
    with paths["names"].open("w") as file:
        file.write("gene,drug,ic50,comment\n")
        comment = "a comment that is left out, and does not cost memory"
        file.writelines(f'GENE{i},drug {j},{y},"{comment}"\n' for i, j, y in zip(rows, cols, values, strict=True))
    with paths["wide"].open("w") as file:
        file.write("id," + ",".join(f"c{j}" for j in range(300)) + "\n")
        for i in range(cells // 300):
            file.write(f"r{i}," + ",".join(f"{y:.6g}" if y < 1.0 else "" for y in rng.normal(size=300)) + "\n")
    return paths


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=3_000_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder, "small.csv")
        small.write_text("gene,drug,ic50\na,x,1\na,y,2\nb,x,3\n")
        for name, path in write_tables(Path(folder), chosen.cells).items():
            command = [sys.executable, "-c", READ, str(small), str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            memory, seconds, cells = map(float, done.stdout.split())
            size = path.stat().st_size / 2**20
            print(f"{name:6} {size:4.0f} MB of text, {cells:.0f} cells: {memory:.0f} bytes per cell, {seconds:.1f} s")


if __name__ == "__main__":
    main()
