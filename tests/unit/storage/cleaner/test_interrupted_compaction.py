"""Interrupted compaction: a crash at every step, a log that changes in the meantime, damage, faults."""

import errno
from collections.abc import Callable

import pytest
from compacted_log import CONFIG, TP, CompactedLog, latest

from moldau.core.errors import StorageFault
from moldau.core.ports import Buffer
from moldau.protocol.records.batch import Compression
from moldau.protocol.records.control import ControlType
from moldau.storage.cleaner.job import CleanerSettings, CleanJob, clean
from moldau.storage.os_files import OsFile, OsFiles


class Crash(BaseException):
    """The process has died. Not an Exception, so that nothing catches it."""


class FusedFile(OsFile):
    __slots__ = ("disk",)
    disk: "FusedDisk"

    def append(self, data: Buffer) -> None:
        self.disk.step()
        super().append(data)

    def truncate(self, size: int) -> None:
        self.disk.step()
        super().truncate(size)

    def sync(self) -> None:
        self.disk.step()


class FusedDisk(OsFiles):
    """Works for a number of changes, then fails at every one. Earlier changes stay, as when a process is killed."""

    def __init__(self, failure: Callable[[], BaseException]) -> None:
        self._failure = failure
        self.steps_left: int | None = None

    def step(self) -> None:
        if self.steps_left is None:
            return
        if self.steps_left == 0:
            raise self._failure()
        self.steps_left -= 1

    def open(self, path: str, *, create: bool = False, writable: bool = True) -> FusedFile:
        if create:
            self.step()
        plain = super().open(path, create=create, writable=writable)
        file = FusedFile.__new__(FusedFile)
        file._fd, file.path, file.disk = plain.fileno(), path, self
        plain._fd = -1
        return file

    def write_atomically(self, path: str, data: bytes, *, durable: bool = True) -> None:
        self.step()
        super().write_atomically(path, data, durable=False)

    def sync_directory(self, path: str) -> None:
        self.step()

    def rename(self, source: str, target: str) -> None:
        self.step()
        super().rename(source, target)

    def remove(self, path: str) -> None:
        self.step()
        super().remove(path)


def fill(log: CompactedLog) -> None:
    """Several segments and groups, a deleted key, an aborted transaction, a producer with an empty batch."""
    log.configure(segment_bytes=600)
    for i in range(8):
        log.append((b"k%d" % (i % 4), b"%d" % i), (b"once-%d" % i, bytes(20)), compression=Compression.LZ4)
        if i % 3 == 2:
            log.roll()
    log.append((b"k1", None), producer_id=5)
    log.append((b"k2", b"aborted"), producer_id=9, transactional=True)
    log.end_transaction(ControlType.ABORT, 9)
    log.append((b"k3", b"last"))


@pytest.mark.slow
def test_a_crash_at_any_step_loses_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    intact = CompactedLog(OsFiles(), str(tmp_path_factory.mktemp("intact")))
    fill(intact)
    known, end_offset = latest(intact.contents()) | {b"k2": b"6"}, intact.log.end_offset
    intact.clean()
    cleaned = intact.contents()
    assert latest(cleaned) == known
    step = 0
    while True:
        disk = FusedDisk(Crash)
        log = CompactedLog(disk, str(tmp_path_factory.mktemp("crash")))
        fill(log)
        log.roll()
        for retired in log.log.apply_retention(log.now_ms):
            retired.remove()
        disk.steps_left = step
        try:
            log.clean()
        except Crash:
            is_over = False
        else:
            is_over = True
        disk.steps_left = None
        log.reopen(clean=False)
        assert not {name for name in log.files() if name.endswith((".cleaned", ".swap", ".deleted"))}
        assert log.log.end_offset == end_offset
        contents = log.contents()
        offsets = [offset for offset, _, _ in contents]
        assert offsets == sorted(set(offsets))
        assert latest(contents) | {b"k2": b"6"} == known
        log.clean()
        assert log.contents() == cleaned
        if is_over:
            break
        step += 1
    assert step > 40, step


def started(log: CompactedLog) -> CleanJob:
    log.roll()
    job = log.begin()
    assert job is not None
    return job


@pytest.fixture
def log(tmp_path: object) -> CompactedLog:
    log = CompactedLog(OsFiles(), str(tmp_path))
    log.append((b"a", b"1"))
    log.append((b"a", b"2"))
    return log


def test_appends_and_reads_go_on_while_a_round_runs(log: CompactedLog) -> None:
    job = started(log)
    piece = log.log.read(0, 1 << 20, end_offset=2, at_least_one_batch=True)
    assert piece is not None
    before = piece.read()
    log.append((b"a", b"3"))
    log.roll()
    job.run()
    log.finish(job)
    assert log.contents() == [(1, b"a", b"2"), (2, b"a", b"3")]
    assert piece.read() == before


def test_a_log_takes_part_in_one_round_at_a_time(log: CompactedLog) -> None:
    job = started(log)
    assert log.begin() is None
    job.run()
    log.finish(job)
    log.append((b"a", b"3"))
    log.roll()
    assert log.begin() is not None


@pytest.mark.parametrize("when", ["before the run", "after the run"])
def test_a_truncation_voids_the_round(log: CompactedLog, when: str) -> None:
    job = started(log)
    if when == "after the run":
        job.run()
    log.log.truncate_to(1, now_ms=log.now_ms)
    log.cleaner.truncated(TP, 1)
    if when == "before the run":
        job.run()
    log.finish(job)
    assert log.contents() == [(0, b"a", b"1")]
    assert not log.cleaner.uncleanable
    assert not {name for name in log.files() if "cleaned" in name}
    log.append((b"a", b"x"))
    log.clean()
    assert log.contents() == [(1, b"a", b"x")]


def test_retention_voids_the_round(log: CompactedLog) -> None:
    job = started(log)
    log.append((b"b", b"1"))
    job.run()
    log.log.delete_records_before(2)
    retired = log.log.apply_retention(log.now_ms)
    assert retired
    finished = log.finish(job)
    assert finished.settle is None
    assert log.contents() == [(2, b"b", b"1")]
    assert not {name for name in log.files() if "cleaned" in name}


def test_a_deleted_log_ends_its_round(log: CompactedLog) -> None:
    job = started(log)
    log.cleaner.deleted(TP)
    log.directory.delete_log(TP).run()
    job.run()
    assert log.finish(job).retired == []
    assert log.directory.logs == {}
    assert log.begin() is None


def damage(log: CompactedLog, at: int) -> None:
    path = log.log.segments.all[0].files.path(".log")
    data = bytearray(log.disk.read_bytes(path))
    data[at] ^= 0xFF
    log.disk.write_atomically(path, bytes(data), durable=False)


@pytest.mark.parametrize(
    ("at", "says"),
    [(65, "CRC does not match"), (16, "magic"), (8, "are left"), (70, "expected 1")],
)
def test_damage_stops_the_cleaning_of_that_log_alone(log: CompactedLog, at: int, says: str) -> None:
    other = log.directory.create_log(TP._replace(partition=1), None, CONFIG, now_ms=log.now_ms)
    log.roll()
    log.log.segments.all[0].evict()
    damage(log, at)
    job = log.begin()
    assert job is not None
    job.run()
    assert log.finish(job).retired == []
    assert says in log.cleaner.uncleanable[TP]
    assert ".log" in log.cleaner.uncleanable[TP]
    assert log.begin() is None
    log.log = other
    log.append((b"x", b"1"))
    log.append((b"x", b"2"))
    log.clean()
    assert log.contents() == [(1, b"x", b"2")]


def test_a_bomb_makes_a_log_uncleanable(tmp_path: object) -> None:
    log = CompactedLog(OsFiles(), str(tmp_path))
    log.configure(compact=False, delete=True)
    log.append(
        (b"a", bytes(1 << 20)), *((b"k", bytes(1 << 20)) for _ in range(130)), compression=Compression.ZSTD
    )
    log.roll()
    log.configure(compact=True)
    job = log.begin()
    assert job is not None
    job.run()
    log.finish(job)
    assert "limit of" in log.cleaner.uncleanable[TP]


def test_a_full_disk_takes_the_directory_offline(tmp_path: object) -> None:
    disk = FusedDisk(lambda: OSError(errno.ENOSPC, "No space left on device"))
    log = CompactedLog(disk, str(tmp_path))
    log.append((b"a", b"1"))
    job = started(log)
    disk.steps_left = 3
    job.run()
    with pytest.raises(StorageFault, match=r"Compacting customers-0 failed.*free space"):
        log.finish(job)
    assert log.directory.offline_reason is not None


def test_a_round_can_be_cancelled(log: CompactedLog) -> None:
    job = started(log)
    log.cleaner.cancel_all()
    job.run()
    assert job.outcome is not None and job.outcome.is_cancelled
    log.finish(job)
    assert not {name for name in log.files() if "cleaned" in name}
    assert log.clean()


def test_a_round_is_plain_data_for_another_process(log: CompactedLog) -> None:
    import pickle

    job = started(log)
    task, settings = pickle.loads(pickle.dumps((job.task, CleanerSettings())))
    job.outcome = pickle.loads(pickle.dumps(clean(task, OsFiles(), settings)))
    log.finish(job)
    assert log.contents() == [(1, b"a", b"2")]
