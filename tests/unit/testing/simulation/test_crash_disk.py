"""What the simulated disk keeps and loses; the recovery tests rely on it."""

import errno
from random import Random

import pytest

from moldau.testing.simulation.crash_disk import CrashDisk, PowerCut


def crashes(disk: CrashDisk, count: int = 50) -> list[CrashDisk]:
    return [disk.crash(Random(seed)) for seed in range(count)]


def test_what_was_synced_with_its_directory_survives() -> None:
    disk = CrashDisk()
    disk.make_directory("/d")
    disk.sync_directory("/")
    file = disk.open("/d/a", create=True)
    file.append(b"certain")
    file.sync()
    disk.sync_directory("/d")
    file.append(b" perhaps")
    contents = {after.read_bytes("/d/a") for after in crashes(disk)}
    assert all(content.startswith(b"certain") for content in contents)
    assert len(contents) > 3
    assert any(content[:15] != b"certain perhaps"[: len(content)] for content in contents), "no tail was torn"


def test_a_synced_file_in_an_unsynced_directory_may_be_gone() -> None:
    disk = CrashDisk()
    file = disk.open("/a", create=True)
    file.append(b"x")
    file.sync()
    assert {after.exists("/a") for after in crashes(disk)} == {True, False}


def test_an_unsynced_rename_happened_or_not_but_never_half() -> None:
    disk = CrashDisk()
    disk.write_atomically("/a", b"old")
    disk.write_atomically("/a", b"new", durable=False)
    contents = {after.read_bytes("/a") for after in crashes(disk)}
    assert b"old" in contents
    assert all(content == b"old" or len(content) <= 3 + 64 for content in contents)


def test_an_unsynced_truncation_may_come_back() -> None:
    disk = CrashDisk()
    file = disk.open("/a", create=True)
    file.append(b"0123456789")
    file.sync()
    disk.sync_directory("/")
    file.truncate(4)
    contents = {after.read_bytes("/a") for after in crashes(disk)}
    assert b"0123456789" in contents
    assert b"0123" in contents


def test_the_power_goes_at_the_chosen_step_and_stays_off() -> None:
    disk = CrashDisk()
    file = disk.open("/a", create=True)
    disk.cut_power_after(1)
    file.append(b"1")
    with pytest.raises(PowerCut):
        file.append(b"2")
    with pytest.raises(PowerCut):
        file.read(0, 1)


def test_a_failing_disk_changes_nothing() -> None:
    disk = CrashDisk()
    file = disk.open("/a", create=True)
    disk.fail_writes(errno.ENOSPC)
    with pytest.raises(OSError) as raised:
        file.append(b"x")
    assert raised.value.errno == errno.ENOSPC
    assert file.size() == 0
    disk.fail_writes(None)
    file.append(b"x")
    assert file.read(0, 9) == b"x"
