"""What the kernel knows of a process: memory, descriptors, processor time."""

import contextlib
from pathlib import Path

MB = 1 << 20


def resident_bytes(pid: int) -> int:
    return _status_bytes(pid, "VmRSS")


def peak_resident_bytes(pid: int) -> int:
    """Since its start, or since `forget_peak`."""
    return _status_bytes(pid, "VmHWM")


def forget_peak(pid: int) -> None:
    """proc(5): writing 5 to clear_refs sets the peak to what is resident now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def open_files(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def deleted_files_open(pid: int) -> list[str]:
    """Their bytes are still on the disk."""
    targets = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(str(link.readlink()))
    return [target for target in targets if target.endswith("(deleted)")]


def children(pid: int) -> list[int]:
    """What its threads have started."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in lists for child in each.read_text().split()]


def has_stopped(pid: int) -> bool:
    """Each of its threads stands still, as after SIGSTOP."""
    threads = Path(f"/proc/{pid}/task").glob("*/stat")
    return all(each.read_text().rpartition(")")[2].split()[0] in "Tt" for each in threads)


def _status_bytes(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"/proc/{pid}/status has no {name}")
