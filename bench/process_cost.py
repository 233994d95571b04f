"""What a process and its children cost: CPU seconds to the nanosecond, memory as the kernel counts it."""

import time
from dataclasses import dataclass
from pathlib import Path

_SCHED_CLOCK = 2


@dataclass(frozen=True)
class Memory:
    rss_mb: float
    pss_mb: float
    anonymous_mb: float
    """Without mapped files: what the process itself allocated."""


def process_tree(pid: int) -> list[int]:
    tree = [pid]
    for parent in tree:
        try:
            for task in Path(f"/proc/{parent}/task").iterdir():
                tree.extend(int(child) for child in (task / "children").read_text().split())
        except OSError:
            continue  # It ended while we looked.
    return tree


def cpu_seconds(pid: int) -> float:
    """Read from each process's CPU clock: /proc/<pid>/stat counts in hundredths, too coarse for a short run."""
    total = 0.0
    for member in process_tree(pid):
        try:
            total += time.clock_gettime(~member << 3 | _SCHED_CLOCK)
        except OSError:
            continue
    return total


def memory(pid: int) -> Memory:
    sums = {"Rss": 0, "Pss": 0, "Anonymous": 0}
    for member in process_tree(pid):
        try:
            lines = Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, rest = line.partition(":")
            if name in sums:
                sums[name] += int(rest.split()[0])
    return Memory(sums["Rss"] / 1024, sums["Pss"] / 1024, sums["Anonymous"] / 1024)
