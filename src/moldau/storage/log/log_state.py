"""The state of one partition's log: its settings, offsets, segments, leader epochs and producers.

`LogState` owns all of it. The operations are functions over one `LogState`, in `appending`, `reading`, `truncation`,
`retention` and `flushing`. A step that several of them share is a method here.
"""

from moldau.core.ids import TopicId, TopicPartition
from moldau.storage.disk import DirectoryHealth
from moldau.storage.log.epochs import LeaderEpochs
from moldau.storage.log.flush_state import FlushState
from moldau.storage.log.partition_metadata import topic_id_file
from moldau.storage.log_config import LogConfig
from moldau.storage.names import PARTITION_METADATA
from moldau.storage.producers.producer_log import ProducerLog
from moldau.storage.segments.segment_list import SegmentList


class LogState:
    __slots__ = (
        "_config",
        "batch_bytes_max",
        "end_offset",
        "epochs",
        "flush_state",
        "health",
        "high_watermark",
        "is_closed",
        "log_append_time",
        "producers",
        "roll_ms",
        "segment_bytes",
        "segments",
        "start_offset",
        "stores_as_sent",
        "timestamp_after_max_ms",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self,
        topic_partition: TopicPartition,
        topic_id: TopicId | None,
        config: LogConfig,
        health: DirectoryHealth,
        segments: SegmentList,
        epochs: LeaderEpochs,
        producers: ProducerLog,
        *,
        start_offset: int,
        end_offset: int,
        high_watermark: int,
        recovery_point: int,
        now_ms: int,
    ) -> None:
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self.segments = segments
        self.epochs = epochs
        self.producers = producers
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.high_watermark = high_watermark
        self.config = config
        self.health = health
        self.is_closed = False
        self.flush_state = FlushState(segments, recovery_point, now_ms)
        producers.high_watermark_advanced(high_watermark)

    @property
    def config(self) -> LogConfig:
        return self._config

    @config.setter
    def config(self, config: LogConfig) -> None:
        """Keeps what every append reads in attributes of its own."""
        self._config = config
        self.segment_bytes = config.segment_bytes
        self.batch_bytes_max = min(config.max_message_bytes, config.segment_bytes)
        self.roll_ms = config.roll_ms
        self.stores_as_sent = config.keeps_batches_as_sent
        self.timestamp_after_max_ms = config.message_timestamp_after_max_ms
        self.log_append_time = config.log_append_time
        self.segments.config = config

    @property
    def directory(self) -> str:
        return self.segments.directory

    @property
    def size_bytes(self) -> int:
        return self.segments.size_bytes

    @property
    def last_stable_offset(self) -> int:
        unstable = self.producers.first_unstable_offset
        return self.high_watermark if unstable is None else min(unstable, self.high_watermark)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """(epoch, end offset) of the largest known epoch that is not above `epoch` (KIP-101, KIP-320); (-1, -1) when
        the log cannot tell."""
        return self.epochs.end_offset_for(epoch, self.end_offset)

    def assign_topic_id(self, topic_id: TopicId) -> None:
        """For a log without one: it is older than topic ids, or a crash lost the file."""
        assert self.topic_id in (None, topic_id)
        with self.health.guard(f"Writing the topic id of {self.topic_partition}"):
            self.segments.disk.write_atomically(
                f"{self.directory}/{PARTITION_METADATA}", topic_id_file(topic_id)
            )
        self.topic_id = topic_id

    def advance_high_watermark(self, offset: int) -> None:
        """Never moves back, and never past the end."""
        if offset > self.high_watermark:
            self.high_watermark = min(offset, self.end_offset)
            if self.producers.first_unstable_offset is not None:
                self.producers.high_watermark_advanced(self.high_watermark)

    def advance_start(self, offset: int) -> None:
        if offset > self.start_offset:
            self.start_offset = offset
            self.epochs.truncate_from_start(offset)

    def move_end_back(self, offset: int) -> None:
        """The batches from `offset` on are gone: no other offset may stay above it."""
        self.end_offset = offset
        self.start_offset = min(self.start_offset, offset)
        self.high_watermark = min(self.high_watermark, offset)
        self.flush_state.cut(offset)
        self.epochs.truncate_from_end(offset)

    def roll(self, base_offset: int, now_ms: int) -> None:
        """Starts a new segment and takes a snapshot of the producers for it."""
        self.segments.roll(base_offset, now_ms)
        self.producers.take_snapshot(base_offset)

    def expire_producers(self, now_ms: int) -> None:
        """Forgets producers that have written nothing for `producer.id.expiration.ms`."""
        self.producers.expire(now_ms, self._config.producer_id_expiration_ms)
