"""Checkpoints: every sampler goes on from one as if it had never stopped, and a damaged one is an error."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from manifill.likelihoods import WithNoise
from manifill.problem import Model, Observations
from manifill.sampling import checkpoint
from manifill.sampling.checkpoint import (
    CannotResumeError,
    Checkpoint,
    load_checkpoint,
    restored_generator,
    save_checkpoint,
)
from manifill.sampling.factor_gibbs import Factors
from manifill.sampling.joint_sampler import Joint
from manifill.sampling.paper_gibbs import Gibbs
from tests.exact.cases import EFFECTS, HEAVY
from tests.problem.likelihoods import noise_of
from tests.sampling.problems import LIKELIHOODS, AnySampler

DATA = Observations.from_triples([0, 0, 1, 2, 3], [0, 1, 1, 0, 2], np.array([1.0, 2.0, 1.0, 3.0, 2.0]), (4, 3))
GAUSSIAN = LIKELIHOODS["gaussian"]
SAMPLERS: dict[str, Callable[[], AnySampler]] = {
    "joint": lambda: Joint(Model(2, GAUSSIAN, 1.0, WithNoise(HEAVY), effects=EFFECTS), DATA, warmup=20),
    "joint, all noise": lambda: Joint(Model(1, GAUSSIAN, 1.0, noise_of(GAUSSIAN, HEAVY, "all")), DATA, warmup=20),
    "factors, all noise": lambda: Factors(Model(1, GAUSSIAN, 1.0, noise_of(GAUSSIAN, HEAVY, "all")), DATA),
    "gibbs": lambda: Gibbs(Model(1, GAUSSIAN, 1.0, WithNoise(HEAVY), effects=EFFECTS), DATA),
    "factors": lambda: Factors(Model(1, GAUSSIAN, 1.0, WithNoise(HEAVY)), DATA),
}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("warm", [3, 20])
def test_a_chain_goes_on_bit_for_bit(name: str, warm: int, tmp_path: Path) -> None:
    """Stopped in warm-up, and after it; the sampler that goes on is another object, as it is in another process."""
    sampler, rng = SAMPLERS[name](), np.random.default_rng(1)
    state, tuning = sampler.start(rng)
    for _ in range(warm):
        state, info = sampler.step(rng, state, tuning)
        tuning = sampler.adapt(tuning, info)
    if warm == 20:
        tuning = sampler.freeze(tuning)
    path = tmp_path / "chain.npz"
    save_checkpoint(path, Checkpoint(warm, state, tuning, rng.bit_generator.state, None))
    other = SAMPLERS[name]()
    found = load_checkpoint(path, other.classes)
    assert found is not None
    assert found.iteration == warm
    state2, tuning2, rng2 = found.state, found.tuning, restored_generator(found.generator)
    for _ in range(5):
        state, info = sampler.step(rng, state, tuning)
        state2, info2 = other.step(rng2, state2, tuning2)
        for key, value in sampler.draw(state).items():
            np.testing.assert_array_equal(other.draw(state2)[key], value)
        assert other.statistics(state2, tuning2, info2) == sampler.statistics(state, tuning, info)


def saved(path: Path) -> bytes:
    sampler, rng = SAMPLERS["factors"](), np.random.default_rng(1)
    state, tuning = sampler.start(rng)
    save_checkpoint(path, Checkpoint(0, state, tuning, rng.bit_generator.state, None))
    assert load_checkpoint(path, sampler.classes) is not None
    return path.read_bytes()


def test_no_file_is_no_checkpoint(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path / "nowhere.npz", ()) is None


def test_a_truncated_checkpoint_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "chain.npz"
    whole = saved(path)
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        with pytest.raises(CannotResumeError, match=r"chain\.npz cannot be read .* or delete it"):
            load_checkpoint(path, SAMPLERS["factors"]().classes)


def test_a_damaged_byte_is_reported(tmp_path: Path) -> None:
    """In the JSON as in the arrays; a changed digit would otherwise be another state of the chain."""
    path = tmp_path / "chain.npz"
    whole = saved(path)
    begin = whole.index(b'{"format"')
    end = whole.index(b"PK", begin)  # where the entry of the first array begins
    for position in (*range(begin, end, 7), *range(0, len(whole), 61)):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        try:
            found = load_checkpoint(path, SAMPLERS["factors"]().classes)
        except CannotResumeError:
            continue
        assert not begin <= position < end  # but a byte without meaning, such as the time in a header
        assert found is not None
        np.testing.assert_equal(found, load_undamaged(tmp_path / "whole.npz", whole))


def load_undamaged(path: Path, whole: bytes) -> Checkpoint | None:
    path.write_bytes(whole)
    return load_checkpoint(path, SAMPLERS["factors"]().classes)


def test_another_format_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "chain.npz"
    monkeypatch.setattr(checkpoint, "FORMAT", 7)
    saved(path)
    monkeypatch.undo()
    with pytest.raises(CannotResumeError, match="it has the format 7, and this version of manifill reads 2"):
        load_checkpoint(path, SAMPLERS["factors"]().classes)


def test_only_named_classes_come_out(tmp_path: Path) -> None:
    path = tmp_path / "chain.npz"
    saved(path)
    with pytest.raises(CannotResumeError, match="which this sampler does not know"):
        load_checkpoint(path, (dict,))
    np.savez(path, tree=np.array([{"format": 1}], dtype=object))  # a pickle
    path.write_bytes(checkpoint._with_checksum(path.read_bytes()))
    with pytest.raises(CannotResumeError, match="pickle"):
        load_checkpoint(path, SAMPLERS["factors"]().classes)


def test_a_file_in_the_way_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "chain.npz"
    saved(path)
    saved(path)
    assert [file.name for file in tmp_path.iterdir()] == ["chain.npz"]
