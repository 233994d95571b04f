"""Log files on disk: finds them and decodes each kind. Never writes.

Raises `FileDamage` with the position of the damage, after yielding everything before it.
"""

import mmap
import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from crc32c import crc32c

from moldau.protocol.records.batch import (
    HEADER_SIZE,
    LENGTH_AT,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    read_header,
)

LOG, INDEX, TIME_INDEX, TXN_INDEX, SNAPSHOT = ".log", ".index", ".timeindex", ".txnindex", ".snapshot"
LEADER_EPOCHS: Final = "leader-epoch-checkpoint"

_SEGMENT_FILE: Final = re.compile(r"(\d{1,20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)")
_PARTITION: Final = re.compile(r"(.+)-\d{1,10}(\.[0-9a-f]{32}-\w+)?")
_OFFSET_ENTRY: Final = struct.Struct(">ii")
_TIME_ENTRY: Final = struct.Struct(">qi")
_TXN_ENTRY: Final = struct.Struct(">hqqqq")
_SNAPSHOT_HEAD: Final = struct.Struct(">hIi")
_SNAPSHOT_ENTRY: Final = struct.Struct(">qhiqiqiq")
_SNAPSHOT_CRC_FROM: Final = 6
_SNAPSHOT_VERSION: Final = 1
_STEP_BYTES: Final = 1 << 20


class FileDamage(Exception):
    def __init__(self, problem: str, position: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.position = position


class LogFile(NamedTuple):
    path: Path
    kind: str
    base_offset: int

    @property
    def topic(self) -> str | None:
        """The topic of the partition directory that contains the file."""
        found = _PARTITION.fullmatch(self.path.absolute().parent.name)
        return found[1] if found else None


class OffsetEntry(NamedTuple):
    offset: int
    position: int


class TimeEntry(NamedTuple):
    timestamp_ms: int
    offset: int


class TxnEntry(NamedTuple):
    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class ProducerEntry(NamedTuple):
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp_ms: int
    coordinator_epoch: int
    txn_first_offset: int


def recognise(path: Path) -> LogFile | None:
    if path.name == LEADER_EPOCHS:
        return LogFile(path, LEADER_EPOCHS, 0)
    found = _SEGMENT_FILE.fullmatch(path.name)
    return LogFile(path, found[2], int(found[1])) if found else None


def find_files(directory: Path) -> Iterator[LogFile]:
    """All log files in a partition directory or a whole log directory."""
    folders = [directory, *(path for path in directory.rglob("*") if path.is_dir())]
    found = [recognise(path) for folder in folders for path in folder.iterdir() if path.is_file()]
    return iter(in_order(file for file in found if file is not None))


def in_order(files: Iterable[LogFile]) -> list[LogFile]:
    """By partition and segment, each log before its indexes, without duplicates."""
    return sorted(
        {file.path.absolute(): file for file in files}.values(),
        key=lambda file: (
            file.path.absolute().parent,
            file.kind == LEADER_EPOCHS,
            file.base_offset,
            file.kind != LOG,
            file.kind,
        ),
    )


@contextmanager
def mapped(path: Path) -> Iterator[memoryview]:
    """Maps the file, because a segment may be larger than memory."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            yield memoryview(b"")
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole, memoryview(whole) as view:
            yield view


def iter_batches(data: memoryview) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of each batch. Zeros up to the end are preallocated space, not damage."""
    position, end = 0, len(data)
    while position < end:
        left = end - position
        if left < HEADER_SIZE or not any(data[position + LENGTH_AT : position + LOG_OVERHEAD]):
            if _only_zeros(data, position):
                return
            if left < HEADER_SIZE:
                raise FileDamage(f"{left} bytes remain, too few for a batch header", position)
        header = read_header(data, position)
        if header.magic != MAGIC:
            raise FileDamage(f"a batch of format {header.magic}, but only {MAGIC} is supported", position)
        if header.length < HEADER_SIZE - LOG_OVERHEAD:
            raise FileDamage(f"a batch that claims to have {header.size} bytes", position)
        if header.size > left:
            raise FileDamage(f"a batch of {header.size} bytes is truncated: {left} remain", position)
        yield position, header
        position += header.size


def _only_zeros(data: memoryview, position: int) -> bool:
    steps = range(position, len(data), _STEP_BYTES)
    return not any(data[start : start + _STEP_BYTES].tobytes().strip(b"\0") for start in steps)


def offset_entries(data: bytes, base_offset: int) -> Iterator[OffsetEntry]:
    """Zero entries after the first are preallocated space."""
    for number, (relative, position) in enumerate(_entries(data, _OFFSET_ENTRY)):
        if number and not relative and not position:
            return
        yield OffsetEntry(base_offset + relative, position)


def time_entries(data: bytes, base_offset: int) -> Iterator[TimeEntry]:
    for number, (timestamp_ms, relative) in enumerate(_entries(data, _TIME_ENTRY)):
        if number and not timestamp_ms and not relative:
            return
        yield TimeEntry(timestamp_ms, base_offset + relative)


def txn_entries(data: bytes) -> Iterator[TxnEntry]:
    """KIP-98."""
    for fields in _entries(data, _TXN_ENTRY):
        yield TxnEntry(*fields)


def _entries(data: bytes, entry: struct.Struct) -> Iterator[tuple[int, ...]]:
    whole = len(data) - len(data) % entry.size
    yield from entry.iter_unpack(data[:whole])
    if whole < len(data):
        raise FileDamage(f"{len(data) - whole} bytes remain, but an entry has {entry.size}", whole)


def producer_entries(data: bytes) -> Iterable[ProducerEntry]:
    if len(data) < _SNAPSHOT_HEAD.size:
        raise FileDamage(f"{len(data)} bytes are too few for a snapshot", 0)
    version, crc, count = _SNAPSHOT_HEAD.unpack_from(data)
    if version != _SNAPSHOT_VERSION:
        raise FileDamage(f"a snapshot of version {version}, but only {_SNAPSHOT_VERSION} is supported", 0)
    if crc != crc32c(data[_SNAPSHOT_CRC_FROM:]):
        raise FileDamage("the CRC does not match", 0)
    if len(data) != _SNAPSHOT_HEAD.size + count * _SNAPSHOT_ENTRY.size:
        raise FileDamage(f"{count} entries do not match {len(data)} bytes", _SNAPSHOT_HEAD.size)
    return [ProducerEntry(*fields) for fields in _SNAPSHOT_ENTRY.iter_unpack(data[_SNAPSHOT_HEAD.size :])]


def epoch_entries(data: bytes) -> Iterator[tuple[int, int]]:
    """Epochs and their start offsets (KIP-101). The file has a version, a count and that many lines."""
    try:
        version, count, *rest = data.decode("ascii").splitlines()
        if int(version) != 0:
            raise FileDamage(f"version {version} is not supported", 0)
        if int(count) != len(rest):
            raise FileDamage(f"{len(rest)} lines instead of {count}", 0)
        for line in rest:
            epoch, start_offset = map(int, line.split())
            yield epoch, start_offset
    except ValueError as error:
        raise FileDamage(f"not two numbers per line: {error}", 0) from error
