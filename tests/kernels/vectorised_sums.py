"""Prints how many loops of all kernels compare addresses, and those of them that accumulate a sum.

The kernels must be compiled, not loaded: run it with an empty ``NUMBA_CACHE_DIR``.
"""

import re
from collections.abc import Iterator
from typing import Any

from manifill.base import jit

Blocks = dict[str, str]

_dispatchers: list[Any] = []
_plain: Any = jit._compile


def _collected(function: Any, flags: set[str], **wrappers: bool) -> Any:
    _dispatchers.append(_plain(function, flags, **wrappers))
    return _dispatchers[-1]


def compile_everything() -> None:
    """Fit with every sampler, likelihood and kind of noise."""
    import warnings

    import numpy as np

    import manifill

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    counts = rng.poisson(3.0, (40, 30)).clip(0, 10).astype(float)
    table = np.where(rng.random(counts.shape) < 0.6, counts, np.nan)
    for settings in (
        {"sampler": "joint"},
        {"sampler": "joint", "noise": "column"},
        {"sampler": "gibbs"},
        {"sampler": "factors", "effects": None},
        {"likelihood": "softplus"},
        {"likelihood": "binomial", "trials": 10},
        {"likelihood": "poisson"},
    ):
        model = manifill.MatrixCompletion(rank=2, chains=1, warmup=4, draws=3, seed=1, jobs=1, progress=False)
        model.set_params(**settings).fit(table)


def functions(code: str) -> Iterator[Blocks]:
    """Yield the basic blocks of every function in a module, by label."""
    for text in re.split(r"^define ", code, flags=re.MULTILINE)[1:]:
        pieces = re.split(r'^"?([\w.$\-]+)"?:', text, flags=re.MULTILINE)
        yield dict(zip(pieces[1::2], pieces[2::2], strict=True))


def loops_after(blocks: Blocks, check: str) -> Iterator[str]:
    """Yield the vectorised loops that are entered if the addresses pass the check."""
    seen, found = {check}, [check]
    while found:
        for label in re.findall(r'label %"?([\w.$\-]+)"?', blocks[found.pop()]):
            if label in seen or not label.startswith(("vector.", "vec.epilog")):
                continue
            seen.add(label)
            if "vector.body" in label:
                yield label
            else:
                found.append(label)


def main() -> None:
    """Compile, and print."""
    setattr(jit, "_compile", _collected)  # noqa: B010 - of another type
    compile_everything()
    checks, offenders = 0, set()
    for dispatcher in _dispatchers:
        for signature in dispatcher.overloads:
            for blocks in functions(dispatcher.inspect_llvm(signature)):
                for check in (label for label in blocks if label.startswith("vector.memcheck")):
                    checks += 1
                    if any(re.search(r"= phi <\d+ x double>", blocks[loop]) for loop in loops_after(blocks, check)):
                        offenders.add(f"{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}")
    print(checks, *sorted(offenders), sep="\n")


if __name__ == "__main__":
    main()
