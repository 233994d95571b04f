"""What `moldau up --secure` makes before it starts anything."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.cli.local.secure_set_up import prepare


@pytest.fixture(autouse=True)
def _umask_afterwards() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_state_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    names = ("data", "data-connect", "data-sql")
    for name in names:
        (tmp_path / name).mkdir(mode=0o755)
    (tmp_path / "data" / "meta.properties").touch()
    set_up = prepare(tmp_path / "data-security", "127.0.0.1")
    for path in (*(tmp_path / name for name in names), set_up.folder, set_up.certificates.path):
        assert mode(path) == 0o700, path
    made = tmp_path / "by-a-child"
    script = "import os, sys; os.makedirs(sys.argv[1], mode=0o755); open(sys.argv[1] + '/f', 'w').close()"
    subprocess.run([sys.executable, "-c", script, str(made)], check=True)
    assert (mode(made), mode(made / "f")) == (0o700, 0o600)


def test_a_directory_with_other_things_keeps_its_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (shared / "of-somebody").touch()
    prepare(tmp_path / "shared-security", "127.0.0.1")
    assert mode(shared) == 0o755
