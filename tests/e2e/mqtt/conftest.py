"""One broker and one proxy for the folder; further proxies for tests that stop or kill them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.mqtt.mqtt_proxy import MqttProxy
from e2e.mqtt.wire_client import Wire, fresh
from moldau.testing import LocalCluster

StartProxy = Callable[..., MqttProxy]
Dial = Callable[..., Wire]


@pytest.fixture(scope="package")
def kafka() -> Iterator[LocalCluster]:
    with LocalCluster() as cluster:
        yield cluster


@pytest.fixture(scope="package")
def proxy(kafka: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MqttProxy]:
    with MqttProxy(tmp_path_factory.mktemp("mqtt"), kafka.bootstrap_servers, {"receive.max": "20"}) as proxy:
        yield proxy
        text = proxy.log_text()
        assert "Traceback" not in text, text[-4000:]
        assert proxy.stop() == 0


@pytest.fixture
def dial(proxy: MqttProxy) -> Iterator[Dial]:
    """Connections to the proxy, which end with the test."""
    wires: list[Wire] = []

    def dialled(version: int = 4) -> Wire:
        wires.append(Wire(proxy.port, version))
        return wires[-1]

    yield dialled
    for wire in wires:
        wire.close()


@pytest.fixture
def connected(dial: Dial) -> Dial:
    """Connections whose CONNECT was accepted."""

    def connect(version: int = 4, client_id: str | None = None, **fields: Any) -> Wire:
        wire = dial(version)
        wire.connect(client_id, **fields)
        return wire

    return connect


@pytest.fixture
def start_proxy(kafka: LocalCluster, tmp_path: Path) -> Iterator[StartProxy]:
    """Proxies with sessions of their own. What they log must not hold a traceback."""
    proxies: list[MqttProxy] = []

    def start(bootstrap: str = "", scheme: str = "mqtt", **settings: str) -> MqttProxy:
        """Settings are written with underscores for dots."""
        dotted = {key.replace("_", "."): value for key, value in settings.items()}
        dotted.setdefault("proxy.id", fresh("proxy"))
        dotted.setdefault("topic.default", fresh("mqtt-"))
        dotted.setdefault("retained.topic", fresh("_retained-"))
        servers = bootstrap or kafka.bootstrap_servers
        proxy = MqttProxy(tmp_path / fresh("proxy"), servers, dotted, scheme).start()
        proxies.append(proxy)
        return proxy

    yield start
    for proxy in proxies:
        proxy.stop()
        text = proxy.log_text()
        assert "Traceback" not in text, text[-4000:]
