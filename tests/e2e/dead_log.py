"""A partition's directory while no broker has it open: what must come back, and how a power failure may hurt it.

Reads the files by itself, so that it can say what a recovery has to arrive at. Damage is done only past what the
broker had made durable: bytes after the recovery point, and files that are rebuilt from those.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from moldau.core.errors import PeerError
from moldau.protocol.records.batch import ATTRIBUTES_AT, HEADER_SIZE, BatchHeader, crc_matches, iter_headers

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LEFTOVERS = (".cleaned", ".swap", ".tmp")


class DeadPartition:
    def __init__(self, log_dir: Path, topic: str, partition: int) -> None:
        self.topic = topic
        self.partition = partition
        self.directory = log_dir / f"{topic}-{partition}"
        self.recovery_point = _recovery_points(log_dir).get((topic, partition), 0)

    def segments(self) -> list[Path]:
        return sorted(self.directory.glob("*.log"))

    def end_offset(self) -> int:
        """Where a recovery must end: after the last whole batch before the first broken one."""
        end = 0
        for path in self.segments():
            end = max(end, base_offset(path))
            whole_bytes = 0
            for position, header in whole_batches(path):
                end = header.next_offset
                whole_bytes = position + header.size
            if whole_bytes < path.stat().st_size:
                break
        return end

    def unflushed(self, durable_offset: int) -> list[tuple[Path, int, int]]:
        """Each segment that may have lost bytes, with where the first and the last of them could be."""
        exposed = []
        for path in self.segments():
            start = end = 0
            for position, header in whole_batches(path):
                end = position + header.size
                if header.next_offset <= durable_offset:
                    start = end
            if end > start:
                exposed.append((path, start, end))
        return exposed

    def rebuilt_files(self) -> list[Path]:
        """Indexes of the segments a recovery scans, and the snapshots it must not rely on."""
        segments = self.segments()
        files = []
        for path, following in zip(segments, [*segments[1:], None], strict=True):
            if following is None or base_offset(following) > self.recovery_point:
                files += [path.with_suffix(".index"), path.with_suffix(".timeindex")]
        snapshots = self.directory.glob("*.snapshot")
        files += [path for path in snapshots if base_offset(path) > self.recovery_point]
        return sorted(path for path in files if path.exists())

    def leftovers(self) -> list[str]:
        return sorted(path.name for path in self.directory.iterdir() if path.name.endswith(LEFTOVERS))


def base_offset(path: Path) -> int:
    return int(path.name.split(".")[0])


def whole_batches(path: Path) -> Iterator[tuple[int, BatchHeader]]:
    """Up to the first that is torn or damaged."""
    content = memoryview(path.read_bytes())
    with contextlib.suppress(PeerError):
        for position, header in iter_headers(content):
            if not crc_matches(content, position, header.size):
                return
            yield position, header


def _recovery_points(log_dir: Path) -> dict[tuple[str, int], int]:
    path = log_dir / RECOVERY_POINTS
    if not path.exists():
        return {}
    entries = (line.split() for line in path.read_text().splitlines()[2:])
    return {(topic, int(partition)): int(offset) for topic, partition, offset in entries}


def hurt(dead: DeadPartition, durable_offset: int, rng: Random) -> str:
    """Does some of what a power failure does; says what."""
    done = []
    if rng.random() < 0.7:
        done.append(_hurt_log(dead, durable_offset, rng))
    rebuilt = dead.rebuilt_files()
    for path in rng.sample(rebuilt, min(len(rebuilt), rng.randrange(4))):
        done.append(_hurt_rebuilt(path, rng))
    if rng.random() < 0.4:
        done.append(_leave_over(dead, rng))
    return f"{dead.directory.name}: {', '.join(done) or 'nothing'}"


def _hurt_log(dead: DeadPartition, durable_offset: int, rng: Random) -> str:
    exposed = dead.unflushed(durable_offset)
    active = dead.segments()[-1]
    ways: list[Callable[[], str]] = [lambda: _append(active, rng.randbytes(rng.randrange(1, 300)), "noise")]
    ways.append(lambda: _append(active, bytes(rng.choice((1, 61, 512, 4096))), "zeros"))
    if exposed:
        path, start, end = rng.choice(exposed)
        at = rng.randrange(start, end)
        ways += [
            lambda: _truncate(path, at),
            lambda: _overwrite(path, at, bytes(path.stat().st_size - at), "zeroed from"),
            lambda: _flip(path, start, rng),
        ]
    return rng.choice(ways)()


def _append(path: Path, data: bytes, what: str) -> str:
    with path.open("ab") as file:
        file.write(data)
    return f"{len(data)} bytes of {what} after {path.name}"


def _truncate(path: Path, size: int) -> str:
    with path.open("r+b") as file:
        file.truncate(size)
    return f"{path.name} cut at {size}"


def _overwrite(path: Path, at: int, data: bytes, what: str) -> str:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)
    return f"{path.name} {what} {at}"


def _flip(path: Path, start: int, rng: Random) -> str:
    """Changes a byte the CRC covers, in one batch past `start`."""
    batches = [(position, header) for position, header in whole_batches(path) if position >= start]
    position, header = rng.choice(batches)
    at = position + rng.randrange(ATTRIBUTES_AT, max(header.size, HEADER_SIZE))
    byte = path.read_bytes()[at] ^ rng.randrange(1, 256)
    return _overwrite(path, at, bytes([byte]), "one byte changed at")


def _hurt_rebuilt(path: Path, rng: Random) -> str:
    size = path.stat().st_size
    way = rng.choice(("cut", "noise", "longer", "gone"))
    if way == "cut":
        return _truncate(path, rng.randrange(size + 1))
    if way == "noise":
        return _overwrite(path, 0, rng.randbytes(max(size, 24)), "filled with noise from")
    if way == "longer":
        return _append(path, rng.choice((bytes(40), rng.randbytes(37))), "noise")
    path.unlink()
    return f"{path.name} gone"


def _leave_over(dead: DeadPartition, rng: Random) -> str:
    """What an interrupted compaction or an interrupted replacement of a file leaves."""
    path = rng.choice(dead.segments())
    way = rng.choice(("cleaned", "swap", "tmp", "deleted"))
    if way == "cleaned":
        # Half written: it may hold anything, the original is still in place.
        target = path.with_name(path.name + ".cleaned")
        target.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size + 1)])
    elif way == "swap":
        # Complete and about to replace its original, which could not be better than a copy of it.
        if len(dead.segments()) < 2:
            return "nothing left over"
        path = dead.segments()[0]
        target = path.with_name(path.name + ".swap")
        shutil.copyfile(path, target)
    elif way == "tmp":
        target = dead.directory / "leader-epoch-checkpoint.tmp"
        target.write_bytes(rng.randbytes(20))
    else:
        target = path.with_name(f"{base_offset(path) + 10**9:020d}.log.deleted")
        target.write_bytes(rng.randbytes(100))
    return f"{target.name} left over"
