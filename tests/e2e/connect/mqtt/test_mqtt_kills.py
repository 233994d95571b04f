"""MqttSource loses nothing, whatever is killed: the task's process, or the server with its sessions stored."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from connect_kit import eventually
from e2e.connect.mqtt.conftest import Start
from e2e.connect.mqtt.mosquitto import Mosquitto

BURST = 200


@pytest.mark.parametrize("version", ["5", "3.1.1"])
def test_at_least_once_under_kills(server: Mosquitto, start: Start, tmp_path: Path, version: str) -> None:
    """MOLDAU_KILL_ROUNDS says how often."""
    rounds = int(os.environ.get("MOLDAU_KILL_ROUNDS", "2"))
    topic, found = f"sensors/kills/{version}", tmp_path / "found"
    config = {
        **server.config,
        "name": f"kills-{version}",
        "mqtt.topics": topic,
        "mqtt.qos": "2",
        "mqtt.protocol.version": version,
        "mqtt.clean.session.enabled": "false",
    }
    reader = Path(__file__).with_name("reader.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    found.touch()

    def started() -> subprocess.Popen[bytes]:
        command = [sys.executable, str(reader), json.dumps(config), str(found)]
        return subprocess.Popen(command, env=environment)

    def lines() -> list[int]:
        return [int(line) for line in found.read_text().splitlines()]

    def until(count: int) -> None:
        eventually(lambda: len(lines()) > count, f"more than {count} messages")

    # The session begins before the first message.
    first = start("source", **{key.replace(".", "_"): value for key, value in config.items()})
    eventually(lambda: not first.poll() and first._connection.is_open, "the task has subscribed")
    first.stop()
    process = started()
    try:
        for number in range(rounds):
            burst = [str(each) for each in range(number * BURST, (number + 1) * BURST)]
            with server.client() as peer:
                peer.publish_all(topic, burst)
            until(number * BURST)
            if number % 2:
                server.stop()
                assert server.start()
            else:
                process.kill()
                process.wait()
                process = started()
        eventually(lambda: len(set(lines())) >= rounds * BURST, "all messages")
    finally:
        process.kill()
        process.wait()
    assert set(lines()) == set(range(rounds * BURST))
