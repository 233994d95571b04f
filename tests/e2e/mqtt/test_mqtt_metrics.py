"""Figures for Prometheus."""

import http.client

from e2e.mqtt.conftest import StartProxy
from e2e.mqtt.wire_client import PATIENCE_S, Wire


def asked(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_metrics(start_proxy: StartProxy) -> None:
    proxy = start_proxy(metrics_listener="http://127.0.0.1:0")
    [line] = [line for line in proxy.log_text().splitlines() if line.startswith("ready")]
    port = int(line.rpartition(":")[2])
    with Wire(proxy.port) as wire:
        wire.connect("metered", clean_start=False)
        wire.subscribe("a/#")
        for qos in (0, 1, 2):
            wire.publish("a/b", b"x", qos, retain=True)
            wire.message()
        status, text = asked(port, "/metrics")
    assert status == 200
    found = dict(line.removeprefix("moldau_mqtt_").split() for line in text.splitlines() if line[0] != "#")
    assert int(found.pop("transactions_total")) > 3
    assert int(found.pop("backlog_bytes")) == 0
    assert found == {
        "connections": "1",
        "sessions": "1",
        "subscriptions": "1",
        "retained_messages": "1",
        "received_messages_total": "3",
        "failed_messages_total": "0",
        "sent_messages_total": "3",
        "dropped_messages_total": "0",
    }
    assert asked(port, "/other")[0] == 404
    with Wire(port) as other:
        other.send_raw(b"no http" * 5_000)
        assert other.is_closed()
    assert asked(port, "/metrics")[0] == 200
