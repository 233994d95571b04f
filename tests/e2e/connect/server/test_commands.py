"""`moldau connect` on the worker of the tests: what people type, and what they see."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from compat.server_process import wait_until
from e2e.connect.server.conftest import IDLE_SINK, IDLE_SOURCE
from e2e.connect.server.connect_process import PATIENCE_S, ConnectClient
from moldau.cli.main import platform
from moldau.pipeline.connect.plugins import find_connector

BROKEN_SOURCE = "e2e.connect.server.idle_connectors:BrokenSource"


class Shell:
    def __init__(self, url: str) -> None:
        self._url = url

    def result(self, *words: str, given: str | None = None) -> Result:
        return CliRunner().invoke(
            platform,
            ["connect", *words],
            env={"MOLDAU_CONNECT": self._url},
            input=given,
            standalone_mode=True,
        )

    def run(self, *words: str, given: str | None = None) -> str:
        result = self.result(*words, given=given)
        assert result.exit_code == 0, result.output
        return result.stdout

    def fail(self, *words: str) -> str:
        result = self.result(*words)
        assert result.exit_code != 0, result.output
        return result.stderr


@pytest.fixture
def shell(client: ConnectClient) -> Shell:
    return Shell(client.url)


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("c.yaml", f"connector.class: {IDLE_SOURCE}\ncolour: on\ntasks.max: 2\n"),
        ("c.yml", f"config:\n  connector.class: {IDLE_SOURCE}\n  colour: on\n  tasks.max: 2\n"),
        ("c.json", json.dumps({"connector.class": IDLE_SOURCE, "colour": "on", "tasks.max": 2})),
        ("c.properties", f"# a comment\nconnector.class={IDLE_SOURCE}\ncolour = on\ntasks.max=2\n"),
    ],
)
def test_create_from_each_kind_of_file(
    shell: Shell, client: ConnectClient, name: str, tmp_path: Path, file: str, text: str
) -> None:
    assert shell.run("create", written(tmp_path / file, text), "--name", name) == f"Created '{name}'.\n"
    assert client.of(name, "/config") == {
        "name": name,
        "connector.class": IDLE_SOURCE,
        "colour": "on",
        "tasks.max": "2",
    }


def test_the_life_of_a_connector(shell: Shell, client: ConnectClient, name: str) -> None:
    setting = ("--set", f"connector.class={IDLE_SINK}", "--set", "colour=red", "--set", "topics=reds")
    shell.run("create", "--name", name, *setting, "--state", "paused")
    client.wait_states(name, "PAUSED", [])
    for action, past, state in (
        ("resume", "Resumed", "RUNNING"),
        ("stop", "Stopped", "STOPPED"),
        ("resume", "Resumed", "RUNNING"),
        ("pause", "Paused", "PAUSED"),
    ):
        assert shell.run(action, name) == f"{past} '{name}'.\n"
        client.wait_states(name, state, [])
    assert shell.run("restart", name, "--tasks") == f"Restarted '{name}'.\n"
    (listed,) = json.loads(shell.run("list", name, "--output", "json"))
    assert (listed["name"], listed["type"], listed["tasks"]) == (name, "sink", [])
    assert shell.run("list", name).splitlines()[0].split() == ["NAME", "TYPE", "STATE", "TASKS", "WORKER"]
    assert shell.run("edit", name, "--set", "colour=blue", "--set", "secret=hush") == (
        f"Changed colour, secret of '{name}'.\n"
    )
    shown = shell.run("show", name)
    assert "blue" in shown
    assert "hush" not in shown
    assert json.loads(shell.run("show", name, "-o", "json"))["config"]["colour"] == "blue"
    assert shell.run("edit", name, "--unset", "secret") == f"Changed secret of '{name}'.\n"
    assert "nothing was deleted" in shell.fail("delete", name)
    assert shell.run("delete", name, "--yes") == f"Deleted '{name}'.\n"
    assert f"there is no connector '{name}'" in shell.fail("show", name)


def test_replace(shell: Shell, client: ConnectClient, name: str, tmp_path: Path) -> None:
    """The state is obeyed whether the connector exists or not; that of a file is for a new one."""
    text = f"initial_state: PAUSED\nname: {name}\nconfig:\n  connector.class: {IDLE_SINK}\n  topics: reds\n"
    replace = ("create", written(tmp_path / "c.yaml", text), "--replace", "--set")
    shell.run(*replace, "colour=red")
    client.wait_states(name, "PAUSED", [])
    for colour, state in (("blue", "stopped"), ("green", "running"), ("grey", "paused"), ("pink", "running")):
        shell.run(*replace, f"colour={colour}", "--state", state)
        client.wait_states(name, state.upper(), [])
        assert client.of(name, "/config")["colour"] == colour
    shell.run(*replace, "colour=black")
    assert client.of(name, "/config")["colour"] == "black"
    assert "tasks.max" in shell.fail(*replace, "tasks.max=0", "--set", "colour=red", "--state", "stopped")
    assert client.states(name)[0] == "RUNNING"


def test_offsets(shell: Shell, client: ConnectClient, name: str, tmp_path: Path) -> None:
    client.create(name, {"connector.class": IDLE_SOURCE, "colour": "red"})
    changes = {"offsets": [{"partition": {"shelf": 1}, "offset": {"book": 7}}]}
    file = written(tmp_path / "offsets.json", json.dumps(changes))
    assert "STOPPED state" in shell.fail("offsets", name, "--alter", file)
    shell.run("stop", name)
    client.wait_states(name, "STOPPED", [])
    shell.run("offsets", name, "--alter", file)
    assert json.loads(shell.run("offsets", name, "--output", "json")) == changes
    assert '{"shelf":1}' in shell.run("offsets", name)
    shell.run("offsets", name, "--reset")
    assert json.loads(shell.run("offsets", name, "--output", "json")) == {"offsets": []}


def test_plugins(shell: Shell) -> None:
    listed = [line.split() for line in shell.run("plugins").splitlines()]
    assert listed[0] == ["NAME", "TYPE", "VERSION", "CLASS"]
    known = {words[0]: words[-1] for words in listed[1:]}
    assert known["FileStreamSink"] == "org.apache.kafka.connect.file.FileStreamSinkConnector"
    assert {name: find_connector(name).class_name for name in known} == known
    assert "org.apache.kafka.connect.transforms.Cast$Value" in shell.run("plugins", "--all")
    assert "batch.size" in shell.run("plugins", "FileStreamSource")


def test_validate(shell: Shell, name: str, tmp_path: Path) -> None:
    file = written(tmp_path / "c.yaml", f"name: {name}\nconnector.class: {IDLE_SOURCE}\ncolur: red\n")
    result = shell.result("validate", file)
    assert result.exit_code == 1
    assert 'Missing required configuration "colour"' in result.stdout
    assert result.stderr == ("Warning: unknown setting colur; did you mean colour? It has no effect.\n")
    many = [word for number in range(12) for word in ("--set", f"nobody.{number}=x")]
    warnings = shell.result("validate", file, *many).stderr.splitlines()
    assert warnings[1] == "Warning: unknown setting nobody.0. It has no effect."
    assert (len(warnings), warnings[-1]) == (11, "Warning: 3 more unknown settings have no effect.")
    assert shell.run("validate", file, "--set", "colour=red") == "The settings are valid.\n"


def test_wrong_input(shell: Shell, client: ConnectClient, name: str, tmp_path: Path) -> None:
    client.create(name, {"connector.class": IDLE_SOURCE, "colour": "red"})
    client.wait_states(name, "RUNNING", [])
    assert "Did you mean" in shell.fail("pause", f"{name}x")
    assert "is not JSON" in shell.fail("create", written(tmp_path / "c.json", "{"))
    assert "is not YAML" in shell.fail("create", written(tmp_path / "c.yaml", "{a"))
    assert "Name the connector" in shell.fail("create", "--set", f"connector.class={IDLE_SOURCE}")
    assert "already exists" in shell.fail(
        "create", "--name", name, "--set", f"connector.class={IDLE_SOURCE}", "--set", "colour=red"
    )
    assert "has no setting colur; did you mean colour?" in shell.fail("edit", name, "--unset", "colur")
    result = shell.result("pause", "nobody", name)
    assert result.exit_code == 1
    assert "1 of 2 connectors were left as they were" in result.stderr
    wait_until(lambda: client.states(name)[0] == "PAUSED", "the other one is paused", PATIENCE_S)


def test_create_and_wait_for_a_failure(shell: Shell, name: str) -> None:
    setting = ("--set", f"connector.class={IDLE_SOURCE}", "--set", "colour=red", "--set", "fails=no entry")
    said = shell.fail("create", "--name", name, *setting, "--wait", str(PATIENCE_S))
    assert f"'{name}' was created, but fails:\nConnectError: no entry" in said


def test_the_reason_of_a_failure_comes_before_its_trace(shell: Shell, name: str) -> None:
    setting = ("--set", f"connector.class={BROKEN_SOURCE}", "--set", "colour=red")
    said = shell.fail("create", "--name", name, *setting, "--wait", str(PATIENCE_S))
    reason = "RuntimeError: there is no paint of the colour red\n\nTraceback (most recent call last):\n"
    assert f"'{name}' was created, but fails:\n{reason}" in said
    assert f"Why the connector failed:\n{reason}" in shell.run("show", name)
    shell.run("delete", name, "--yes")


def test_what_a_connector_waits_for(shell: Shell, client: ConnectClient, name: str) -> None:
    setting = (
        "--set",
        f"connector.class={IDLE_SOURCE}",
        "--set",
        "colour=red",
        "--set",
        "waits=no paint yet",
    )
    shell.run("create", "--name", name, *setting)
    client.wait_states(name, "RUNNING", [])
    assert "Why the connector waits:\nno paint yet\n" in shell.run("show", name)
    shell.run("edit", name, "--unset", "waits")
    wait_until(lambda: "waits" not in shell.run("show", name), "it does not wait any more", PATIENCE_S)
    shell.run("delete", name, "--yes")
