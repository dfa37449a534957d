"""Processor time and memory of this process and its workers, which may still be alive."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")  # per second


def processor_seconds() -> float:
    """Return user and system time of this process and of all its descendants."""
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    workers = sum(_ticks(pid) for pid in _descendants(os.getpid())) / TICKS
    return sum(usage.ru_utime + usage.ru_stime for usage in own) + workers


def peak_megabytes() -> float:
    """Return the peak resident memory of the largest process."""
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    kilobytes = [*(usage.ru_maxrss for usage in own), *(_peak(pid) for pid in _descendants(os.getpid()))]
    return max(kilobytes) / 1024.0


def _descendants(pid: int) -> Iterator[int]:
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, file.read_text().split()):
            yield child
            yield from _descendants(child)


def _ticks(pid: int) -> int:
    """Return user and system time of a process and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:  # it ended, and is in RUSAGE_CHILDREN
        return 0
    return sum(map(int, fields[11:15]))


def _peak(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return max((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), default=0)
