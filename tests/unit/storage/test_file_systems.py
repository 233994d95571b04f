"""One suite for both disks: the real one and the simulated one."""

import errno
from pathlib import Path

import pytest

from moldau.storage.disk import Disk
from moldau.storage.os_files import OsFiles
from moldau.testing.simulation.crash_disk import CrashDisk


@pytest.fixture(params=["os", "crash"])
def disk(request: pytest.FixtureRequest) -> Disk:
    return OsFiles() if request.param == "os" else CrashDisk()


@pytest.fixture
def root(disk: Disk, tmp_path: Path) -> str:
    disk.make_directory(f"{tmp_path}/disk")
    return f"{tmp_path}/disk"


def test_appended_bytes_can_be_read_anywhere(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/a", create=True)
    file.append(b"hello ")
    file.append(memoryview(bytearray(b"world")))
    assert file.size() == 11
    assert file.read(0, 11) == b"hello world"
    assert file.read(6, 100) == b"world"
    assert file.read(11, 5) == b""
    assert disk.open(f"{root}/a").read(0, 5) == b"hello"
    assert file.path == f"{root}/a"


def test_truncating_cuts_and_later_appends_go_to_the_new_end(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/a", create=True)
    file.append(b"0123456789")
    file.truncate(4)
    file.append(b"x")
    file.sync()
    assert disk.read_bytes(f"{root}/a") == b"0123x"


def test_two_handles_append_to_one_end(disk: Disk, root: str) -> None:
    first = disk.open(f"{root}/a", create=True)
    second = disk.open(f"{root}/a")
    first.append(b"1")
    second.append(b"2")
    first.append(b"3")
    assert disk.read_bytes(f"{root}/a") == b"123"


def test_a_file_opened_for_reading_cannot_be_written(disk: Disk, root: str) -> None:
    disk.open(f"{root}/a", create=True).append(b"content")
    file = disk.open(f"{root}/a", writable=False)
    with pytest.raises(OSError) as raised:
        file.append(b"no")
    assert raised.value.errno == errno.EBADF
    assert file.read(0, 10) == b"content"


def test_opening_what_is_not_there(disk: Disk, root: str) -> None:
    with pytest.raises(FileNotFoundError):
        disk.open(f"{root}/missing")
    with pytest.raises(FileNotFoundError):
        disk.read_bytes(f"{root}/missing")
    with pytest.raises(FileNotFoundError):
        disk.open(f"{root}/no/such/directory", create=True)


def test_replacing_a_file_as_one_step(disk: Disk, root: str) -> None:
    disk.write_atomically(f"{root}/a", b"old")
    reader = disk.open(f"{root}/a", writable=False)
    disk.write_atomically(f"{root}/a", b"new", durable=False)
    assert disk.read_bytes(f"{root}/a") == b"new"
    assert reader.read(0, 10) == b"old"
    assert disk.list(root) == ["a"]


def test_an_open_file_outlives_its_name(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/a", create=True)
    file.append(b"still here")
    disk.rename(f"{root}/a", f"{root}/b")
    disk.remove(f"{root}/b")
    assert not disk.exists(f"{root}/a")
    assert not disk.exists(f"{root}/b")
    assert file.read(0, 100) == b"still here"


def test_listing_names_everything_and_entries_only_files(disk: Disk, root: str) -> None:
    disk.open(f"{root}/file", create=True).append(b"12345")
    disk.make_directory(f"{root}/directory/below")
    assert sorted(disk.list(root)) == ["directory", "file"]
    assert dict(disk.entries(root)) == {"file": 5}
    disk.make_directory(f"{root}/directory")
    disk.remove_tree(f"{root}/directory")
    assert disk.list(root) == ["file"]


def test_a_renamed_directory_takes_its_content_along(disk: Disk, root: str) -> None:
    disk.make_directory(f"{root}/old")
    disk.open(f"{root}/old/file", create=True).append(b"x")
    disk.rename(f"{root}/old", f"{root}/new")
    disk.sync_directory(root)
    assert disk.read_bytes(f"{root}/new/file") == b"x"
    assert not disk.exists(f"{root}/old")


def test_errors_carry_their_number(disk: Disk, root: str) -> None:
    for change in (
        lambda: disk.remove(f"{root}/missing"),
        lambda: disk.rename(f"{root}/missing", f"{root}/b"),
    ):
        with pytest.raises(OSError) as raised:
            change()
        assert raised.value.errno == errno.ENOENT


def test_a_lock_excludes_a_second_holder_until_it_goes(disk: Disk, root: str) -> None:
    lock = disk.lock(f"{root}/.lock")
    with pytest.raises(BlockingIOError):
        disk.lock(f"{root}/.lock")
    del lock
    disk.lock(f"{root}/.lock")


def test_modification_times_are_milliseconds(disk: Disk, root: str) -> None:
    disk.open(f"{root}/a", create=True).append(b"x")
    assert disk.modified_ms(f"{root}/a") >= 0
    with pytest.raises(FileNotFoundError):
        disk.modified_ms(f"{root}/missing")
