"""A compacted log in a directory of its own, for tests: write, roll, clean, read back."""

from collections.abc import Iterable
from dataclasses import replace

from moldau.core.ids import TopicPartition
from moldau.protocol.records.batch import BatchHeader, Compression, crc_matches, iter_headers
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.control import ControlType, build_end_transaction_marker
from moldau.protocol.records.record import Record, iter_records
from moldau.storage.cleaner.job import CleanerSettings, CleanJob
from moldau.storage.cleaner.log_cleaner import Finished, LogCleaner
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.disk import Disk
from moldau.storage.log_config import DAY_MS, LogConfig

TP = TopicPartition("customers", 0)
BYTES_MAX = 1 << 20
CONFIG = LogConfig(compact=True, delete=False, min_cleanable_dirty_ratio=0.01, index_interval_bytes=64)


class CompactedLog:
    def __init__(
        self,
        disk: Disk,
        path: str,
        config: LogConfig = CONFIG,
        settings: CleanerSettings | None = None,
        *,
        now_ms: int = 1_000_000,
    ) -> None:
        self.disk = disk
        self.path = path
        self.now_ms = now_ms
        self._config = config
        self._settings = settings or CleanerSettings()
        self._sequences: dict[int, int] = {}
        self._open()

    def _open(self) -> None:
        self.directory = LogDirectory.open(
            self.disk,
            self.path,
            cluster_id="c",
            node_id=1,
            config_for=lambda _: self._config,
            now_ms=self.now_ms,
        )
        self.log = self.directory.logs.get(TP) or self.directory.create_log(
            TP, None, self._config, now_ms=self.now_ms
        )
        self.log.advance_high_watermark(self.log.end_offset)
        self.cleaner = LogCleaner(self.disk, self.directory, self._settings)

    def reopen(self, *, clean: bool = True) -> None:
        self.directory.close(clean=clean)
        self._open()

    def configure(self, **changes: object) -> None:
        self._config = replace(self._config, **changes)  # type: ignore[arg-type]
        self.log.config = self._config

    # --- writing

    def append(
        self,
        *pairs: tuple[bytes | None, bytes | None],
        compression: Compression = Compression.NONE,
        producer_id: int = -1,
        epoch: int = 0,
        transactional: bool = False,
    ) -> int:
        """Appends one batch of keys and values. Returns its base offset."""
        sequence = -1
        if producer_id >= 0:
            sequence = self._sequences.get(producer_id, 0)
            self._sequences[producer_id] = sequence + len(pairs)
        batch = build_batch(
            [Record(i, self.now_ms, key, value) for i, (key, value) in enumerate(pairs)],
            compression=compression,
            producer_id=producer_id,
            producer_epoch=epoch if producer_id >= 0 else -1,
            base_sequence=sequence,
            is_transactional=transactional,
        )
        return self._append(batch, is_client=True)

    def end_transaction(self, control_type: ControlType, producer_id: int, epoch: int = 0) -> int:
        marker = build_end_transaction_marker(
            control_type,
            producer_id=producer_id,
            producer_epoch=epoch,
            coordinator_epoch=0,
            timestamp_ms=self.now_ms,
        )
        return self._append(marker, is_client=False)

    def _append(self, batch: bytearray, *, is_client: bool) -> int:
        records = memoryview(batch)
        if is_client:
            records = self.log.prepare(records, now_ms=self.now_ms)
        appended = self.log.append_as_leader(
            records, leader_epoch=3, now_ms=self.now_ms, is_client=is_client, is_prepared=is_client
        )
        self.log.advance_high_watermark(self.log.end_offset)
        return appended.base_offset

    def roll(self) -> None:
        self.log.roll(self.log.end_offset, self.now_ms)

    # --- cleaning

    def begin(self) -> CleanJob | None:
        return self.cleaner.begin(self.now_ms)

    def finish(self, job: CleanJob) -> Finished:
        finished = self.cleaner.finish(job, self.now_ms)
        if finished.settle is not None:
            finished.settle.run()
        for retired in finished.retired:
            retired.remove()
        return finished

    def clean(self) -> bool:
        """Rolls and runs rounds until nothing is due. Returns whether there was any."""
        self.roll()
        rounds = 0
        while (job := self.begin()) is not None:
            job.run()
            self.finish(job)
            rounds += 1
            assert rounds < 100, "the cleaner does not come to an end"
        return rounds > 0

    def pass_delete_retention(self) -> None:
        self.now_ms += self._config.delete_retention_ms + 1
        if self._config.delete_retention_ms == 0:
            self.now_ms += DAY_MS

    def touch(self) -> None:
        """Appends dirty records, so that a round is due."""
        self.append((b"touch", b"%d" % self.now_ms))

    # --- reading

    def batches(self) -> list[tuple[BatchHeader, bytes]]:
        """Reads as a consumer does, and checks CRCs and order."""
        found: list[tuple[BatchHeader, bytes]] = []
        offset = self.log.start_offset
        while offset < self.log.end_offset:
            piece = self.log.read(offset, BYTES_MAX, end_offset=self.log.end_offset, at_least_one_batch=True)
            if piece is None:
                break
            data = piece.read()
            for position, header in iter_headers(data):
                assert crc_matches(memoryview(data), position, header.size)
                assert header.last_offset >= offset or header.next_offset > offset
                found.append((header, data[position : position + header.size]))
                offset = header.next_offset
        return found

    def records(self) -> list[Record]:
        return [
            record
            for header, batch in self.batches()
            if not header.is_control
            for record in iter_records(batch, decompressed_bytes_max=BYTES_MAX)
        ]

    def contents(self) -> list[tuple[int, bytes | None, bytes | None]]:
        return [(record.offset, record.key, record.value) for record in self.records()]

    def files(self) -> set[str]:
        return {name for name, _ in self.disk.entries(self.log.directory)}


def latest(contents: Iterable[tuple[int, bytes | None, bytes | None]]) -> dict[bytes | None, bytes | None]:
    """What a reader of the whole log knows at the end."""
    return {key: value for _, key, value in contents}
