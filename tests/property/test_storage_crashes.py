"""A log under random operations and random power cuts, compared with a list of the batches it should hold."""

from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from log_kit import (
    NOW_MS,
    ORDERS,
    ORDERS_ID,
    append,
    append_marker,
    batch,
    flush,
    marker,
    new_log,
    open_directory,
)
from moldau.protocol.records.batch import HEADER, BatchHeader, read_header
from moldau.protocol.records.control import ControlType
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.log.flush_job import FlushJob
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log_config import LogConfig
from moldau.storage.producers.producer_log import apply_batch
from moldau.storage.producers.producer_state import ProducerState
from moldau.storage.segments.batch_scan import iter_batches
from moldau.storage.segments.segment import Segment
from moldau.testing.simulation.crash_disk import CrashDisk, PowerCut

CONFIG = LogConfig(segment_bytes=2000, index_interval_bytes=300, retention_bytes=6000, retention_ms=-1)

appends = st.tuples(st.just("append"), st.integers(1, 4), st.integers(0, 400), st.integers(-1, 2))
SIMPLE_STEPS: list[tuple[object, ...]] = [
    ("flush",),
    ("flush rolled",),
    ("begin flush",),
    ("finish flush",),
    ("roll",),
    ("retain",),
    ("checkpoint",),
    ("restart",),
    ("repeat", 0),
    ("repeat", 1),
    ("transact", 3),
    ("transact", 4),
    ("end", 3, ControlType.COMMIT),
    ("end", 3, ControlType.ABORT),
    ("end", 4, ControlType.ABORT),
]
others = st.sampled_from(SIMPLE_STEPS)
cuts = st.tuples(st.sampled_from(["delete records", "truncate"]), st.floats(0, 1))
crashes = st.tuples(st.just("crash"), st.integers(0, 10_000))
power_cuts = st.tuples(st.just("power cut in"), st.integers(0, 12))
work = st.lists(st.one_of(appends, appends, others, cuts, crashes, power_cuts), max_size=40)


@dataclass
class World:
    """The log, and what must be in it."""

    disk: CrashDisk
    directory: LogDirectory
    log: PartitionLog
    random: Random
    batches: dict[int, bytes] = field(default_factory=dict)
    """What readers see now, by base offset."""
    written: dict[int, set[bytes]] = field(default_factory=dict)
    """Everything ever stored at a base offset: a truncation that was not synced may come back."""
    flushed_end: int = 0
    holes: set[int] = field(default_factory=set)
    """Segment starts before which unflushed batches were lost: a later file may reach the disk before an earlier one.
    Kafka's recovery leaves such a gap too; assigning the offsets again would be worse."""
    sequences: dict[int, int] = field(default_factory=dict)
    last_sent: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    flushing: FlushJob | None = None

    def do(self, step: tuple[object, ...]) -> None:
        name, *arguments = step
        getattr(self, str(name).replace(" ", "_"))(*arguments)

    def append(self, count: int, size: int, producer_id: int) -> None:
        sequence = self.sequences.get(producer_id, 0) if producer_id >= 0 else -1
        made = batch(
            count, value=bytes(size), producer_id=producer_id, sequence=sequence, timestamp=self._time()
        )
        self._store(made, append(self.log, made).base_offset)
        if producer_id >= 0:
            self.sequences[producer_id] = sequence + count
            self.last_sent[producer_id] = (bytes(made), self.log.end_offset - count)

    def repeat(self, producer_id: int) -> None:
        if producer_id in self.last_sent:
            sent, offset = self.last_sent[producer_id]
            again = bytearray(sent)
            again[:8] = bytes(8)
            appended = append(self.log, memoryview(again))
            assert appended.is_duplicate
            assert appended.base_offset == offset

    def transact(self, producer_id: int) -> None:
        sequence = self.sequences.get(producer_id, 0)
        made = batch(
            2, producer_id=producer_id, sequence=sequence, is_transactional=True, timestamp=self._time()
        )
        self._store(made, append(self.log, made).base_offset)
        self.sequences[producer_id] = sequence + 2

    def end(self, producer_id: int, control: ControlType) -> None:
        made = marker(control, producer_id=producer_id)
        self._store(made, append_marker(self.log, made).base_offset)

    def _time(self) -> int:
        return NOW_MS + self.random.randint(-5000, 5000)

    def _store(self, made: memoryview, offset: int) -> None:
        self.batches[offset] = bytes(made)
        self.written.setdefault(offset, set()).add(bytes(made))

    def flush(self) -> None:
        self.finish_flush()
        flush(self.log)
        self.flushed_end = self.log.end_offset

    def flush_rolled(self) -> None:
        self.finish_flush()
        flush(self.log, rolled_only=True)
        self.flushed_end = max(self.flushed_end, self.log.flush_state.recovery_point)

    def begin_flush(self) -> None:
        """The job runs while the log is used."""
        self.flushing = self.log.begin_flush(NOW_MS) or self.flushing

    def finish_flush(self) -> None:
        job, self.flushing = self.flushing, None
        if job is not None:
            job.run()
            self.log.finish_flush(job)
            if not job.is_stale:
                self.flushed_end = max(self.flushed_end, job.end_offset)

    def roll(self) -> None:
        self.log.roll(self.log.end_offset, NOW_MS)

    def retain(self) -> None:
        for retired in self.log.apply_retention(NOW_MS):
            retired.remove()
        self.forget_before(self.log.segments.first_offset)

    def forget_before(self, offset: int) -> None:
        self.batches = {base: stored for base, stored in self.batches.items() if base >= offset}

    def delete_records(self, fraction: float) -> None:
        log = self.log
        log.delete_records_before(log.start_offset + int((log.high_watermark - log.start_offset) * fraction))

    def truncate(self, fraction: float) -> None:
        bases = sorted(base for base in self.batches if base >= self.log.start_offset)
        if not bases:
            return
        offset = bases[int(fraction * (len(bases) - 1))]
        self.flushed_end = min(self.flushed_end, offset)
        for retired in self.log.truncate_to(offset, now_ms=NOW_MS):
            retired.remove()
        self.directory.write_checkpoints()
        self.batches = {base: stored for base, stored in self.batches.items() if base < offset}
        self._learn_sequences()

    def checkpoint(self) -> None:
        self.directory.write_checkpoints()

    def restart(self) -> None:
        self.finish_flush()
        self.directory.close()
        before = (self.log.start_offset, self.log.end_offset, self.log.high_watermark)
        self._open()
        assert self.directory.was_clean
        assert (self.log.start_offset, self.log.end_offset, self.log.high_watermark) == before
        self.flushed_end = self.log.end_offset
        self.check()

    def crash(self, seed: int) -> None:
        self.flushing = None
        was_alive = bool(self.flushed_end)
        self.disk = self.disk.crash(Random(seed))
        directory = open_directory(self.disk, CONFIG)
        assert not directory.was_clean or not self.batches or self.flushed_end >= max(self.batches)
        if was_alive:
            assert ORDERS in directory.logs, "a log that was flushed is gone"
        self.directory = directory
        self.log = directory.logs.get(ORDERS) or directory.create_log(
            ORDERS, ORDERS_ID, CONFIG, now_ms=NOW_MS
        )
        self.log.advance_high_watermark(self.log.end_offset)
        self._compare_after_crash()
        self.check()

    def power_cut_in(self, steps: int) -> None:
        self.disk.cut_power_after(steps)

    def _open(self) -> None:
        self.directory = open_directory(self.disk, CONFIG)
        self.log = self.directory.logs[ORDERS]

    def _compare_after_crash(self) -> None:
        assert self.log.end_offset >= self.flushed_end, "flushed records are gone"
        found = scan(self.log)
        for base, stored in self.batches.items():
            if self.log.segments.first_offset <= base and next_offset(stored) <= self.flushed_end:
                assert found.get(base) == stored, f"the flushed batch at {base} is not as it was"
        for base, stored in found.items():
            assert stored in self.written[base], f"nobody wrote the batch at {base}"
        self.batches = found
        self.holes |= {
            each for each in (s.base_offset for s in self.log.segments.all) if each > self.flushed_end
        }
        self.flushed_end = min(self.flushed_end, self.log.end_offset)
        self._learn_sequences()

    def _learn_sequences(self) -> None:
        """Continues as restarted producers would, from the log's own state."""
        views = {view.producer_id: view for view in self.log.producers.views()}
        self.sequences = {each: view.last_sequence + 1 for each, view in views.items()}
        self.last_sent = {}

    def check(self) -> None:
        """Content, indexes and producers agree with a scan of the files from the first byte."""
        log = self.log
        assert scan(log) == self.batches
        offset = min(self.batches, default=log.end_offset)
        for base in [*sorted(self.batches), log.end_offset]:
            assert base == offset or base in self.holes, "there is a gap"
            offset = next_offset(self.batches[base]) if base in self.batches else base
        for segment in log.segments.all:
            check_indexes(segment)
        check_producers(log)


def next_offset(stored: bytes) -> int:
    return read_header(stored).next_offset


def scan(log: PartitionLog) -> dict[int, bytes]:
    return {
        header.base_offset: bytes(stored)
        for segment in log.segments.all
        for _, header, stored in iter_batches(segment.file(), 0, segment.file().size())
    }


def check_indexes(segment: Segment) -> None:
    batches = {position: header for position, header, _ in iter_batches(segment.file(), 0, segment.size)}
    entries = [*segment.offset_index.ENTRY.iter_unpack(bytes(segment.offset_index.entries()))]
    for relative, position in entries:
        assert batches[position].last_offset == segment.base_offset + relative
    assert sorted(entries) == entries
    for header in batches.values():
        for offset in {header.base_offset, header.last_offset}:
            position = segment.position_of(offset)
            assert position is not None
            assert batches[position] == header
    youngest = max((header.max_timestamp for header in batches.values()), default=-1)
    assert segment.max_timestamp().timestamp_ms == youngest
    by_last_offset = {header.last_offset: header for header in batches.values()}
    times = [*segment.time_index.ENTRY.iter_unpack(bytes(segment.time_index.entries()))]
    for timestamp, relative in times:
        assert by_last_offset[segment.base_offset + relative].max_timestamp == timestamp
    assert sorted(times) == times


def check_producers(log: PartitionLog) -> None:
    state = ProducerState()
    aborted = []
    for _, stored in sorted(scan(log).items()):
        header = BatchHeader._make(HEADER.unpack_from(stored))
        if header.producer_id >= 0:
            ended = apply_batch(state, header, memoryview(stored))
            if ended is not None:
                aborted.append(ended)
    known = log.producers.state.producers if log.producers.state else {}
    for producer_id, expected in state.producers.items():
        found = known[producer_id]
        assert found.epoch == expected.epoch
        if expected.batches:  # a snapshot has one time for the last batch and the last marker
            assert found.batches[-1][:3] == expected.batches[-1][:3]
        if log.segments.first_offset == 0:
            assert found.txn_first_offset == expected.txn_first_offset
    open_since = [each.txn_first_offset for each in known.values() if each.txn_first_offset >= 0]
    assert log.last_stable_offset == min([*open_since, log.high_watermark])
    if log.segments.first_offset == 0:
        indexed = [each for segment in log.segments.all if segment.txn_index for each in segment.txn_index]
        assert [each[:3] for each in indexed] == [each[:3] for each in aborted]


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(work, st.integers(0, 10_000))
def test_a_log_keeps_what_was_flushed_through_any_crash(steps: list[tuple[object, ...]], seed: int) -> None:
    disk = CrashDisk()
    directory, log = new_log(disk, CONFIG)
    world = World(disk, directory, log, Random(seed))
    for number, step in enumerate([*steps, ("crash", seed)]):
        try:
            world.do(step)
        except PowerCut:
            world.crash(seed + number)
    world.check()


def random_step(random: Random) -> tuple[object, ...]:
    kind = random.random()
    if kind < 0.6:
        return ("append", random.randint(1, 4), random.randint(0, 400), random.randint(-1, 2))
    if kind < 0.88:
        return random.choice(SIMPLE_STEPS)
    if kind < 0.92:
        return (random.choice(["delete records", "truncate"]), random.choice([random.random(), 0.9, 1.0]))
    if kind < 0.96:
        return ("crash", random.randint(0, 10_000))
    return ("power cut in", random.randint(0, 30))


# Each of these once lost something: indexes of a segment that was flushed while active, segments that came back
# after a truncation, a recovery point past the end, a snapshot written by a flush that a truncation overtook.
@pytest.mark.parametrize("seed", [6, 9, 46, 49, 67, 197, 2442, 2671])
def test_long_lives(seed: int) -> None:
    random = Random(seed)
    disk = CrashDisk()
    directory, log = new_log(disk, CONFIG)
    world = World(disk, directory, log, Random(seed))
    for number in range(150):
        try:
            world.do(random_step(random))
        except PowerCut:
            world.crash(seed + number)
    world.check()
