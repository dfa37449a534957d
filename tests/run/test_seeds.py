"""Random streams by name: their spawn keys are stored results' only link to their random numbers."""

import re
from pathlib import Path

import numpy as np

import manifill
from manifill.run.seeds import Stream, chain_seeds, generator

SOURCE = Path(manifill.__file__).parent


def test_keys_never_change() -> None:
    keys = {"DIAGNOSTICS": 1073741824, "PREDICTION": 1073741825, "HELD_OUT": 1073741826, "RANK": 1073741827}
    keys |= {"TRANSFORM": 1073741828, "IMPUTATION": 1073741829, "REPORT": 2147483648}
    assert {stream.name: int(stream) for stream in Stream} == keys


def test_chains_have_the_seeds_that_spawning_gives() -> None:
    spawned = np.random.SeedSequence(5).spawn(3)
    for mine, expected in zip(chain_seeds(5, 3), spawned, strict=True):
        np.testing.assert_array_equal(mine.generate_state(8), expected.generate_state(8))


def test_a_stream_is_a_child_of_the_seed() -> None:
    expected = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(1 << 31, 2))).random(4)
    np.testing.assert_array_equal(generator(5, Stream.REPORT, 2).random(4), expected)


def test_spawn_keys_are_numbered_in_one_file() -> None:
    numbering = [p.name for p in SOURCE.rglob("*.py") if re.search(r"spawn_key|\.spawn\(|1 << 3\d", p.read_text())]
    assert numbering == ["seeds.py"]
