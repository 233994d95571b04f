"""Verifies log files: checksums, order of offsets, and indexes against their logs.

A log whose broker stopped cleanly has no damage. One that is being written may end in an incomplete batch.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from moldau.cli.log_files import log_file as files
from moldau.cli.log_files.dump import DECOMPRESSED_BYTES_MAX
from moldau.cli.log_files.log_file import FileDamage, LogFile
from moldau.cli.render.progress import Advance
from moldau.core.errors import PeerError
from moldau.protocol.records.batch import BatchHeader, crc_matches
from moldau.protocol.records.record import iter_records


@dataclass(frozen=True)
class Damage:
    file: str
    problem: str
    position: int | None = None
    offset: int | None = None


@dataclass
class Segment:
    """The batches of a segment, against which its indexes are verified."""

    positions: list[int] = field(default_factory=list)
    base_offsets: list[int] = field(default_factory=list)
    last_offsets: list[int] = field(default_factory=list)
    max_timestamps: list[int] = field(default_factory=list)
    """The greatest timestamp up to each batch, inclusive."""
    is_whole: bool = True
    """False if the rest could not be read. Index entries for it cannot be verified."""

    def add(self, position: int, header: BatchHeader) -> None:
        greatest = max(header.max_timestamp, self.max_timestamps[-1] if self.max_timestamps else -1)
        self.positions.append(position)
        self.base_offsets.append(header.base_offset)
        self.last_offsets.append(header.last_offset)
        self.max_timestamps.append(greatest)


@dataclass
class Account:
    files: int = 0
    partitions: int = 0
    batches: int = 0
    records: int = 0
    bytes: int = 0
    damages: list[Damage] = field(default_factory=list)


def verify(log_files: Iterable[LogFile], deep: bool, advance: Advance = lambda size_bytes: None) -> Account:
    """Takes files `in_order`. Calls `advance` with the size of each file verified."""
    account = Account()
    folder: Path | None = None
    partition = PartitionCheck(account, deep)
    for file in log_files:
        if file.path.absolute().parent != folder:
            folder = file.path.absolute().parent
            account.partitions += 1
            partition = PartitionCheck(account, deep)
        account.files += 1
        size_bytes = file.path.stat().st_size
        account.bytes += size_bytes
        partition.check(file)
        advance(size_bytes)
    return account


class PartitionCheck:
    """Verifies the files of one partition. Tracks its segments and the next expected offset."""

    def __init__(self, account: Account, deep: bool) -> None:
        self._account = account
        self._deep = deep
        self._segments: dict[int, Segment] = {}
        self._next_offset = 0
        self._leader_epoch = -1

    def check(self, file: LogFile) -> None:
        try:
            with files.mapped(file.path) as data:
                self._account.damages += self._problems(file, data)
        except FileDamage as damage:
            self._account.damages.append(Damage(str(file.path), damage.problem, damage.position))
            if file.kind == files.LOG and file.base_offset in self._segments:
                self._segments[file.base_offset].is_whole = False

    def _problems(self, file: LogFile, data: memoryview) -> Iterator[Damage]:
        segment = self._segments.get(file.base_offset)
        if file.kind == files.LOG:
            yield from self._check_log(file, data)
        elif file.kind == files.INDEX:
            yield from check_offset_index(
                file, list(files.offset_entries(bytes(data), file.base_offset)), segment
            )
        elif file.kind == files.TIME_INDEX:
            yield from check_time_index(
                file, list(files.time_entries(bytes(data), file.base_offset)), segment
            )
        elif file.kind == files.TXN_INDEX:
            yield from check_txn_index(file, list(files.txn_entries(bytes(data))))
        elif file.kind == files.SNAPSHOT:
            files.producer_entries(bytes(data))
        else:
            yield from check_epochs(file, list(files.epoch_entries(bytes(data))))

    def _check_log(self, file: LogFile, data: memoryview) -> Iterator[Damage]:
        segment = self._segments[file.base_offset] = Segment()
        path = str(file.path)
        if file.base_offset < self._next_offset:
            yield Damage(
                path,
                f"the segment begins at {file.base_offset}, but the previous one ends at {self._next_offset - 1}",
            )
        self._next_offset = max(self._next_offset, file.base_offset)
        for position, header in files.iter_batches(data):
            self._account.batches += 1
            self._account.records += header.record_count
            for problem in self._batch_problems(data, position, header):
                yield Damage(path, problem, position, header.base_offset)
            segment.add(position, header)
            self._next_offset = max(self._next_offset, header.next_offset)
            self._leader_epoch = max(self._leader_epoch, header.partition_leader_epoch)

    def _batch_problems(self, data: memoryview, position: int, header: BatchHeader) -> Iterator[str]:
        if header.base_offset < self._next_offset:
            yield f"the batch begins at offset {header.base_offset}, but at least {self._next_offset} is expected"
        if header.last_offset_delta < 0:
            yield f"the batch ends {-header.last_offset_delta} offsets before it begins"
        if header.partition_leader_epoch < self._leader_epoch:
            yield f"leader epoch {header.partition_leader_epoch} after {self._leader_epoch}"
        if not crc_matches(data, position, header.size):
            yield "the CRC does not match"
        elif self._deep:
            try:
                batch = bytes(data[position : position + header.size])
                for _ in iter_records(batch, decompressed_bytes_max=DECOMPRESSED_BYTES_MAX):
                    pass
            except PeerError as error:
                yield f"the records cannot be read: {error}"


def check_offset_index(
    file: LogFile, entries: Sequence[files.OffsetEntry], segment: Segment | None
) -> Iterator[Damage]:
    """Each entry must point to a batch that begins at or before its offset."""
    path = str(file.path)
    for number, (offset, position) in enumerate(entries):
        at = number * 8
        if number and (offset <= entries[number - 1].offset or position < entries[number - 1].position):
            yield Damage(
                path, f"entry {number} ({offset} at {position}) is not after the previous one", at, offset
            )
        if segment is None or (not segment.is_whole and position > (segment.positions or [0])[-1]):
            continue
        index = bisect_right(segment.positions, position) - 1
        if index < 0 or segment.positions[index] != position:
            yield Damage(
                path, f"entry {number} names position {position}, at which no batch begins", at, offset
            )
        elif not segment.base_offsets[index] <= offset:
            found = segment.base_offsets[index]
            yield Damage(
                path, f"entry {number} names offset {offset}, but its batch begins at {found}", at, offset
            )


def check_time_index(
    file: LogFile, entries: Sequence[files.TimeEntry], segment: Segment | None
) -> Iterator[Damage]:
    """An entry states that no record up to its offset has a later timestamp.

    A single zero entry is preallocated space: the index has no entry yet.
    """
    if list(entries) == [(0, file.base_offset)]:
        return
    path = str(file.path)
    for number, (timestamp_ms, offset) in enumerate(entries):
        at = number * 12
        if number and (
            timestamp_ms < entries[number - 1].timestamp_ms or offset < entries[number - 1].offset
        ):
            yield Damage(
                path, f"entry {number} ({timestamp_ms} at {offset}) is not after the previous one", at, offset
            )
        if segment is None:
            continue
        ended = bisect_right(segment.last_offsets, offset) - 1
        if ended >= 0 and segment.max_timestamps[ended] > timestamp_ms:
            youngest = segment.max_timestamps[ended]
            yield Damage(
                path,
                f"entry {number} states {timestamp_ms}, but an earlier record has {youngest}",
                at,
                offset,
            )


def check_txn_index(file: LogFile, entries: Sequence[files.TxnEntry]) -> Iterator[Damage]:
    path = str(file.path)
    for number, entry in enumerate(entries):
        at = number * 34
        if entry.version != 0:
            yield Damage(path, f"entry {number} has version {entry.version}, but only 0 is supported", at)
        if not file.base_offset <= entry.last_offset or entry.first_offset > entry.last_offset:
            yield Damage(
                path,
                f"entry {number} has an invalid transaction from {entry.first_offset} to {entry.last_offset}",
                at,
            )
        if number and entry.last_offset <= entries[number - 1].last_offset:
            yield Damage(path, f"entry {number} is not after the previous one", at, entry.last_offset)


def check_epochs(file: LogFile, entries: Sequence[tuple[int, int]]) -> Iterator[Damage]:
    for before, after in pairwise(entries):
        if after[0] <= before[0] or after[1] < before[1]:
            yield Damage(
                str(file.path),
                f"epoch {after[0]} from {after[1]} comes after epoch {before[0]} from {before[1]}",
            )
