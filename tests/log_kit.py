"""Helpers for tests of the storage: batches, directories, and everything a log holds."""

from collections.abc import Iterator

from moldau.core.ids import TopicId, TopicPartition
from moldau.core.ports import Buffer
from moldau.protocol.records.batch import Compression, iter_headers
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.control import ControlType, build_end_transaction_marker
from moldau.protocol.records.record import Record, iter_records
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.disk import Disk
from moldau.storage.log.append_check import UnpackingNeeded
from moldau.storage.log.appending import Appended
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log_config import LogConfig

NOW_MS = 1_700_000_000_000
ORDERS = TopicPartition("orders", 0)
ORDERS_ID = TopicId(bytes(range(16)))


def batch(
    count: int = 1,
    *,
    value: bytes = b"value",
    key: bytes | None = b"key",
    timestamp: int = NOW_MS,
    producer_id: int = -1,
    producer_epoch: int = 0,
    sequence: int = -1,
    is_transactional: bool = False,
    compression: Compression = Compression.NONE,
) -> memoryview:
    records = [Record(offset, timestamp, key, value) for offset in range(count)]
    return memoryview(
        build_batch(
            records,
            compression=compression,
            producer_id=producer_id,
            producer_epoch=producer_epoch if producer_id >= 0 else -1,
            base_sequence=sequence,
            is_transactional=is_transactional,
        )
    )


def marker(
    control: ControlType, *, producer_id: int, producer_epoch: int = 0, coordinator_epoch: int = 0
) -> memoryview:
    return memoryview(
        build_end_transaction_marker(
            control,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            timestamp_ms=NOW_MS,
        )
    )


def open_directory(
    disk: Disk, config: LogConfig | None = None, *, path: str = "/data", now_ms: int = NOW_MS, **options: int
) -> LogDirectory:
    chosen = config or LogConfig()
    return LogDirectory.open(
        disk, path, cluster_id="cluster", node_id=1, config_for=lambda _: chosen, now_ms=now_ms, **options
    )


def new_log(disk: Disk, config: LogConfig | None = None) -> tuple[LogDirectory, PartitionLog]:
    directory = open_directory(disk, config)
    return directory, directory.create_log(ORDERS, ORDERS_ID, config or LogConfig(), now_ms=NOW_MS)


def append(log: PartitionLog, records: memoryview, *, epoch: int = 0, now_ms: int = NOW_MS) -> Appended:
    """Appends as a leader whose followers are all in sync."""
    try:
        appended = log.append_as_leader(records, leader_epoch=epoch, now_ms=now_ms)
    except UnpackingNeeded:
        prepared = log.prepare(records, now_ms=now_ms)
        appended = log.append_as_leader(prepared, leader_epoch=epoch, now_ms=now_ms, is_prepared=True)
    log.advance_high_watermark(log.end_offset)
    return appended


def append_marker(log: PartitionLog, records: memoryview) -> Appended:
    appended = log.append_as_leader(records, leader_epoch=0, now_ms=NOW_MS, is_client=False)
    log.advance_high_watermark(log.end_offset)
    return appended


def flush(log: PartitionLog, *, rolled_only: bool = False) -> None:
    job = log.begin_flush(NOW_MS, rolled_only=rolled_only)
    if job is not None:
        job.run()
        log.finish_flush(job)


def whole_batches(data: Buffer) -> bytes:
    """Removes the partial batch at the end of a bounded read."""
    view, end = memoryview(data), 0
    while len(data) - end >= 12:
        size = int.from_bytes(view[end + 8 : end + 12], "big") + 12
        if end + size > len(data):
            break
        end += size
    return bytes(view[:end])


def stored_batches(log: PartitionLog, offset: int | None = None, *, bytes_max: int = 1 << 20) -> list[bytes]:
    """Every batch below the high watermark, read as a consumer reads."""
    batches: list[bytes] = []
    at = log.start_offset if offset is None else offset
    while at < log.high_watermark:
        found = log.read(at, bytes_max, end_offset=log.high_watermark, at_least_one_batch=True)
        if found is None:
            break
        data = whole_batches(found.read())
        for position, header in iter_headers(data):
            batches.append(data[position : position + header.size])
            at = header.next_offset
    return batches


def stored_records(log: PartitionLog, offset: int | None = None) -> Iterator[Record]:
    for each in stored_batches(log, offset):
        yield from iter_records(each, decompressed_bytes_max=1 << 20)


def segment_starts(log: PartitionLog) -> list[int]:
    return [segment.base_offset for segment in log.segments.all]
