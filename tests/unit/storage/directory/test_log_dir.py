"""One directory of log.dirs: identity, lock, created and deleted logs, and a disk that fails."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from log_kit import (
    NOW_MS,
    ORDERS,
    ORDERS_ID,
    append,
    batch,
    flush,
    new_log,
    open_directory,
    stored_records,
)
from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, ConfigError, StorageFault
from moldau.core.ids import TopicPartition
from moldau.storage.directory.log_dir import LogDirectory
from moldau.storage.directory.meta_properties import parse_properties
from moldau.storage.log.partition_log import PartitionLog
from moldau.storage.log_config import LogConfig
from moldau.storage.os_files import OsFiles
from moldau.testing.simulation.crash_disk import CrashDisk

FUTURE = f"t-0.{7:032x}-future"


def open_as(disk: CrashDisk, cluster_id: str | None, node_id: int) -> LogDirectory:
    return LogDirectory.open(
        disk,
        "/data",
        cluster_id=cluster_id,
        node_id=node_id,
        config_for=lambda _: LogConfig(),
        now_ms=NOW_MS,
    )


def test_a_new_directory_gets_its_identity_and_keeps_it() -> None:
    disk = CrashDisk()
    first = open_as(disk, None, 3)
    properties = parse_properties(disk.read_bytes("/data/meta.properties").decode())
    assert properties == {
        "cluster.id": first.cluster_id,
        "directory.id": first.directory_id,
        "node.id": "3",
        "version": "1",
    }
    assert len(first.cluster_id) == len(first.directory_id) == 22
    first.close()
    second = open_as(disk, first.cluster_id, 3)
    assert (second.cluster_id, second.directory_id) == (first.cluster_id, first.directory_id)


def test_a_foreign_directory_is_refused_in_words_that_help() -> None:
    disk = CrashDisk()
    open_as(disk, "ours", 3).close()
    with pytest.raises(ConfigError, match=r"node\.id=3"):
        open_as(disk, "ours", 4)
    with pytest.raises(ConfigError, match="belongs to cluster ours"):
        open_as(disk, "theirs", 3)
    open_as(disk, "ours", 3)


def test_what_kafka_writes_there_is_understood_and_left_as_it_is() -> None:
    disk = CrashDisk()
    disk.make_directory("/data")
    text = (
        b"#\n#Sun Nov 15 18:18:46 UTC 2026\nnode.id=1\ndirectory.id=MFzkAx1_RGe7X0KZZ_vx5w\nversion=1\n"
        b"cluster.id=4L6g3nShT-eMCtK--X86sw\n"
    )
    disk.write_atomically("/data/meta.properties", text)
    directory = open_as(disk, None, 1)
    assert directory.cluster_id == "4L6g3nShT-eMCtK--X86sw"
    assert directory.directory_id == "MFzkAx1_RGe7X0KZZ_vx5w"
    assert disk.read_bytes("/data/meta.properties") == text


def test_one_broker_at_a_time(tmp_path: Path) -> None:
    first = open_directory(OsFiles(), path=str(tmp_path))
    with pytest.raises(ConfigError, match="in use by another broker"):
        open_directory(OsFiles(), path=str(tmp_path))
    first.close()
    open_directory(OsFiles(), path=str(tmp_path)).close()


def test_logs_come_back_with_their_topic_ids(tmp_path: Path) -> None:
    directory = open_directory(OsFiles(), path=str(tmp_path))
    names = [
        TopicPartition("a", 0),
        TopicPartition("a", 10),
        TopicPartition("a-b-1", 0),
        TopicPartition("x.y", 2),
    ]
    for name in names:
        append(directory.create_log(name, ORDERS_ID, LogConfig(), now_ms=NOW_MS), batch(2))
    directory.close()
    again = open_directory(OsFiles(), path=str(tmp_path))
    assert sorted(again.logs) == names
    for log in again.logs.values():
        assert log.topic_id == ORDERS_ID
        assert len(list(stored_records(log))) == 2
    again.close()


def test_a_log_without_a_topic_id_can_be_given_one() -> None:
    disk = CrashDisk()
    directory = open_directory(disk)
    log = directory.create_log(ORDERS, None, LogConfig(), now_ms=NOW_MS)
    assert log.topic_id is None
    log.assign_topic_id(ORDERS_ID)
    directory.close()
    assert open_directory(disk).logs[ORDERS].topic_id == ORDERS_ID


def test_what_is_not_a_log_is_left_alone() -> None:
    disk = CrashDisk()
    new_log(disk)[0].close()
    for name in ("__cluster_metadata-0", "lost+found", "remote-log-index-cache", FUTURE):
        disk.make_directory(f"/data/{name}")
        disk.open(f"/data/{name}/file", create=True).append(b"x")
    directory = open_directory(disk)
    assert list(directory.logs) == [ORDERS]
    assert disk.exists("/data/__cluster_metadata-0/file")
    assert disk.exists(f"/data/{FUTURE}/file")


def test_a_deleted_log_frees_its_name_at_once_and_its_files_later() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk)
    append(log, batch(5))
    found = log.read(0, 1000, end_offset=5, at_least_one_batch=True)
    job = directory.delete_log(ORDERS)
    assert ORDERS not in directory.logs
    again = directory.create_log(ORDERS, None, LogConfig(), now_ms=NOW_MS)
    assert again.end_offset == 0
    assert job.path.startswith("/data/orders-0.")
    assert job.path.endswith("-delete")
    assert disk.exists(job.path)
    assert found is not None
    assert found.read()
    job.run()
    assert not disk.exists(job.path)
    with pytest.raises(ApiError) as raised:
        append(log, batch())
    assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR


def test_a_deleted_log_keeps_no_descriptor_whoever_still_knows_it(tmp_path: Path) -> None:
    """The last close of a removed file waits until the kernel has freed its bytes; that must not block the event
    loop."""
    config = LogConfig(segment_bytes=200)
    directory = open_directory(OsFiles(), config, path=str(tmp_path))
    log = directory.create_log(ORDERS, ORDERS_ID, config, now_ms=NOW_MS)
    for _ in range(5):
        append(log, batch())
    assert open_logs(tmp_path)
    directory.delete_log(ORDERS)
    assert not open_logs(tmp_path)
    assert log.segments.all


def open_logs(folder: Path) -> list[str]:
    links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
    targets = [os.readlink(link) for link in links if os.path.lexists(link)]
    return [target for target in targets if target.startswith(str(folder)) and ".log" in target]


def test_a_deletion_that_was_interrupted_is_finished_at_the_next_start() -> None:
    disk = CrashDisk()
    directory, _ = new_log(disk)
    job = directory.delete_log(ORDERS)
    directory.close(clean=False)
    assert not open_directory(disk).logs
    assert not disk.exists(job.path)


def test_a_flush_that_ends_after_the_deletion_harms_nobody() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk, LogConfig(segment_bytes=200))
    for _ in range(5):
        append(log, batch(producer_id=1, sequence=log.end_offset))
    job = log.begin_flush(NOW_MS)
    assert job is not None
    directory.delete_log(ORDERS).run()
    job.run()
    log.finish_flush(job)
    assert directory.offline_reason is None


def test_a_long_topic_name_still_fits_a_directory_name() -> None:
    disk = CrashDisk()
    directory = open_directory(disk)
    name = TopicPartition("x" * 249, 12345)
    directory.create_log(name, None, LogConfig(), now_ms=NOW_MS)
    job = directory.delete_log(name)
    assert len(os.path.basename(job.path)) <= 255


def broken(number: int, log: PartitionLog, disk: CrashDisk) -> StorageFault:
    disk.fail_writes(number)
    with pytest.raises(StorageFault) as raised:
        append(log, batch())
    return raised.value


@pytest.mark.parametrize(
    ("number", "advice"),
    [(errno.ENOSPC, "free space"), (errno.EROFS, "remount"), (errno.EIO, "replace the disk")],
)
def test_a_failing_disk_takes_the_directory_offline(number: int, advice: str) -> None:
    disk = CrashDisk()
    directory, log = new_log(disk)
    other = directory.create_log(TopicPartition("other", 0), None, LogConfig(), now_ms=NOW_MS)
    append(log, batch(3))
    fault = broken(number, log, disk)
    assert fault.directory == "/data"
    assert os.strerror(number) in str(fault)
    assert "orders-0" in str(fault)
    assert advice in str(fault)
    assert directory.offline_reason == str(fault)
    assert log.end_offset == 3
    disk.fail_writes(None)
    for refused in (
        lambda: append(log, batch()),
        lambda: append(other, batch()),
        lambda: log.read(0, 100, end_offset=3, at_least_one_batch=True),
        lambda: log.append_as_follower(batch(), now_ms=NOW_MS),
        lambda: directory.create_log(TopicPartition("new", 0), None, LogConfig(), now_ms=NOW_MS),
    ):
        with pytest.raises(ApiError) as raised:
            refused()
        assert raised.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert log.apply_retention(NOW_MS) == []
    assert log.begin_flush(NOW_MS) is None
    directory.close()
    again = open_directory(disk)
    assert not again.was_clean
    assert len(list(stored_records(_committed(again.logs[ORDERS])))) == 3


def _committed(log: PartitionLog) -> PartitionLog:
    log.advance_high_watermark(log.end_offset)
    return log


def test_a_flush_that_fails_is_told_by_finish() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk)
    append(log, batch())
    job = log.begin_flush(NOW_MS)
    assert job is not None
    disk.fail_writes(errno.EIO)
    job.run()
    with pytest.raises(StorageFault):
        log.finish_flush(job)
    assert log.flush_state.recovery_point == 0
    assert directory.offline_reason is not None


def test_checkpoints_that_cannot_be_written_take_it_offline() -> None:
    disk = CrashDisk()
    directory, _ = new_log(disk)
    disk.fail_writes(errno.ENOSPC)
    with pytest.raises(StorageFault):
        directory.write_checkpoints()
    assert directory.offline_reason is not None


def test_a_directory_that_cannot_be_opened() -> None:
    disk = CrashDisk()
    disk.fail_writes(errno.EROFS)
    with pytest.raises(StorageFault, match="read-only"):
        open_directory(disk)


@pytest.mark.skipif(os.geteuid() != 0 and not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_the_kernels_own_full_disk(tmp_path: Path) -> None:
    directory = open_directory(OsFiles(), path=str(tmp_path))
    log = directory.create_log(ORDERS, None, LogConfig(), now_ms=NOW_MS)
    segment = log.segments.active
    os.remove(segment.files.path(".log"))
    os.symlink("/dev/full", segment.files.path(".log"))
    with pytest.raises(StorageFault, match="No space left on device"):
        append(log, batch())
    assert log.end_offset == 0


def test_closing_many_logs_flushes_each() -> None:
    disk = CrashDisk()
    directory = open_directory(disk)
    names = [TopicPartition("many", index) for index in range(50)]
    for name in names:
        append(directory.create_log(name, None, LogConfig(), now_ms=NOW_MS), batch(producer_id=1, sequence=0))
    directory.close()
    after = disk.crash(Random(3))
    again = open_directory(after)
    assert again.was_clean
    for name in names:
        assert again.logs[name].end_offset == 1
        assert len(again.logs[name].producers.views()) == 1


def test_the_recovery_point_is_checkpointed_below_unsaved_indexes() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk, LogConfig(flush_messages=1))
    append(log, batch(4))
    flush(log)
    assert log.flush_state.recovery_point == 4
    directory.write_checkpoints()
    assert disk.read_bytes("/data/recovery-point-offset-checkpoint") == b"0\n1\norders 0 0\n"
    assert disk.read_bytes("/data/replication-offset-checkpoint") == b"0\n1\norders 0 4\n"


def test_an_older_checkpoint_never_replaces_a_newer_one() -> None:
    disk = CrashDisk()
    directory, log = new_log(disk)
    older = directory.begin_checkpoints()
    append(log, batch(4))
    newer = directory.begin_checkpoints()
    newer.run()
    after = disk.read_bytes("/data/replication-offset-checkpoint")
    older.run()
    assert disk.read_bytes("/data/replication-offset-checkpoint") == after


def test_checkpoints_written_by_several_threads_at_once_do_not_get_in_each_others_way(tmp_path: Path) -> None:
    directory = LogDirectory.open(
        OsFiles(), str(tmp_path), cluster_id=None, node_id=1, config_for=lambda _: LogConfig(), now_ms=NOW_MS
    )
    jobs = [directory.begin_checkpoints() for _ in range(100)]
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(job.run) for job in jobs]:
            done.result()
    assert directory.offline_reason is None
    directory.close()
