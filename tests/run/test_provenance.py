"""The settings of a run compared with those of a request to resume it."""

from typing import Any

import pytest

from manifill import MatrixCompletion
from manifill.likelihoods import Binomial
from manifill.run.provenance import difference


def attributes(**settings: Any) -> dict[str, Any]:
    known = {name: value for name, value in MatrixCompletion(seed=1, **settings).get_params().items() if name != "path"}
    return {"seed": 1, "fingerprint": "same", "held_out": None, "settings": known}


def test_the_same_request_does_not_differ() -> None:
    assert difference(attributes(rank=3), attributes(rank=3)) is None


@pytest.mark.parametrize("name", ["offset", "off_components"])
def test_a_run_from_before_a_setting_had_its_default(name: str) -> None:
    before = attributes()
    del before["settings"][name]
    assert difference(before, attributes()) is None


def test_a_likelihood_from_before_it_had_a_constant_is_the_same() -> None:
    before, now = attributes(), attributes()
    before["settings"]["likelihood"] = {"name": "binomial", "trials": 10, "step": 0.5}
    now["settings"]["likelihood"] = Binomial(10, 0.5).to_json()
    assert difference(before, now) is None
    now["settings"]["likelihood"] = Binomial(10, 0.5, 0.5).to_json()
    assert "likelihood" in str(difference(before, now))


def test_a_setting_that_changes_values_is_named() -> None:
    before = attributes(likelihood="binomial", trials=4)
    del before["settings"]["offset"]
    assert "offset=1.0" in str(difference(before, attributes(likelihood="binomial", trials=4, offset=1.0)))
