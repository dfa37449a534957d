"""Commands with options and values chosen at random, most of them odd."""

from random import Random

__all__ = ["command_words"]

Words = tuple[str, ...]

NUMBERS = ("0", "1", "2", "3", "-1", "0.5", "1e-9", "1e9", "nan", "inf", "-inf", "", "x", "1,5", "٣", "9" * 30, "1_0")
COUNTS = ("0", "1", "2", "-1", "", "x", "1.5", "1e1", "٢", "-" + "9" * 30)  # none that would take long
NAMES = (
    "",
    "id",
    "a",
    "b",
    "userId",
    "movieId",
    "rating",
    "who",
    "x",
    "0",
    "nobody",
    "=f()",
    "a\nb",
    "\ud800",
    "[red]",
)
SIZES = ("0", "1", "100", "1KB", "1GB", "2 MiB", "-1", "x", "", "1e3", "9" * 30)
TABLES = (
    "new.csv", "new.tsv", "new.parquet", "new.csv.gz", "new.xlsx", "new", "old.csv", "other", "missing/new.csv", "",
    ".", "old.csv/new.csv", "run/data.npz", "a\nb.csv", "x" * 300 + ".csv", "run/draws.zarr/new.csv",
)  # fmt: skip
FOLDERS = ("new", "new/er", "old.csv", "old.csv/new", "other", "run", "run/draws.zarr", "", ".", "a\nb", "x" * 300)
RUNS = ("run",) * 6 + ("run/", "other", "missing", "old.csv", "", ".", "run/draws.zarr", "\ud800", "x" * 300)
FLAG: Words = ()

FIT: dict[str, Words] = {
    "--row": NAMES, "--col": NAMES, "--value": NAMES, "--id": NAMES, "--wide": FLAG, "--long": FLAG,
    "--duplicates": ("average", "error", "x"), "--missing": ("-999", "-999,NA,-", ",", "", "x", "nan", "1,2,3"),
    "--max-size": SIZES, "--likelihood": ("gaussian", "softplus", "binomial", "poisson", "x", ""), "--trials": NUMBERS,
    "--step": NUMBERS, "--offset": NUMBERS,
    "--rank": NUMBERS, "--effects": FLAG, "--no-effects": FLAG, "--noise": ("shared", "column", "x"),
    "--sigma": NUMBERS, "--noise-prior": ("paper", "x"), "--lambda": NUMBERS, "--sampler": ("joint", "factors", "x"),
    "--column-scales": ("auto", "standardize", "none", "x"), "--chains": COUNTS, "--warmup": COUNTS, "--draws": COUNTS,
    "--target-acceptance": NUMBERS, "--max-depth": COUNTS, "--seed": NUMBERS, "--jobs": ("0", "-1", "x", "1"),
    "--hold-out": ("0", "5%", "0.3", "2", "100%", "99", "-1", "x", "nan", "inf", "%", ""),
    "--hold-out-by": ("cell", "row", "column", "block", "x"), "--json": FLAG, "--quiet": FLAG, "--out": FOLDERS,
    "--overwrite": FLAG, "--resume": FLAG, "--x": NUMBERS, "-h": FLAG,
}  # fmt: skip
TABLE_OUT: dict[str, Words] = {"--out": TABLES, "--raw-labels": FLAG, "--skip-damaged": FLAG, "-q": FLAG, "--x": FLAG}
READ: dict[str, dict[str, Words]] = {
    "predict": {"--interval": NUMBERS, "--max-size": SIZES, **TABLE_OUT},
    "complete": {"--long": FLAG, "--wide": FLAG, **TABLE_OUT},
    "top": {"--n": COUNTS, "-n": NUMBERS, "--json": FLAG, "--skip-damaged": FLAG, "--quiet": FLAG},
    "diagnose": {"--verify": FLAG, "--json": FLAG, "--skip-damaged": FLAG, "--quiet": FLAG, "--help": FLAG},
    "report": {"--out": ("new.html", "other", "missing/new.html", "old.csv/x", ""), "--skip-damaged": FLAG},
}
WEIGHTS = {"fit": 8, "predict": 6, "complete": 4, "top": 4, "diagnose": 4, "report": 1, "": 1}
OTHERS: tuple[Words, ...] = (
    (), ("--help",), ("--version",), ("--x",), ("fits",), ("fit",), ("fit", "--help"), ("predict", "run"),
    ("top", "run"), ("demo", "--draws", "x"), ("demo", "--draws", "0"), ("reproduce", "x"),
    ("reproduce", "--quick", "--full"), ("reproduce", "fig-rank", "--jobs", "0"),
    ("reproduce", "fig-rank", "--cases", "x"), ("", ""), ("\ud800",),
)  # fmt: skip
SMALL = ("--rank", "1", "--chains", "1", "--warmup", "2", "--draws", "3", "--jobs", "1", "--seed", "5")


def command_words(random: Random, table: str) -> Words:
    """Return the words of a command in a folder with a table, ``ratings.csv``, ``pairs.csv``, ``run`` and others."""
    (command,) = random.choices(list(WEIGHTS), list(WEIGHTS.values()))
    if not command:
        return random.choice(OTHERS)
    if command == "fit":
        return _fit(random, table)
    words: Words = (command, random.choice(RUNS))
    if command == "predict":
        words += (random.choice((table, "pairs.csv", "pairs.csv", "pairs.csv", "missing.csv", "run", "")),)
    if command == "top":
        words += ("--row", random.choice(("7", "30", "ann", "=c()", *NAMES)))
    return words + _options(random, READ[command], (0, 0, 1, 2, 3))


def _fit(random: Random, table: str) -> Words:
    if random.random() < 0.25:
        words = ("fit", random.choice(("ratings.csv", "ratings.csv", table)), "--out", "run", "--jobs", "1")
        how = random.choice(("--resume", "--resume", "--overwrite"))
        settings = random.choice((SMALL, (), ("--draws", "7"))) if how == "--resume" else SMALL
        return (*words, how, *settings, *_options(random, FIT, (0, 0, 1)))
    file = random.choice((table, table, "ratings.csv", "ratings.csv", "ratings.csv", "missing.csv", "run", ""))
    sampler = ("--sampler", "factors", "--no-effects") if random.random() < 0.8 else ()
    return ("fit", file, *SMALL, *sampler, *_options(random, FIT, (0, 0, 1, 1, 1, 2)))


def _options(random: Random, known: dict[str, Words], counts: tuple[int, ...]) -> Words:
    """Return some options with their values."""
    chosen = random.sample(sorted(known), min(random.choice(counts), len(known)))
    return tuple(word for option in chosen for word in (option, *random.choices(known[option], k=bool(known[option]))))
