"""Compaction of random logs: whatever is cleaned and when, a reader of the whole log ends with the same state."""

from random import Random

import pytest
from compacted_log import CONFIG, CompactedLog
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.protocol.records.batch import Compression
from moldau.protocol.records.control import ControlType
from moldau.storage.cleaner.job import CleanerSettings
from moldau.storage.cleaner.offset_map import ENTRY_BYTES
from moldau.testing.simulation.crash_disk import CrashDisk, PowerCut

keys = st.sampled_from([b"a", b"b", b"c", b"d", b"a key so long that it is kept as a digest"])
values = st.none() | st.binary(max_size=6)
pairs = st.lists(st.tuples(keys, values), min_size=1, max_size=5)
appends = st.tuples(st.just("append"), pairs, st.sampled_from(Compression), st.sampled_from([-1, 5]))
transactions = st.tuples(st.just("transaction"), pairs, st.sampled_from([7, 8]), st.booleans())
times = st.tuples(
    st.just("wait"), st.sampled_from([1, CONFIG.delete_retention_ms // 2, CONFIG.delete_retention_ms])
)
steps = st.one_of(
    appends, appends, transactions, times, st.just(("roll",)), st.just(("clean",)), st.just(("reopen",))
)
small_or_large_map = st.sampled_from(
    [CleanerSettings(), CleanerSettings(dedupe_buffer_bytes=ENTRY_BYTES * 3, load_factor=1.0)]
)

Written = dict[int, tuple[bytes | None, bytes | None, int, bool]]
"""offset -> key, value, timestamp, whether it counts (its transaction was not aborted)"""


class Model:
    """A log, and everything that was ever written to it."""

    def __init__(self, disk: CrashDisk, cleaner_settings: CleanerSettings) -> None:
        self.log = CompactedLog(disk, "/data", settings=cleaner_settings)
        self.written: Written = {}
        self.first_cleaned_ms: dict[int, int] = {}
        """The time at which a cleaning first covered this offset."""

    def step(self, step: tuple) -> None:  # type: ignore[type-arg]
        log = self.log
        match step:
            case ("append", rows, codec, producer_id):
                self._note(log.append(*rows, compression=codec, producer_id=producer_id), rows, True)
            case ("transaction", rows, producer_id, commits):
                self._note(log.append(*rows, producer_id=producer_id, transactional=True), rows, commits)
                log.end_transaction(ControlType.COMMIT if commits else ControlType.ABORT, producer_id)
            case ("wait", span_ms):
                log.now_ms += span_ms
            case ("roll",):
                log.roll()
            case ("reopen",):
                log.reopen()
            case ("clean",):
                log.clean()
                for offset in self.written:
                    self.first_cleaned_ms.setdefault(offset, log.now_ms)

    def _note(self, base_offset: int, rows: list[tuple[bytes, bytes | None]], counts: bool) -> None:
        for offset, (key, value) in enumerate(rows, base_offset):
            self.written[offset] = key, value, self.log.now_ms, counts

    def check(self) -> None:
        found = self.log.records()
        offsets = [record.offset for record in found]
        assert offsets == sorted(set(offsets))
        for record in found:
            key, value, timestamp, counts = self.written[record.offset]
            assert (record.key, record.value, record.timestamp) == (key, value, timestamp)
            assert counts or record.offset not in self.first_cleaned_ms
        counted = [record for record in found if self.written[record.offset][3]]
        last = {record.key: record.value for record in counted}
        assert {key: value for key, value in last.items() if value is not None} == self._known_values()
        self._check_last_of_each_key({record.offset for record in found})

    def _known_values(self) -> dict[bytes | None, bytes]:
        """The value of each key, in order of writing."""
        known: dict[bytes | None, bytes] = {}
        for key, value, _, counts in self.written.values():
            if counts:
                known.pop(key, None)
                if value is not None:
                    known[key] = value
        return known

    def _check_last_of_each_key(self, present: set[int]) -> None:
        last = {key: offset for offset, (key, _, _, counts) in self.written.items() if counts}
        for offset in last.values():
            if offset in present:
                continue
            _, value, _, _ = self.written[offset]
            assert value is None, "only tombstones may go"
            assert self.log.now_ms >= self.first_cleaned_ms[offset] + CONFIG.delete_retention_ms

    def check_clean(self) -> None:
        """After a cleaning that leaves nothing to do, each key is there once."""
        found = self.log.records()
        assert len({record.key for record in found}) == len(found)


@pytest.mark.slow
@given(st.lists(steps, max_size=25), small_or_large_map)
@settings(max_examples=80, deadline=None)
def test_readers_end_up_with_the_same(
    history: list[tuple],  # type: ignore[type-arg]
    cleaner_settings: CleanerSettings,
) -> None:
    model = Model(CrashDisk(), cleaner_settings)
    for step in history:
        model.step(step)
        if step[0] in ("clean", "reopen"):
            model.check()
    end_offset = model.log.log.end_offset
    model.step(("clean",))
    model.check()
    if cleaner_settings.dedupe_buffer_bytes > ENTRY_BYTES * 3:
        model.check_clean()
    model.log.reopen()
    model.check()
    assert model.log.log.end_offset == end_offset


@pytest.mark.slow
@given(st.lists(st.one_of(appends, transactions, st.just(("roll",))), min_size=3, max_size=15), st.data())
@settings(max_examples=80, deadline=None)
def test_a_power_cut_while_cleaning_loses_nothing_that_was_flushed(
    history: list[tuple],  # type: ignore[type-arg]
    data: st.DataObject,
) -> None:
    disk = CrashDisk()
    model = Model(disk, CleanerSettings())
    model.log.configure(segment_bytes=data.draw(st.sampled_from([400, 800, 1 << 20])))
    for step in history:
        model.step(step)
    model.log.roll()
    flush(model.log)
    end_offset = model.log.log.end_offset
    disk.cut_power_after(data.draw(st.integers(0, 60)))
    try:
        model.step(("clean",))
    except PowerCut:
        for offset in model.written:
            model.first_cleaned_ms.setdefault(offset, model.log.now_ms)
    survivor = disk.crash(Random(data.draw(st.integers(0, 1 << 30))))
    model.log = CompactedLog(survivor, "/data", now_ms=model.log.now_ms)
    assert model.log.log.end_offset == end_offset
    model.first_cleaned_ms, cleaned = {}, model.first_cleaned_ms
    model.check()
    model.first_cleaned_ms = cleaned
    model.step(("clean",))
    model.check()
    model.check_clean()


def flush(log: CompactedLog) -> None:
    job = log.log.begin_flush(log.now_ms)
    if job is not None:
        job.run()
        log.log.finish_flush(job)
    log.directory.write_checkpoints()
    log.disk.sync_directory(log.log.directory)
    log.disk.sync_directory(log.path)
    log.disk.sync_directory("/")
