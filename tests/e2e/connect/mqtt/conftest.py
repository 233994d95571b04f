"""One mosquitto for the folder, and tasks that end with the test."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from connect_kit import Reports, StoredOffsets
from e2e.connect.mqtt.mosquitto import Mosquitto, mosquitto
from moldau.pipeline.connect.connectors.mqtt.sink import MqttSinkConnector
from moldau.pipeline.connect.connectors.mqtt.source import MqttSourceConnector

Start = Callable[..., Any]


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path_factory.mktemp("mosquitto")) as found:
        yield found


@pytest.fixture
def reports() -> Reports:
    return Reports()


@pytest.fixture
def start(server: Mosquitto, reports: Reports, request: pytest.FixtureRequest) -> Iterator[Start]:
    """Starts a task. Underscores in the names of settings are points."""
    tasks: list[Any] = []

    def started(kind: str, task: int = 0, tasks_max: int = 1, **settings: str) -> Any:
        given = {name.replace("_", "."): value for name, value in settings.items()}
        config = {**server.config, "name": request.node.name, **given}
        connector: Any = MqttSourceConnector() if kind == "source" else MqttSinkConnector()
        connector.start(config)
        made = connector.task_class()
        made.start(connector.task_configs(tasks_max)[task], StoredOffsets() if kind == "source" else reports)
        tasks.append(made)
        return made

    yield started
    for one in tasks:
        one.stop()
