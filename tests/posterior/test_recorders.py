"""Records of chains, whole and interrupted."""

import itertools

import numpy as np
import pytest

from manifill.posterior import Draws, MemoryRecorder, largest_rectangle
from tests.posterior.runs import ATTRIBUTES, VARIABLES, memory_records, random_draw, random_statistics


def test_memory_recorder_returns_what_it_was_given() -> None:
    rng = np.random.default_rng(0)
    given = [(random_draw(rng), random_statistics(rng)) for _ in range(5)]
    recorder = MemoryRecorder(VARIABLES, 5)
    for draw, statistics in given:
        recorder.append(draw, statistics)
    record = recorder.finish()
    assert record.draws == 5
    for name, values in record.posterior.items():
        np.testing.assert_array_equal(values, np.array([draw[name] for draw, _ in given]))
    np.testing.assert_array_equal(record.statistics["lp"], [statistics["lp"] for _, statistics in given])
    assert record.warmup_statistics == {}


def test_memory_recorder_copies_what_the_sampler_may_overwrite() -> None:
    recorder, draw = MemoryRecorder(VARIABLES, 1), random_draw(np.random.default_rng(0))
    before = draw["U"].copy()
    recorder.append(draw, {"lp": 0.0})
    draw["U"][:] = np.nan
    np.testing.assert_array_equal(recorder.finish().posterior["U"][0], before)


def test_memory_recorder_is_cut_to_the_completed_draws() -> None:
    recorder = MemoryRecorder(VARIABLES, 100)
    recorder.append(random_draw(np.random.default_rng(0)), {"lp": 0.0})
    record = recorder.finish()
    assert record.draws == 1
    assert {name: values.shape for name, values in record.posterior.items()} == {
        v.name: (1, *v.shape) for v in VARIABLES
    }


@pytest.mark.parametrize(
    ("counts", "kept", "length"),
    [
        ([5, 5, 5], [0, 1, 2], 5),
        ([10, 0, 9], [0, 2], 9),
        ([10, 1, 1], [0], 10),
        ([4, 2], [0, 1], 2),  # a tie with one chain of 4
        ([0, 3], [1], 3),
    ],
)
def test_largest_rectangle_of_known_cases(counts: list[int], kept: list[int], length: int) -> None:
    assert largest_rectangle(counts) == (kept, length)


def test_no_choice_of_chains_and_draws_beats_the_largest_rectangle() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        counts = rng.integers(0, 6, size=4).tolist()
        if not any(counts):
            continue
        kept, length = largest_rectangle(counts)
        assert all(counts[chain] >= length for chain in kept)
        subsets = itertools.chain.from_iterable(itertools.combinations(counts, size) for size in range(1, 5))
        assert len(kept) * length == max(len(subset) * min(subset) for subset in subsets)


def test_draws_of_interrupted_chains_are_the_rectangle() -> None:
    records = memory_records([4, 0, 7, 5], warmup=2)
    expected = {v.name: np.stack([records[chain].posterior[v.name][:4] for chain in (0, 2, 3)]) for v in VARIABLES}
    draws = Draws.from_records(records, ATTRIBUTES)
    assert (draws.chains, draws.draws) == (3, 4)
    for name, values in expected.items():
        np.testing.assert_array_equal(draws.posterior[name], values)
    np.testing.assert_array_equal(draws.statistics["lp"][1], records[2].statistics["lp"][:4])
    np.testing.assert_array_equal(draws.warmup_statistics["lp"][2], records[3].warmup_statistics["lp"])


def test_a_run_without_draws_says_why() -> None:
    with pytest.raises(ValueError, match="interrupted during warm-up"):
        Draws.from_records(memory_records([0, 0]), {})
