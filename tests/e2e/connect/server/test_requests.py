"""Every route of the REST API, its shapes and its codes, on connectors without tasks: no Spark."""

from typing import Any

import orjson
import pytest

from compat.server_process import wait_until
from e2e.connect.server.conftest import IDLE_SINK, IDLE_SOURCE, LocalWorker
from e2e.connect.server.connect_process import PATIENCE_S, ConnectClient, Refused

SOURCE = {"connector.class": IDLE_SOURCE, "colour": "red"}
SINK = {"connector.class": IDLE_SINK, "colour": "red", "topics": "reds"}


def test_the_worker(client: ConnectClient) -> None:
    about = client.ask("GET", "/")
    assert about.keys() == {"version", "commit", "kafka_cluster_id"}
    assert about["kafka_cluster_id"]
    wait_until(lambda: client.answer("GET", "/health")[0] == 200, "the worker has joined", PATIENCE_S)
    assert client.ask("GET", "/health")["status"] == "healthy"


def test_create_show_change_delete(client: ConnectClient, name: str) -> None:
    status, info, headers = client.answer("POST", "/connectors", {"name": name, "config": SOURCE})
    assert (status, headers["location"]) == (201, f"/connectors/{name}")
    assert info == {"name": name, "config": {**SOURCE, "name": name}, "tasks": [], "type": "source"}
    assert client.of(name) == info
    assert name in client.ask("GET", "/connectors")
    assert client.answer("POST", "/connectors", {"name": name, "config": SOURCE})[:2] == (
        409,
        {"error_code": 409, "message": f"Connector {name} already exists"},
    )
    client.wait_states(name, "RUNNING", [])
    assert client.of(name, "/status")["connector"]["version"] == "7"
    assert client.of(name, "/config", "PUT", {**SOURCE, "colour": "blue"})["config"]["colour"] == "blue"
    patched = client.of(name, "/config", "PATCH", {"tasks.max": 3, "colour": "green", "nothing": None})
    assert patched["config"] == {**SOURCE, "name": name, "colour": "green", "tasks.max": "3"}
    assert client.of(name, "/config", "PATCH", {"tasks.max": None})["config"] == {
        **SOURCE,
        "name": name,
        "colour": "green",
    }
    assert client.of(name, "/config") == {**SOURCE, "name": name, "colour": "green"}
    assert client.answer("DELETE", f"/connectors/{name}")[:2] == (204, None)
    with pytest.raises(Refused, match=f"Connector {name} not found"):
        client.of(name)


def test_put_creates(client: ConnectClient, name: str) -> None:
    status, info, headers = client.answer("PUT", f"/connectors/{name}/config", SINK)
    assert (status, info["type"], headers["location"]) == (201, "sink", f"/connectors/{name}")
    assert client.answer("PUT", f"/connectors/{name}/config", SINK)[0] == 200


@pytest.mark.parametrize(("initial", "state"), [("PAUSED", "PAUSED"), ("STOPPED", "STOPPED")])
def test_initial_state(client: ConnectClient, name: str, initial: str, state: str) -> None:
    client.create(name, SOURCE, initial_state=initial)
    client.wait_states(name, state, [])


def test_pause_stop_resume(client: ConnectClient, name: str) -> None:
    client.create(name, SINK)
    for action, status, state in (
        ("pause", 202, "PAUSED"),
        ("stop", 204, "STOPPED"),
        ("resume", 202, "RUNNING"),
    ):
        assert client.answer("PUT", f"/connectors/{name}/{action}")[0] == status
        client.wait_states(name, state, [])


def test_expanded_list(client: ConnectClient, name: str) -> None:
    client.create(name, SOURCE)
    client.wait_states(name, "RUNNING", [])
    found = client.ask("GET", "/connectors?expand=status&expand=info")[name]
    assert found == {"status": client.of(name, "/status"), "info": client.of(name)}
    assert client.ask("GET", "/connectors?expand=info")[name] == {"info": client.of(name)}


def test_names_may_have_slashes_and_blanks(client: ConnectClient) -> None:
    name = "orders / 2024 ü"
    _, _, headers = client.answer("POST", "/connectors", {"name": name, "config": SOURCE})
    assert client.ask("GET", headers["location"])["name"] == name
    client.wait_states(name, "RUNNING", [])
    client.of(name, "/pause", "PUT")
    client.wait_states(name, "PAUSED", [])
    client.of(name, method="DELETE")


def test_tasks_topics_offsets(client: ConnectClient, name: str) -> None:
    client.create(name, SINK)
    assert client.of(name, "/tasks") == []
    assert client.of(name, "/tasks-config") == {}
    assert client.of(name, "/topics") == {name: {"topics": []}}
    assert client.answer("PUT", f"/connectors/{name}/topics/reset")[0] == 202
    assert client.of(name, "/offsets") == {"offsets": []}
    with pytest.raises(Refused, match="Unknown task"):
        client.of(name, "/tasks/0/restart", "POST")
    with pytest.raises(Refused, match=f"No status found for task {name}-0"):
        client.of(name, "/tasks/0/status")


def test_offsets_of_a_stopped_sink(client: ConnectClient, name: str) -> None:
    client.create(name, SINK, initial_state="STOPPED")

    def refusal(*changes: Any) -> str:
        status, found, _ = client.answer("PATCH", f"/connectors/{name}/offsets", {"offsets": list(changes)})
        assert status == 400
        return str(found["message"])

    partition = {"kafka_topic": "reds", "kafka_partition": 0}
    assert "need to be provided" in refusal()
    assert "must contain the keys" in refusal({"partition": {}, "offset": None})
    assert "cannot be null" in refusal({"partition": None, "offset": None})
    assert "need to be integers" in refusal({"partition": {**partition, "kafka_partition": "x"}})
    assert "contain the key 'kafka_offset'" in refusal({"partition": partition, "offset": {}})
    assert "at least 0" in refusal({"partition": partition, "offset": {"kafka_offset": -1}})
    assert "no partition 0 of a topic reds" in refusal(
        {"partition": partition, "offset": {"kafka_offset": 1}}
    )


def test_a_connector_that_fails_says_why_without_its_secret(local: LocalWorker, name: str) -> None:
    client = local.client
    secret = f"${{file:{local.secrets}:word}}"
    client.create(name, {**SOURCE, "secret": secret, "fails": "no entry"})
    client.wait_states(name, "FAILED", [])
    trace = client.of(name, "/status")["connector"]["trace"]
    assert "no entry with the secret" in trace
    assert "hush-hush" not in trace
    assert client.of(name, "/config")["secret"] == secret
    client.of(name, "/config", "PATCH", {"fails": None})
    client.wait_states(name, "RUNNING", [])
    assert "trace" not in client.of(name, "/status")["connector"]


def test_restart(client: ConnectClient, name: str) -> None:
    client.create(name, SOURCE)
    client.wait_states(name, "RUNNING", [])
    assert client.answer("POST", f"/connectors/{name}/restart")[:2] == (204, None)
    status, found, _ = client.answer("POST", f"/connectors/{name}/restart?includeTasks=true")
    assert (status, found["connector"]["state"]) == (202, "RESTARTING")
    status, found, _ = client.answer("POST", f"/connectors/{name}/restart?onlyFailed=true")
    assert (status, found["connector"]["state"]) == (202, "RUNNING")
    assert client.answer("POST", "/connectors/nobody/restart")[:2] == (
        404,
        {"error_code": 404, "message": "Unknown connector: nobody"},
    )


def test_plugins(client: ConnectClient) -> None:
    found = client.ask("GET", "/connector-plugins")
    assert {one["type"] for one in found} == {"source", "sink"}
    everything = client.ask("GET", "/connector-plugins?connectorsOnly=false")
    assert {one["type"] for one in everything} >= {
        "source",
        "sink",
        "converter",
        "header_converter",
        "transformation",
        "predicate",
    }
    keys = client.ask("GET", "/connector-plugins/FileStreamSink/config")
    assert [key["name"] for key in keys] == ["file"]
    assert all(
        client.ask("GET", f"/connector-plugins/{one['class'].replace('$', '%24')}/config") is not None
        for one in everything
    )
    assert client.answer("GET", "/connector-plugins/Nothing/config")[0] == 404


def test_validation(client: ConnectClient, name: str) -> None:
    path = f"/connector-plugins/{IDLE_SOURCE}/config/validate"
    asked = {"name": name, "connector.class": IDLE_SOURCE, "tasks.max": "none", "secret": "hush", "new": "x"}
    found = client.ask("PUT", path, asked)
    errors = {one["value"]["name"]: one["value"]["errors"] for one in found["configs"]}
    assert found["error_count"] == 2
    assert {setting for setting, texts in errors.items() if texts} == {"colour", "tasks.max"}
    (secret,) = (one for one in found["configs"] if one["value"]["name"] == "secret")
    assert (secret["definition"]["type"], secret["value"]["value"]) == ("PASSWORD", "[hidden]")
    (colour,) = (one["definition"] for one in found["configs"] if one["value"]["name"] == "colour")
    assert (colour["required"], colour["importance"], colour["default_value"]) == (True, "HIGH", None)
    for wrong in ({"name": name}, {**asked, "connector.class": IDLE_SINK}):
        assert client.answer("PUT", path, wrong)[0] == 400


def test_loggers(client: ConnectClient) -> None:
    path = "/admin/loggers/moldau.connect.test"
    assert client.answer("GET", path)[0] == 404
    assert client.ask("PUT", path, {"level": "debug"}) == ["moldau.connect.test"]
    assert client.ask("GET", path)["level"] == "DEBUG"
    assert client.ask("GET", "/admin/loggers")["moldau.connect.test"]["level"] == "DEBUG"
    assert client.answer("PUT", f"{path}?scope=cluster", {"level": "ERROR"})[:2] == (204, None)
    wait_until(lambda: client.ask("GET", path)["level"] == "ERROR", "the worker has heard", PATIENCE_S)
    assert client.answer("PUT", path, {"level": "loud"})[0] == 404
    assert client.answer("PUT", path, {})[0] == 400


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"name": "x", ', "not JSON"),
        (b"", "no body"),
        (b"[]", "must be a JSON object, not an array"),
        (b'{"name": "x"}', '"config" is missing'),
        (b'{"name": 1, "config": {}}', '"name" must be a string'),
        (b'{"name": "x", "confg": {}}', "did you mean config?"),
        (b'{"name": "x", "config": {"a": []}}', 'The value of "a" must be a string'),
        (b'{"name": "x", "config": {}, "initial_state": "ASLEEP"}', '"initial_state" must be one of RUNNING'),
        (b'{"name": "x", "config": {}}', "contains no connector type"),
        (b'{"name": "x", "config": {"name": "y", "connector.class": "FileStreamSink"}}', "doesn't match"),
        (b'{"name": "x", "config": {"connector.class": "FileStreamSnk"}}', "did you mean FileStreamSink?"),
    ],
)
def test_malformed_requests(client: ConnectClient, body: bytes, message: str) -> None:
    status, found, _ = client.answer("POST", "/connectors", body)
    assert (status, found["error_code"]) == (400, 400)
    assert message in found["message"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"connector.class": IDLE_SOURCE}, 'Missing required configuration "colour"'),
        ({**SINK, "topics.regex": "red.*"}, "mutually exclusive"),
        ({**SINK, "topics": "reds,../bad topic"}, "Invalid value ../bad topic for configuration topics"),
        ({"connector.class": IDLE_SINK, "colour": "red"}, "Must configure one of topics or topics.regex"),
        ({**SOURCE, "tasks.max": "0"}, "configuration tasks.max"),
        ({**SOURCE, "tasks.max": "201"}, "a connector may have 200 tasks at most"),
        ({**SOURCE, "value.converter": "Jsn"}, "value.converter"),
        ({**SOURCE, "transforms": "a"}, "transforms.a.type"),
        ({**SOURCE, "errors.tolerance": "some"}, "errors.tolerance"),
        ({**SINK, "errors.deadletterqueue.topic.name": "reds"}, "may not be included in the list of topics"),
    ],
)
def test_wrong_configurations(client: ConnectClient, config: dict[str, str], message: str) -> None:
    with pytest.raises(Refused) as refused:
        client.create("wrong", config)
    assert refused.value.status == 400
    assert "Connector configuration is invalid" in refused.value.message
    assert message in refused.value.message
    assert "wrong" not in client.ask("GET", "/connectors")


def test_an_unknown_setting_is_accepted_and_logged(
    client: ConnectClient, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    client.create(name, {**SOURCE, "errors.tolerence": "all", "producer.override.linger.ms": "5"})
    assert [one.message for one in caplog.records if "unknown setting" in one.message] == [
        f"connector {name}: unknown setting errors.tolerence; did you mean errors.tolerance?"
    ]


def test_a_password_in_an_address_is_not_shown_and_stays(client: ConnectClient, name: str) -> None:
    uri, seen = "redis://me:swordfish@127.0.0.1:9/0", "redis://me:****@127.0.0.1:9/0"
    config = {"connector.class": "RedisSink", "topics": "reds", "redis.uri": uri}
    assert client.create(name, config, initial_state="STOPPED")["config"]["redis.uri"] == seen
    assert client.of(name)["config"]["redis.uri"] == client.of(name, "/config")["redis.uri"] == seen
    changed = {**client.of(name, "/config"), "redis.timeout": "9"}
    assert client.of(name, "/config", "PUT", changed)["config"] == changed
    _, found, _ = client.answer("PUT", "/connector-plugins/RedisSink/config/validate", changed)
    assert found["error_count"] == 0 and "swordfish" not in str(found)
    assert client.of(name, "/config", "PATCH", {"redis.uri": seen, "redis.timeout": "8"})["config"]


def test_a_target_that_keeps_offsets_is_asked(client: ConnectClient, name: str) -> None:
    config = {"connector.class": "RedisSink", "topics": "reds", "redis.uri": "redis://127.0.0.1:9"}
    client.create(name, {**config, "redis.exactly.once": "true"}, initial_state="STOPPED")
    status, found, _ = client.answer("DELETE", f"/connectors/{name}/offsets")
    assert status == 500 and "were not changed: Redis at 127.0.0.1:9 cannot be reached" in found["message"]


def test_many_unknown_settings_are_one_line(
    client: ConnectClient, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    client.create(name, {**SOURCE, **{f"nobody.{number}": "x" for number in range(2_000)}})
    (line,) = [one.message for one in caplog.records if "unknown setting" in one.message]
    assert line.startswith(f"connector {name}: 2000 unknown settings: nobody.0, nobody.1, ")
    assert line.endswith("nobody.9, and 1990 more")


def test_other_requests_that_are_rejected(client: ConnectClient) -> None:
    assert client.answer("GET", "/nowhere")[:2] == (
        404,
        {"error_code": 404, "message": "HTTP 404 Not Found"},
    )
    assert client.answer("PUT", "/connectors")[:2] == (
        405,
        {"error_code": 405, "message": "HTTP 405 Method Not Allowed"},
    )
    text = {"Content-Type": "text/html"}
    assert client.answer("POST", "/connectors", b"{}", text)[0] == 415
    large = orjson.dumps({"name": "large", "config": {"a": "a" * 200_000}})
    assert client.answer("POST", "/connectors", large)[0] == 413
    for method, path in (
        ("DELETE", ""),
        ("GET", ""),
        ("GET", "/config"),
        ("GET", "/status"),
        ("PUT", "/stop"),
    ):
        assert client.answer(method, f"/connectors/nobody{path}")[0] == 404
    _, _, headers = client.answer("OPTIONS", "/connectors")
    assert headers["allow"] == "GET, HEAD, OPTIONS, POST"
