"""File systems in memory, small enough to fill and quick to turn read-only. Needs the right to mount."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

MakeDisk = Callable[[str, int], Path]
"""Takes a name and a size in bytes."""


def mount_new(disk: Path, bytes_max: int) -> None:
    _mount("-t", "tmpfs", "-o", f"size={bytes_max}", "tmpfs", str(disk))


def resize(disk: Path, bytes_max: int) -> None:
    _mount("-o", f"remount,size={bytes_max}", str(disk))


def make_read_only(disk: Path) -> None:
    _mount("-o", "remount,ro", str(disk))


def unmount(disk: Path) -> None:
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
