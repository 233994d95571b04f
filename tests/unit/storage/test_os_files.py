"""What only real files do: partial writes, descriptors, locks that Java's Kafka respects."""

import errno
import gc
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from moldau.storage.os_files import OsFiles


def test_a_write_that_breaks_off_leaves_the_file_as_long_as_it_was(tmp_path: Path) -> None:
    file = OsFiles().open(f"{tmp_path}/a", create=True)
    file.append(b"whole")
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Past the size limit the kernel writes what fits and refuses the rest, as a full disk does.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, old[1]))
    try:
        with pytest.raises(OSError) as raised:
            file.append(bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert raised.value.errno == errno.EFBIG
    assert file.size() == 5
    file.append(b" again")
    assert file.read(0, 100) == b"whole again"


def test_the_descriptor_closes_with_the_last_reference(tmp_path: Path) -> None:
    file = OsFiles().open(f"{tmp_path}/a", create=True)
    opened = os.stat(tmp_path / "a").st_ino
    assert os.fstat(file.fileno()).st_ino == opened
    del file
    gc.collect()
    # Another thread may have opened something else under the same number.
    assert opened not in [inode_of(int(number)) for number in os.listdir("/proc/self/fd")]


def inode_of(fd: int) -> int | None:
    try:
        return os.fstat(fd).st_ino
    except OSError:
        return None


def test_another_process_sees_the_lock(tmp_path: Path) -> None:
    lock = OsFiles().lock(f"{tmp_path}/.lock")
    attempt = (
        "import fcntl, sys\n"
        f"file = open({str(tmp_path / '.lock')!r}, 'r+')\n"
        "try:\n    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "except OSError:\n    sys.exit(3)\n"
    )
    assert subprocess.run([sys.executable, "-c", attempt]).returncode == 3
    del lock
    assert subprocess.run([sys.executable, "-c", attempt]).returncode == 0
