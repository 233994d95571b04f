"""MQTT.js, the client of Node.js and of browsers, at every QoS in both versions."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import PATIENCE_S, fresh

FOLDER = Path(__file__).parent / "node"
INSTALLED = FOLDER / "node_modules" / ".installed"
"""The lock file that the packages came from."""
COUNT = 20


def test_mqttjs(proxy: MqttProxy) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js (node) is not installed; run tools/install-test-tools")
    if not INSTALLED.is_file() or INSTALLED.read_bytes() != (FOLDER / "package-lock.json").read_bytes():
        pytest.skip("the package that tests/e2e/mqtt/node pins is missing; run tools/install-test-tools")
    topic = fresh("mqttjs")
    done = subprocess.run(
        [node, str(FOLDER / "mqttjs_driver.mjs"), f"mqtt://127.0.0.1:{proxy.port}", topic],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert [(one["protocolVersion"], one["qos"]) for one in seen] == [
        (version, qos) for version in (4, 5) for qos in (0, 1, 2)
    ]
    for one in seen:
        version, qos = one["protocolVersion"], one["qos"]
        properties = {"site": "Brno"} if version == 5 else {}
        assert one["granted"] == qos
        assert one["found"] == [
            [f"{topic}/{version}/{qos}/x", str(number), qos, properties] for number in range(COUNT)
        ]
