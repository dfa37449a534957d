"""Of several processes that want the same function compiled, one compiles it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError

from manifill import compiled, turns
from manifill.geometry.euclidean import add_scaled
from manifill.turns import Turns

pytest.importorskip("fcntl")

KERNEL = """
import numpy as np
from manifill.geometry.euclidean import add_scaled
print("ready", flush=True)
input()
x = np.zeros(3)
add_scaled(x, 1.0, x)
print(*(sum(counts.values()) for counts in (add_scaled.stats.cache_hits, add_scaled.stats.cache_misses)))
"""

HOLDER = """
import sys
from pathlib import Path
from manifill.turns import Turns
turns = Turns(Path(sys.argv[1]))
assert turns.take("a task")
print("taken", flush=True)
input()
"""


def test_a_turn_is_waited_for(tmp_path: Path) -> None:
    """The other process's turn ends with that process; a turn at another task is free."""
    path = tmp_path / "turns"
    holder = _start(HOLDER, str(path))
    _await_line(holder, "taken")
    mine = Turns(path)
    assert mine.take("another task")
    assert not mine.take("a task"), "a process has one turn at a time"
    mine.give_back("a task")  # which is not the one that it has
    mine.give_back("another task")
    _answer(holder)
    assert mine.take("a task")
    mine.give_back("a task")


def test_nobody_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LONGEST_WAIT", 0.2)
    holder = _start(HOLDER, str(tmp_path / "turns"))
    _await_line(holder, "taken")
    assert not Turns(tmp_path / "turns").take("a task")
    _answer(holder)


@pytest.mark.parametrize("path", [None, Path("no") / "such" / "folder"])
def test_without_a_file_there_are_no_turns(path: Path | None) -> None:
    assert not Turns(path).take("a task")


def test_two_processes_compile_once(tmp_path: Path) -> None:
    """Both find the cache empty at the same moment; one of them loads what the other has made."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    both = [_start(KERNEL, environment=environment) for _ in range(2)]
    for process in both:
        _await_line(process, "ready")
    for process in both:
        _send_line(process)
    answers = sorted(process.communicate(timeout=120)[0].strip() for process in both)
    assert answers == ["0 1", "1 0"], "hits and misses of the cache"


def test_a_function_that_does_not_compile_ends_its_turn() -> None:
    """What does not compile is not saved either."""
    with pytest.raises(TypingError):
        add_scaled("text", 1.0, np.zeros(3))
    assert compiled._turns.take("another task") or compiled._turns._path is None
    compiled._turns.give_back("another task")


def _start(script: str, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def _await_line(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().strip() == line


def _send_line(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def _answer(process: subprocess.Popen[str]) -> str:
    return process.communicate("\n", timeout=120)[0]
