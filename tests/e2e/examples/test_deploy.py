"""The files of examples/deploy: valid, and their command lines start a broker and a registry that work together."""

import configparser
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from compat.server_process import ServerProcess, free_port
from e2e.cli.shell import MOLDAU, Shell
from e2e.examples.programs import EXAMPLES, run_python

pytestmark = pytest.mark.slow

DEPLOY = EXAMPLES / "deploy"
UNITS = ("moldau-broker.service", "moldau-registry.service")
AVRO = "examples/schema_registry/avro_round_trip.py"


class Started(ServerProcess):
    """A command line of an example, with other ports and folders in it."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        super().__init__(folder)
        self._arguments = arguments

    def command(self) -> list[str]:
        return [MOLDAU, *self._arguments]

    def is_ready(self) -> bool:
        return any(line.startswith("ready") for line in self.log_text().splitlines())


def replaced(texts: Sequence[str], replacements: dict[str, str]) -> list[str]:
    """Each replacement must occur, so that a changed example cannot slip past its test."""
    for old in replacements:
        assert any(old in text for text in texts), f"{old} is in none of {texts}"
    found = []
    for text in texts:
        for old, new in replacements.items():
            text = text.replace(old, new)
        found.append(text)
    return found


def assert_of_use(broker: str, registry: str) -> None:
    assert "'item': 'pears'" in run_python(AVRO, broker, registry)
    assert "purchases-value" in Shell(broker).run("schemas", "list", "--registry", registry)


def test_the_compose_file(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed: pip install pyyaml")
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    assert list(services) == ["broker", "registry"]
    assert (DEPLOY / services["broker"]["build"]["context"]).resolve() == EXAMPLES.parent
    assert (EXAMPLES.parent / services["broker"]["build"]["dockerfile"]).is_file()
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    host, internal, url = free_port(), free_port(), free_port()
    command = replaced(
        services["broker"]["command"],
        {
            "/var/lib/moldau": str(tmp_path),
            "0.0.0.0": "127.0.0.1",
            "//broker:": "//127.0.0.1:",
            ":9092": f":{host}",
            ":19092": f":{internal}",
        },
    )
    with Started(tmp_path / "broker", command):
        probe = services["broker"]["healthcheck"]["test"]
        assert probe[:2] == ["CMD", "moldau"]
        Shell("").run(*replaced(probe[2:], {"broker:19092": f"127.0.0.1:{internal}"}))
        command = replaced(
            services["registry"]["command"],
            {"broker:19092": f"127.0.0.1:{internal}", "0.0.0.0:8081": f"127.0.0.1:{url}"},
        )
        with Started(tmp_path / "registry", command):
            assert_of_use(f"localhost:{host}", f"http://127.0.0.1:{url}")


def test_the_image_copies_files_that_exist() -> None:
    copied = [
        name
        for line in (DEPLOY / "Dockerfile").read_text().splitlines()
        if line.startswith("COPY")
        for name in line.split()[1:-1]
    ]
    assert copied
    assert [name for name in copied if not (EXAMPLES.parent / name).exists()] == []


def exec_start(unit: str) -> list[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(DEPLOY / unit)
    assert parser["Install"]["WantedBy"] == "multi-user.target"
    return shlex.split(parser["Service"]["ExecStart"])


def test_the_units_start_a_platform(tmp_path: Path) -> None:
    broker, registry = free_port(), free_port()
    settings = {"/var/lib/moldau": str(tmp_path), "127.0.0.1:9092": f"127.0.0.1:{broker}"}
    settings_of = {
        "broker.properties": settings,
        "registry.properties": {
            "127.0.0.1:9092": f"127.0.0.1:{broker}",
            "127.0.0.1:8081": f"127.0.0.1:{registry}",
        },
    }
    for name, replacements in settings_of.items():
        [text] = replaced([(DEPLOY / name).read_text()], replacements)
        (tmp_path / name).write_text(text)
    commands = [replaced(exec_start(unit)[1:], {"/etc/moldau": str(tmp_path)}) for unit in UNITS]
    with Started(tmp_path / "broker", commands[0]), Started(tmp_path / "registry", commands[1]):
        assert_of_use(f"127.0.0.1:{broker}", f"http://127.0.0.1:{registry}")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", UNITS)
def test_systemd_takes_the_unit(tmp_path: Path, unit: str) -> None:
    """With a program that exists here in the place of the one that would be installed."""
    assert exec_start(unit)[0] == "/opt/moldau/bin/moldau"
    text = (DEPLOY / unit).read_text().replace("/opt/moldau/bin/moldau", sys.executable)
    (tmp_path / unit).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / unit)], capture_output=True, text=True, check=False
    )
    about_it = [line for line in (done.stdout + done.stderr).splitlines() if unit in line]
    assert about_it == []
