"""What one append and one read of a partition log cost, in microseconds, on this machine's disk.

    python bench/storage_micro.py [directory]

Prints the median of several rounds, with the bare system calls beside it for comparison.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

from moldau.core.ids import TopicId, TopicPartition
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log_config import LogConfig
from moldau.storage.os_files import OsFiles

ROUNDS = 7
APPENDS = 5000
NOW_MS = 1_700_000_000_000


def measure(name: str, once: Callable[[], None], count: int = APPENDS) -> None:
    rounds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        for _ in range(count):
            once()
        rounds.append((time.perf_counter() - started) / count * 1e6)
    print(f"{name:48} {statistics.median(rounds):8.2f} us   (best {min(rounds):.2f})")


def appender(log: PartitionLog, template: bytearray, *, is_idempotent: bool = False) -> Callable[[], None]:
    buffer = bytearray(template)
    view = memoryview(buffer)
    sequence = 0

    def once() -> None:
        nonlocal sequence
        buffer[:8] = bytes(8)
        if is_idempotent:
            fresh = memoryview(
                build_batch(
                    [Record(0, NOW_MS, None, b"v" * 100)],
                    producer_id=1,
                    producer_epoch=0,
                    base_sequence=sequence,
                )
            )
            sequence += 1
            log.append_as_leader(fresh, leader_epoch=0, now_ms=NOW_MS)
        else:
            log.append_as_leader(view, leader_epoch=0, now_ms=NOW_MS)

    return once


def main() -> None:
    root = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="storage-micro-")
    directory = LogDirectory.open(
        OsFiles(), root, cluster_id=None, node_id=1, config_for=lambda _: LogConfig(), now_ms=NOW_MS
    )
    try:
        for size in (100, 16_000, 1_000_000):
            topic_partition = TopicPartition(f"bench-{size}", 0)
            log = directory.create_log(topic_partition, TopicId(os.urandom(16)), LogConfig(), now_ms=NOW_MS)
            batch = build_batch([Record(0, NOW_MS, None, b"v" * size)])
            count = APPENDS if size < 1_000_000 else 200
            measure(f"append one batch of {len(batch)} bytes", appender(log, batch), count)
            file = OsFiles().open(f"{root}/plain-{size}", create=True)
            measure(f"  of which the write of {len(batch)} bytes", lambda: file.append(batch), count)  # noqa: B023
            log.advance_high_watermark(log.end_offset)
            tail = log.end_offset - 1
            measure("read at the end", lambda: _read(log, tail))  # noqa: B023
            middle = log.end_offset // 2
            measure("read in the middle", lambda: _read(log, middle))  # noqa: B023
        log = directory.create_log(TopicPartition("idempotent", 0), None, LogConfig(), now_ms=NOW_MS)
        measure(
            "append, idempotent, batch building included", appender(log, bytearray(8), is_idempotent=True)
        )
        measure("  of which building the batch", lambda: _build(7))
    finally:
        directory.close(clean=False)
        shutil.rmtree(root)


def _read(log: PartitionLog, offset: int) -> None:
    log.read(offset, 1 << 20, end_offset=log.high_watermark, at_least_one_batch=True)


def _build(sequence: int) -> None:
    build_batch(
        [Record(0, NOW_MS, None, b"v" * 100)], producer_id=1, producer_epoch=0, base_sequence=sequence
    )


if __name__ == "__main__":
    main()
