"""The commands of the guide run as they stand, except for the addresses, and print what the guide shows."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from compat.server_process import free_port, wait_until
from documents import GUIDES, Page
from e2e.cli.shell import MOLDAU
from moldau.testing import LocalCluster

MARK = "@@@"
SERVER = "moldau rest "


def commands() -> Iterator[tuple[str, str]]:
    """Each command of the guide, and what it prints."""
    for block in Page(GUIDES / "rest.md").blocks("console"):
        command, shown = "", ""
        for line in block.text.splitlines():
            if line.startswith("$ "):
                if command:
                    yield command, shown
                command, shown = line[2:], ""
            elif command.endswith(("\\", "|")):
                command += f"\n{line}"
            else:
                shown += f"{line}\n"
        yield command, shown


@pytest.fixture
def script(tmp_path: Path) -> Iterator[str]:
    """All commands but the first in one shell, while the first, which starts the proxy, runs."""
    [(server, said), *others] = commands()
    assert server.startswith(SERVER) and said == "ready http://127.0.0.1:8082\n"
    port = free_port()
    with LocalCluster(registry=True) as cluster:
        server = server.replace("localhost:9092", cluster.bootstrap_servers).replace("8082", str(port))
        arguments = [*server.split()[1:], "--override", f"schema.registry.url={cluster.registry_url}"]
        log = tmp_path / "log"
        with log.open("wb") as file:
            process = subprocess.Popen([MOLDAU, *arguments], stdout=file, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: log.read_text().startswith("ready "), "the proxy is ready")
            # Answers do not end with a line break, and curl shows how far it is when it is piped.
            lines = ['curl() { command curl -sS "$@" && echo; }']
            lines += [f"echo '{MARK}'\n{command}" for command, _ in others]
            yield "\n".join(lines).replace("8082", str(port))
        finally:
            process.terminate()
            assert process.wait(60) == 0
        assert "Traceback" not in log.read_text()


def test_the_commands_print_what_the_guide_shows(script: str) -> None:
    done = subprocess.run(["bash", "-e", "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    printed = re.sub(r"localhost:\d+", "localhost:8082", done.stdout).split(f"{MARK}\n")[1:]
    [_, *expected] = commands()
    assert len(printed) == len(expected) > 10
    for (command, shown), told in zip(expected, printed, strict=True):
        if shown:
            assert told.strip() == shown.strip(), command
        else:
            # What varies from cluster to cluster is not shown.
            if command.endswith("/records"):
                assert re.findall(r'"offset":(\d+)', told) == ["0", "1", "2"]
            assert '"error_code":4' not in told and '"error_code":5' not in told, (command, told)
