"""Kafka Connect's own worker is asked the same, and takes over what ours has written, and the other way round."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from compat.server_process import wait_until
from e2e.connect.server.connect_process import PATIENCE_S, ConnectClient, ConnectProcess, Refused, topics_of
from e2e.connect.server.kafka_connect import KafkaConnect
from e2e.connect.server.test_takeover import committed
from kafka_jars import KafkaJarsUnavailable
from moldau.testing import LocalCluster

pytestmark = pytest.mark.java
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
CONFIG = {"connector.class": SOURCE, "file": "/nowhere/lines.txt", "topic": "lines"}
TO_SINK = {"connector.class": SINK, "file": "/nowhere/copy.txt"}

POSITION = {"partition": {"filename": "/nowhere/lines.txt"}, "offset": {"position": 3}}

# In this order: one request needs what those before it have done.
REQUESTS: list[tuple[str, str, object]] = [
    ("GET", "/", None),
    ("GET", "/connectors", None),
    ("POST", "/connectors", {"name": "a", "config": CONFIG, "initial_state": "STOPPED"}),
    ("POST", "/connectors", {"name": "a", "config": CONFIG}),
    ("GET", "/connectors/a", None),
    ("GET", "/connectors/a/config", None),
    ("GET", "/connectors/a/status", None),
    ("GET", "/connectors?expand=status&expand=info", None),
    ("GET", "/connectors?expand=nothing", None),
    ("GET", "/connectors/a/tasks", None),
    ("GET", "/connectors/a/tasks/0/status", None),
    ("GET", "/connectors/a/topics", None),
    ("PUT", "/connectors/a/topics/reset", None),
    ("GET", "/connectors/a/offsets", None),
    ("PATCH", "/connectors/a/offsets", {"offsets": [POSITION]}),
    ("GET", "/connectors/a/offsets", None),
    ("PATCH", "/connectors/a/offsets", {"offsets": []}),
    ("PATCH", "/connectors/a/offsets", {}),
    ("DELETE", "/connectors/a/offsets", None),
    ("POST", "/connectors/a/tasks/9/restart", None),
    ("POST", "/connectors/a/tasks/x/restart", None),
    ("PATCH", "/connectors/a/config", {"more": "1"}),
    ("PUT", "/connectors/a/config", CONFIG),
    ("PUT", "/connectors/a/config", {**CONFIG, "name": "another"}),
    ("PUT", "/connectors/a/pause", None),
    ("PUT", "/connectors/a/stop", None),
    ("PUT", "/connectors/b/config", {**CONFIG, "name": "b"}),
    ("POST", "/connectors", {"name": "c", "config": {}}),
    ("POST", "/connectors", {"name": "c", "config": {"connector.class": "Nothing"}}),
    ("POST", "/connectors", {"name": "c", "config": {"connector.class": SOURCE}}),
    ("POST", "/connectors", {"name": "c", "config": {**CONFIG, "tasks.max": "x"}}),
    ("POST", "/connectors", {"config": CONFIG}),
    ("POST", "/connectors", {"name": "c", "config": TO_SINK}),
    ("POST", "/connectors", {"name": "c", "config": {**TO_SINK, "topics": "a", "topics.regex": "b"}}),
    *(
        (method, f"/connectors/nobody{path}", body)
        for method, path, body in (
            ("GET", "", None),
            ("GET", "/config", None),
            ("GET", "/status", None),
            ("GET", "/tasks", None),
            ("GET", "/topics", None),
            ("GET", "/offsets", None),
            ("DELETE", "/offsets", None),
            ("PUT", "/topics/reset", None),
            ("PUT", "/pause", None),
            ("PUT", "/stop", None),
            ("PATCH", "/config", {"more": "1"}),
            ("POST", "/restart", None),
            ("POST", "/restart?includeTasks=true", None),
            ("POST", "/tasks/0/restart", None),
            ("DELETE", "", None),
        )
    ),
    ("GET", "/connector-plugins", None),
    ("GET", "/connector-plugins?connectorsOnly=false", None),
    ("GET", "/connector-plugins/Nothing/config", None),
    ("PUT", f"/connector-plugins/{SOURCE}/config/validate", {**CONFIG, "name": "v"}),
    ("PUT", f"/connector-plugins/{SOURCE}/config/validate", {"connector.class": SOURCE}),
    ("PUT", f"/connector-plugins/{SINK}/config/validate", CONFIG),
    ("GET", "/nowhere", None),
    ("DELETE", "/connectors", None),
    ("DELETE", "/connectors/b", None),
    ("DELETE", "/connectors/a", None),
    ("GET", "/connectors", None),
]
OTHER_WORDS = ("available connectors are", "is invalid and contains", "Unknown plugin")
"""In messages that say more than Kafka's."""


def started_kafka(folder: Path, cluster: LocalCluster, name: str) -> KafkaConnect:
    try:
        return KafkaConnect(folder, cluster.bootstrap_servers, topics_of(name))
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def kafka(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectClient]:
    with started_kafka(tmp_path_factory.mktemp("kafka"), cluster, "theirs") as worker:
        yield worker.client


@pytest.fixture(scope="module")
def moldau(cluster: LocalCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectClient]:
    folder = tmp_path_factory.mktemp("moldau")
    with ConnectProcess(folder, cluster.bootstrap_servers, topics_of("ours")) as worker:
        assert worker.driver_pid() is None
        yield worker.client


def shape(value: Any) -> Any:
    """Names of fields and types of values; of a list its first element."""
    if isinstance(value, dict):
        return {name: shape(one) for name, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value[:1]]
    return type(value).__name__


def answer(client: ConnectClient, method: str, path: str, body: object) -> tuple[int, Any]:
    """Once the worker has joined its group, and the first status has been written."""
    found: list[tuple[int, Any]] = []

    def is_answered() -> bool:
        status, content, _ = client.answer(method, path, body)
        found.append((status, content))
        is_new = path == "/connectors/a/status" and status == 404
        return not is_new and not (status == 409 and "rebalance" in str(content))

    wait_until(is_answered, f"{method} {path} is answered", PATIENCE_S)
    return found[-1]


def test_the_same_requests_have_the_same_answers(kafka: ConnectClient, moldau: ConnectClient) -> None:
    """Status and shape of all; the message of failures too, but for those that say more."""
    for request in REQUESTS:
        (status, theirs), (our_status, ours) = (answer(client, *request) for client in (kafka, moldau))
        assert (our_status, shape(ours)) == (status, shape(theirs)), (request, theirs, ours)
        if status >= 400 and not any(words in theirs["message"] for words in OTHER_WORDS):
            assert ours["message"] == theirs["message"], request


def test_validation_knows_the_same_settings(kafka: ConnectClient, moldau: ConnectClient) -> None:
    """But for the versions of plugins, of which there is one here."""

    def definitions(client: ConnectClient, plugin: str, config: Mapping[str, str]) -> dict[str, Any]:
        found = client.ask("PUT", f"/connector-plugins/{plugin}/config/validate", config)
        return {one["definition"]["name"]: one["definition"] for one in found["configs"] if one["definition"]}

    chain = {
        "transforms": "wrap",
        "transforms.wrap.type": "HoistField$Value",
        "transforms.wrap.field": "line",
    }
    for plugin, config in ((SOURCE, {**CONFIG, **chain}), (SINK, {**TO_SINK, "topics": "a"})):
        theirs, ours = definitions(kafka, plugin, config), definitions(moldau, plugin, config)
        missing = {name for name in theirs.keys() - ours.keys() if not name.endswith("plugin.version")}
        assert not missing
        # The class of a transformation is a text here.
        shared = {name for name in theirs.keys() & ours.keys() if not name.endswith(".type")}
        assert {name: ours[name]["type"] for name in shared} == {
            name: theirs[name]["type"] for name in shared
        }


def test_each_takes_over_from_the_other(cluster: LocalCluster, tmp_path: Path) -> None:
    """One group and three topics: configurations, states and offsets of one are those of the other."""
    file = tmp_path / "lines.txt"
    file.write_text("test 1\ntest 2\ntest 3\n")
    strings = "org.apache.kafka.connect.storage.StringConverter"
    config = {**CONFIG, "file": str(file), "topic": "handed-over", "value.converter": strings}
    behind = {"partition": {"filename": str(file)}, "offset": {"position": len("test 1\n")}}

    def ours() -> ConnectProcess:
        return ConnectProcess(tmp_path / "ours", cluster.bootstrap_servers, topics_of("handed-over"))

    theirs = started_kafka(tmp_path / "theirs", cluster, "handed-over")
    with ours() as worker:
        worker.client.create("lines", config, initial_state="STOPPED")
        worker.client.wait_states("lines", "STOPPED", [])
        worker.client.of("lines", "/offsets", "PATCH", {"offsets": [behind]})
    with theirs as peer:
        client = peer.client
        assert client.of("lines", "/config") == {**config, "name": "lines"}
        wait_until(lambda: states_of(client) == ("STOPPED", []), "Kafka Connect has the state", PATIENCE_S)
        assert client.of("lines", "/offsets") == {"offsets": [behind]}
        answer(client, "PUT", "/connectors/lines/resume", None)
        assert committed(cluster.bootstrap_servers, "handed-over", 2) == ["test 2", "test 3"]
        wait_until(
            lambda: client.of("lines", "/offsets")["offsets"][0]["offset"]["position"] == file.stat().st_size,
            "Kafka Connect has committed",
            PATIENCE_S,
        )
        answer(client, "PUT", "/connectors/lines/stop", None)
        wait_until(lambda: states_of(client) == ("STOPPED", []), "it has stopped", PATIENCE_S)
        answer(client, "PATCH", "/connectors/lines/config", {"batch.size": "7"})
    with ours() as worker:
        client = worker.client
        assert client.of("lines", "/config") == {**config, "name": "lines", "batch.size": "7"}
        client.wait_states("lines", "STOPPED", [])
        (found,) = client.of("lines", "/offsets")["offsets"]
        assert found == {"partition": behind["partition"], "offset": {"position": file.stat().st_size}}
        assert client.of("lines", "/topics") == {"lines": {"topics": ["handed-over"]}}


def states_of(client: ConnectClient) -> tuple[str, list[str]]:
    try:
        return client.states("lines")
    except Refused as refused:
        assert refused.status == 409
        return "", []
