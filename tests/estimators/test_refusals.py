"""A user's mistake: a ValueError that names the argument and what to do, and nothing written or changed."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array

from manifill import Gaussian, MatrixCompletion

TRIPLES = ([0, 1, 2], [0, 1, 0], [1.0, 2.0, 3.0])

DATA: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "negative index": (([0, -1], [0, 1], [1.0, 2.0]), {}, "rows.*-1"),
    "index out of range": (([0, 5], [0, 1], [1.0, 2.0]), {"shape": (3, 3)}, "rows.*5.*shape"),
    "shape too small": (([0, 1], [0, 4], [1.0, 2.0]), {"shape": (2, 2)}, "cols.*4.*shape"),
    "fractional index": (([0, 1.5], [0, 1], [1.0, 2.0]), {}, "rows.*1.5"),
    "lengths": (([0, 1], [0], [1.0, 2.0]), {}, "2, 1 and 2"),
    "NaN": (([0, 1], [0, 1], [1.0, np.nan]), {}, r"values\[1\] is nan"),
    "infinite": (([0, 1], [0, 1], [np.inf, 2.0]), {}, r"values\[0\] is inf"),
    "infinite in an array": ((np.array([[1.0, np.inf], [2.0, 3.0]]),), {}, "values.*inf"),
    "duplicates": (([0, 0], [1, 1], [1.0, 2.0]), {}, "row 0, column 1.*duplicates='average'"),
    "duplicates in a sparse matrix": (
        (coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)),),
        {},
        "duplicates='average'",
    ),
    "empty": (([], [], []), {}, "empty"),
    "all missing": ((np.full((3, 3), np.nan),), {}, "empty"),
    "words": (([0, 1], [0, 1], ["a", "b"]), {}, "values must be numbers"),
    "one-dimensional": ((np.ones(4),), {}, "matrix"),
    "narrow frame": ((pd.DataFrame({"a": [1], "b": [2]}),), {}, "columns"),
    "wide frame": ((pd.DataFrame(np.ones((3, 4))),), {}, "may be long or wide.*layout='wide'"),
    "ids as indices": (([0, 2**40], [0, 1], [1.0, 2.0]), {}, "rows and cols.*DataFrame"),
    "missing label": ((pd.DataFrame({"a": ["x", None], "b": [1, 2], "y": [1.0, 2.0]}),), {}, "'a'.*missing label"),
    "values alone": (([0], None, [1.0]), {}, "go together"),
}

IN_UNITS = {"sigma": 1.0, "noise_prior": (1.0, 1.0), "lambda_": 1.0, "lambda_prior": (1.0, 1.0)}

SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "rank zero": ({"rank": 0}, "rank.*0"),
    "rank negative": ({"rank": -2}, "rank.*-2"),
    "rank too high": ({"rank": 3}, r"rank=3.*min\(m, n\) = 2"),
    "rank fractional": ({"rank": 1.5}, "rank.*1.5"),
    "no draws": ({"draws": 0}, "draws.*0"),
    "no chains": ({"chains": 0}, "chains.*0"),
    "negative warmup": ({"warmup": -1}, "warmup.*-1"),
    "no jobs": ({"jobs": 0}, "jobs.*0"),
    "seed": ({"seed": -1}, "seed.*-1"),
    "sampler": ({"sampler": "hmc"}, "sampler='hmc'.*'joint', 'gibbs', 'factors'"),
    "effects": ({"effects": "multiplicative"}, "effects='multiplicative'.*'additive', None"),
    "effects, not a word": ({"effects": True}, "effects=True.*'additive', None"),
    "noise": ({"noise": "cell"}, "noise='cell'.*'shared', 'row', 'column', 'both'"),
    "tails": ({"tails": "cauchy"}, "tails='cauchy'.*'normal', 'student'"),
    "tails in vain": ({"likelihood": "binomial", "trials": 5, "tails": "student"}, "tails='student'.*'binomial'"),
    "noise in vain": ({"likelihood": "binomial", "trials": 5, "noise": "column"}, "noise='column'.*'binomial'"),
    "noise prior in vain": (
        {"likelihood": "binomial", "trials": 5, "noise_prior": "paper"},
        "noise_prior='paper'.*'binomial'",
    ),
    "noise by column with gibbs": ({"sampler": "gibbs", "noise": "column"}, "noise.*sampler='joint'"),
    "tails with gibbs": ({"sampler": "gibbs", "tails": "student"}, "tails='normal', or sampler='joint'"),
    "noise prior's name": ({"noise_prior": "flat"}, "noise_prior='flat'.*'paper'"),
    "sigma and its prior": ({"sigma": 1.0, "noise_prior": (1.0, 1.0)}, "sigma fixes.*one of them"),
    "lambda and its prior": ({"lambda_": 1.0, "lambda_prior": (1.0, 1.0)}, "lambda_ fixes.*one of them"),
    "lambda with factors": ({"sampler": "factors", "lambda_": 1.0}, "lambda_=1.0.*'factors'"),
    "lambda prior with factors": ({"sampler": "factors", "lambda_prior": (1.0, 1.0)}, "lambda_prior.*'factors'"),
    "column scales": ({"column_scales": "log"}, "column_scales='log'.*'auto', 'standardize', None"),
    "scaled counts": (
        {"likelihood": "binomial", "trials": 5, "column_scales": "standardize"},
        "column_scales='standardize'.*'binomial'",
    ),
    "likelihood": ({"likelihood": "weibull"}, "likelihood='weibull'.*'gaussian', 'softplus', 'binomial'"),
    "likelihood object": ({"likelihood": 3}, "custom_likelihood"),
    "likelihood class": ({"likelihood": Gaussian}, "neither a name"),
    "no trials": ({"likelihood": "binomial"}, "needs trials"),
    "trials zero": ({"likelihood": "binomial", "trials": 0}, "trials.*0"),
    "trials in vain": ({"trials": 5}, "trials.*'gaussian'"),
    "too few trials": ({"likelihood": "binomial", "trials": 2}, "the data hold 3.*trials=2"),
    "step": ({"likelihood": "binomial", "trials": 5, "step": 0.0}, "step.*0"),
    "off the steps": ({"likelihood": "binomial", "trials": 9, "step": 0.7}, "the data hold 1.*step=0.7"),
    "sigma": ({"sigma": 0.0}, "sigma.*0"),
    "sigma in vain": ({"likelihood": "binomial", "trials": 5, "sigma": 1.0}, "sigma=1.0.*'binomial'"),
    "lambda": ({"lambda_": -1.0}, "lambda_.*-1"),
    "noise prior": ({"noise_prior": 3}, "noise_prior.*3"),
    "noise prior's rate": ({"noise_prior": (1.0, 0.0)}, "rate in noise_prior.*0"),
    "lambda prior": ({"lambda_prior": (1.0,)}, "lambda_prior"),
    "acceptance": ({"target_acceptance": 1.0}, "target_acceptance.*1.0"),
    "depth": ({"max_depth": 0}, "max_depth.*0"),
    "step in vain": ({"step": 0.5}, "step.*'gaussian'"),
    "offset in vain": ({"offset": 1.0}, "offset.*'gaussian'"),
    "duplicates": ({"duplicates": "sum"}, "duplicates.*'sum'"),
    "factors with another likelihood": ({"sampler": "factors", "likelihood": "softplus"}, "factors.*'softplus'"),
}

for prior, value in IN_UNITS.items():
    changes = {"column_scales": "standardize", prior: value}
    SETTINGS[f"standardize with {prior}"] = changes, f"standardize.*{prior}.*leave one of them out"


def check_refusal(model: MatrixCompletion, arguments: tuple[Any, ...], keywords: dict[str, Any], message: str) -> None:
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message) as refused:
        model.fit(*arguments, **keywords)
    assert len(str(refused.value)) < 400
    assert vars(model) == before


@pytest.mark.parametrize("name", DATA)
def test_data(name: str, tmp_path: Path) -> None:
    arguments, keywords, message = DATA[name]
    check_refusal(MatrixCompletion(rank=1, progress=False, path=tmp_path / "run"), arguments, keywords, message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name: str, tmp_path: Path) -> None:
    changes, message = SETTINGS[name]
    check_refusal(MatrixCompletion(**{"rank": 1, "path": tmp_path / "run", **changes}), TRIPLES, {}, message)
    assert list(tmp_path.iterdir()) == []


def test_a_used_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    check_refusal(MatrixCompletion(rank=1, path=tmp_path), TRIPLES, {}, "path|folder|store")
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.filterwarnings("ignore::manifill.ConvergenceWarning")
def test_duplicates_can_be_averaged() -> None:
    model = MatrixCompletion(rank=1, duplicates="average", draws=2, warmup=0, chains=1, jobs=1, progress=False)
    model.fit([0, 0, 1, 2], [0, 0, 1, 0], [1.0, 3.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.observations_.triples()[2], [2.0, 2.0, 3.0])
