"""Opens a log: finds its files, cleans up after a crash, scans and rebuilds what cannot be trusted.

After a clean shutdown nothing is scanned. Otherwise the segments from the recovery point on are read batch by batch:
the log ends after the last whole batch with a good CRC, and indexes, epochs and producers are rebuilt from what was
read.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from moldau.core.ids import TopicId, TopicPartition
from moldau.storage.checkpoints import CheckpointError
from moldau.storage.disk import DirectoryHealth
from moldau.storage.log.epochs import LeaderEpochs
from moldau.storage.log.leftovers import finish_interrupted_work
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log.partition_metadata import parse_topic_id, topic_id_file
from moldau.storage.log_config import LogConfig
from moldau.storage.names import (
    LEADER_EPOCHS,
    LOG,
    PARTITION_METADATA,
    SNAPSHOT,
    TXN_INDEX,
    parse_segment_file,
    segment_file,
)
from moldau.storage.producers.producer_log import ProducerLog, apply_batch
from moldau.storage.producers.producer_replay import rebuild_producers
from moldau.storage.producers.producer_state import EMPTY_SNAPSHOT_BYTES, ProducerState
from moldau.storage.segments.batch_scan import iter_batches
from moldau.storage.segments.offset_index import OffsetIndex
from moldau.storage.segments.segment import RELATIVE_OFFSET_MAX, Segment, Shared
from moldau.storage.segments.segment_files import SegmentFiles
from moldau.storage.segments.segment_list import SegmentList, create_segment
from moldau.storage.segments.time_index import TimeIndex

_log: Final = logging.getLogger("moldau.recovery")


@dataclass(frozen=True, slots=True)
class LastKnown:
    """What the directory's checkpoints say about one log."""

    start_offset: int = 0
    recovery_point: int = 0
    high_watermark: int = 0
    was_clean: bool = False


class LogLoader:
    """Opens one log; used once."""

    def __init__(
        self,
        shared: Shared,
        health: DirectoryHealth,
        directory: str,
        topic_partition: TopicPartition,
        config: LogConfig,
        known: LastKnown,
        now_ms: int,
    ) -> None:
        self._shared = shared
        self._disk = shared.disk
        self._health = health
        self._directory = directory
        self._topic_partition = topic_partition
        self._config = config
        self._known = known
        self._now_ms = now_ms
        self._sizes: dict[str, int] = {}
        self._damaged: set[int] = set()

    def load(self) -> PartitionLog:
        self._sizes = finish_interrupted_work(self._disk, self._directory)
        segments = self._find_segments()
        epochs = self._read_epochs()
        producers = ProducerLog(self._disk, self._directory, snapshots=self._find_snapshots(segments))
        state = self._recover(segments, epochs, producers)
        end_offset = segments.active.next_offset()
        if end_offset < self._known.start_offset:
            end_offset = self._start_over(segments, epochs, producers, end_offset)
            state = None
        start_offset = max(self._known.start_offset, segments.first_offset)
        epochs.truncate_from_end(end_offset)
        epochs.truncate_from_start(start_offset)
        producers.remove_snapshots(above=end_offset)
        state = state or self._producers_at(segments, producers, end_offset)
        if state is not None:
            state.expire(self._now_ms, self._config.producer_id_expiration_ms)
        producers.replace_state(state)
        recovery_point = end_offset if self._known.was_clean else min(self._known.recovery_point, end_offset)
        return PartitionLog(
            self._topic_partition,
            self._read_topic_id(),
            self._config,
            self._health,
            segments,
            epochs,
            producers,
            start_offset=start_offset,
            end_offset=end_offset,
            high_watermark=min(max(self._known.high_watermark, start_offset), end_offset),
            recovery_point=recovery_point,
            now_ms=self._now_ms,
        )

    def _find_segments(self) -> SegmentList:
        bases = []
        for name in self._sizes:
            file = parse_segment_file(name)
            if file is None or file.suffix == SNAPSHOT:
                continue
            if file.suffix == LOG:
                bases.append(file.offset)
            elif segment_file(file.offset, LOG) not in self._sizes:
                _log.warning("%s: removing index %s, which has no log file", self._directory, name)
                self._disk.remove(f"{self._directory}/{name}")
        segments = [self._open_segment(base) for base in sorted(bases)]
        if not segments:
            start_offset = self._known.start_offset
            segments = [
                create_segment(self._shared, self._directory, start_offset, self._config, self._now_ms)
            ]
        return SegmentList(self._shared, self._directory, self._config, segments)

    def _open_segment(self, base_offset: int) -> Segment:
        for index in (OffsetIndex, TimeIndex):
            size = self._sizes.get(segment_file(base_offset, index.KIND))
            if size is None or size % index.ENTRY.size:
                self._damaged.add(base_offset)
        return Segment(
            SegmentFiles(self._disk, self._directory, base_offset),
            self._shared,
            self._config,
            size=self._sizes[segment_file(base_offset, LOG)],
            now_ms=self._now_ms,
            has_aborted=segment_file(base_offset, TXN_INDEX) in self._sizes,
        )

    def _read_topic_id(self) -> TopicId | None:
        """None when the file holds no id: it is not synced when the log is created, so a crash may leave it empty."""
        if PARTITION_METADATA not in self._sizes:
            return None
        topic_id = parse_topic_id(self._disk.read_bytes(f"{self._directory}/{PARTITION_METADATA}"))
        if topic_id is None:
            _log.warning("%s: %s contains no topic id", self._directory, PARTITION_METADATA)
        return topic_id

    def _find_snapshots(self, segments: SegmentList) -> tuple[int, ...]:
        """The snapshots at segment starts and the last one: a start uses no others."""
        found = sorted(
            file.offset
            for name in self._sizes
            if (file := parse_segment_file(name)) is not None and file.suffix == SNAPSHOT
        )
        bases = {segment.base_offset for segment in segments.all}
        kept = tuple(
            offset for offset in found if offset in bases or (offset == found[-1] and offset > max(bases))
        )
        for offset in set(found) - set(kept):
            with suppress(FileNotFoundError):
                self._disk.remove(f"{self._directory}/{segment_file(offset, SNAPSHOT)}")
        return kept

    def _read_epochs(self) -> LeaderEpochs:
        if LEADER_EPOCHS not in self._sizes:
            return LeaderEpochs()
        try:
            return LeaderEpochs.parse(self._disk.read_bytes(f"{self._directory}/{LEADER_EPOCHS}"))
        except CheckpointError as error:
            _log.warning("%s: %s; rebuilding the leader epochs from the log", self._directory, error)
            self._damaged.update(
                base.offset
                for name in self._sizes
                if (base := parse_segment_file(name)) is not None and base.suffix == LOG
            )
            return LeaderEpochs()

    def _recover(
        self, segments: SegmentList, epochs: LeaderEpochs, producers: ProducerLog
    ) -> ProducerState | None:
        """Scans what cannot be trusted. Returns the producers at the end of the log, if the scan got there."""
        known = self._known
        suspects = () if known.was_clean else segments.from_offset(known.recovery_point)
        if suspects:
            # The batches from there on are scanned and supply this again.
            producers.remove_snapshots(above=suspects[0].base_offset)
            epochs.truncate_from_end(suspects[0].base_offset)
        state = None
        for segment in segments.all:
            is_suspect = segment in suspects
            if not is_suspect and segment.base_offset not in self._damaged:
                continue
            state = rebuild_producers(segments, producers, segment.base_offset) or ProducerState()
            cut_bytes = recover_segment(segment, state, epochs)
            end_offset = segment.next_offset()
            producers.replace_state(state)
            producers.take_snapshot(end_offset)
            if not is_suspect:  # no later flush covers this segment
                for index in segment.indexes:
                    index.save()
            if cut_bytes:
                _log.warning(
                    "%s: cut off %d bytes that are not a whole batch from segment %d, which now ends at offset %d",
                    self._directory, cut_bytes, segment.base_offset, end_offset,
                )  # fmt: skip
            if cut_bytes and is_suspect:
                for retired in segments.drop_after(segment):
                    retired.remove()
                return state
            if segment is not segments.active:
                state = None
        return state

    def _start_over(
        self, segments: SegmentList, epochs: LeaderEpochs, producers: ProducerLog, end_offset: int
    ) -> int:
        start_offset = self._known.start_offset
        _log.warning(
            "%s: ends at offset %d, before its start offset %d; were files deleted by hand? Starting with an empty log",
            self._directory, end_offset, start_offset,
        )  # fmt: skip
        for retired in segments.start_over(start_offset, self._now_ms):
            retired.remove()
        epochs.clear()
        producers.remove_snapshots(above=-1)
        return start_offset

    def _producers_at(
        self, segments: SegmentList, producers: ProducerLog, end_offset: int
    ) -> ProducerState | None:
        if self._known.was_clean:
            if not producers.snapshots:
                return None  # no producer ever wrote with an id
            last = producers.snapshots[-1]
            size = self._sizes.get(segment_file(last, SNAPSHOT))
            if last == end_offset and size == EMPTY_SNAPSHOT_BYTES:
                return None
        return rebuild_producers(segments, producers, end_offset)


def recover_segment(segment: Segment, state: ProducerState, epochs: LeaderEpochs) -> int:
    """Scans the whole segment, rebuilds its indexes, and updates producers and epochs. Cuts it off where a batch is
    not whole and valid or offsets go backwards. Returns how many bytes were cut."""
    file = segment.file()
    size = file.size()
    segment.reset()
    next_offset = segment.base_offset
    for position, header, batch in iter_batches(file, 0, size):
        if (
            header.base_offset < next_offset
            or header.last_offset_delta < 0
            or header.last_offset - segment.base_offset > RELATIVE_OFFSET_MAX
        ):
            break
        next_offset = header.next_offset
        segment.note(position, header.size, header.base_offset, header.last_offset, header.max_timestamp)
        if header.partition_leader_epoch > epochs.latest:
            epochs.assign(header.partition_leader_epoch, header.base_offset)
        if header.producer_id >= 0:
            aborted = apply_batch(state, header, batch)
            if aborted is not None:
                segment.add_aborted(aborted)
    segment.seal()
    if segment.size < size:
        file.truncate(segment.size)
        file.sync()
    return size - segment.size


def create_log(
    shared: Shared,
    health: DirectoryHealth,
    directory: str,
    topic_partition: TopicPartition,
    topic_id: TopicId | None,
    config: LogConfig,
    now_ms: int,
) -> PartitionLog:
    shared.disk.make_directory(directory)
    if topic_id is not None:
        path = f"{directory}/{PARTITION_METADATA}"
        shared.disk.write_atomically(path, topic_id_file(topic_id), durable=False)
    segment = create_segment(shared, directory, 0, config, now_ms)
    return PartitionLog(
        topic_partition,
        topic_id,
        config,
        health,
        SegmentList(shared, directory, config, (segment,)),
        LeaderEpochs(),
        ProducerLog(shared.disk, directory),
        start_offset=0,
        end_offset=0,
        high_watermark=0,
        recovery_point=0,
        now_ms=now_ms,
    )
