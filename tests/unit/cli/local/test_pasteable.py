"""What `moldau up` says to try works when it is pasted."""

import os
from pathlib import Path

import pytest

from moldau.cli.local.services import pasteable

HINT = "{moldau} consume orders{at}"


@pytest.fixture
def path_without_moldau(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("path_without_moldau")
def test_a_command_the_shell_would_not_find_has_its_path() -> None:
    program = pasteable(HINT, "127.0.0.1:9092").split()[0]
    assert os.path.basename(program) == "moldau"
    assert os.path.dirname(program)


def test_a_command_on_the_path_needs_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = tmp_path / "moldau"
    command.write_text("")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert pasteable(HINT, "127.0.0.1:9092") == "moldau consume orders"


def test_brokers_elsewhere_are_named() -> None:
    assert pasteable(HINT, "127.0.0.1:19092").endswith(" --bootstrap-server 127.0.0.1:19092")
