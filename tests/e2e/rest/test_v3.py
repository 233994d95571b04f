"""Version 3: clusters, brokers, topics, settings, groups and their lag."""

from typing import Any

import pytest

from e2e.rest.rest_client import RestClient, fresh, wait_for


@pytest.fixture(scope="module")
def base(rest: RestClient) -> str:
    clusters = rest.ok("GET", "/v3/clusters")
    assert clusters["kind"] == "KafkaClusterList"
    [cluster] = clusters["data"]
    return str(cluster["metadata"]["self"]).removeprefix(rest.url)


def every_link(value: Any) -> list[str]:
    if isinstance(value, list):
        return [link for each in value for link in every_link(each)]
    if not isinstance(value, dict):
        return []
    own = [value[name] for name in ("self", "related") if isinstance(value.get(name), str)]
    return own + [link for each in value.values() for link in every_link(each)]


def test_the_cluster_and_its_brokers(rest: RestClient, base: str) -> None:
    cluster = rest.ok("GET", base)
    assert cluster["kind"] == "KafkaCluster"
    assert cluster["metadata"]["resource_name"] == f"crn:///kafka={cluster['cluster_id']}"
    assert cluster["controller"]["related"] == f"{rest.url}{base}/brokers/1"
    [broker] = rest.ok("GET", f"{base}/brokers")["data"]
    assert (broker["broker_id"], broker["host"]) == (1, "127.0.0.1")
    assert rest.ok("GET", f"{base}/brokers/1") == broker
    rest("GET", f"{base}/brokers/9").refused(404, "broker 9")
    rest("GET", "/v3/clusters/other/topics").refused(404, "Cluster other cannot be found.")


def test_a_topic_is_created_grown_and_deleted(rest: RestClient, base: str) -> None:
    name = fresh("v3-topic")
    wanted = {
        "topic_name": name,
        "partitions_count": 2,
        "replication_factor": 1,
        "configs": [{"name": "cleanup.policy", "value": "compact"}],
    }
    tried = rest("POST", f"{base}/topics", wanted | {"validate_only": True})
    assert (tried.status, tried.json["partitions_count"]) == (200, 2)
    created = rest("POST", f"{base}/topics", wanted)
    assert created.status == 201
    topic = created.json
    assert (topic["kind"], topic["topic_name"], topic["partitions_count"]) == ("KafkaTopic", name, 2)
    assert (topic["replication_factor"], topic["is_internal"]) == (1, False)
    rest("POST", f"{base}/topics", wanted).refused(400, "TOPIC_ALREADY_EXISTS")
    assert topic in rest.ok("GET", f"{base}/topics")["data"]
    grown = rest.ok("PATCH", f"{base}/topics/{name}", {"partitions_count": 3})
    assert grown["partitions_count"] == 3
    rest("PATCH", f"{base}/topics/{name}", {"partitions_count": 1}).refused(400, "not be an increase")
    config = rest.ok("GET", f"{base}/topics/{name}/configs/cleanup.policy")
    assert (config["value"], config["is_default"]) == ("compact", False)
    assert config["source"] == "DYNAMIC_TOPIC_CONFIG"
    assert rest("DELETE", f"{base}/topics/{name}").status == 204
    wait_for(lambda: rest("GET", f"{base}/topics/{name}").status == 404)
    rest("DELETE", f"{base}/topics/{name}").refused(40401)


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"topic_name": ""},
        {"topic_name": "t", "partitions_count": 0},
        {"topic_name": "t", "partitions_count": "two"},
        {"topic_name": "t", "configs": {"a": 1}},
        {"topic_name": "t", "replicas_assignments": {"1": [1]}},
        {"topic_name": "t", "replicas_assignments": {"0": [1]}, "partitions_count": 1},
    ],
)
def test_a_wrong_topic_is_refused(rest: RestClient, base: str, wanted: object) -> None:
    rest("POST", f"{base}/topics", wanted).refused(422)


def test_what_kafka_refuses_is_a_bad_request(rest: RestClient, base: str) -> None:
    rest("POST", f"{base}/topics", {"topic_name": "no spaces"}).refused(400)
    rest("POST", f"{base}/topics", {"topic_name": "t", "replication_factor": 9}).refused(400)
    wrong = {"topic_name": "t", "configs": [{"name": "cleanup.policy", "value": "shred"}]}
    rest("POST", f"{base}/topics", wrong).refused(400, "cleanup.policy")


def test_partitions_replicas_and_every_link(rest: RestClient, base: str) -> None:
    name = fresh("linked")
    rest.produce(name, 1, 2)
    partition = rest.ok("GET", f"{base}/topics/{name}/partitions/0")
    assert rest.ok("GET", f"{base}/topics/{name}/partitions")["data"] == [partition]
    [replica] = rest.ok("GET", f"{base}/topics/{name}/partitions/0/replicas")["data"]
    assert (replica["broker_id"], replica["is_leader"], replica["is_in_sync"]) == (1, True, True)
    assert replica in rest.ok("GET", f"{base}/brokers/1/partition-replicas")["data"]
    offsets = rest.ok("GET", f"{base}/topics/{name}/partitions/0/offset")
    assert (offsets["earliest_offset"], offsets["latest_offset"]) == (0, 2)
    shown = [partition, replica, rest.ok("GET", base), rest.ok("GET", f"{base}/topics/{name}")]
    links = {link for link in every_link(shown) if not link.endswith(("partitions/0/reassignment", "acls"))}
    assert len(links) > 8
    for link in links:
        assert rest("GET", link).status == 200, link
    rest("GET", f"{base}/topics/{name}/partitions/7").refused(40402)
    rest("GET", f"{base}/topics/{name}/partitions/0/replicas/7").refused(404)


def test_settings_of_topics_and_brokers(rest: RestClient, base: str) -> None:
    name = fresh("configured")
    rest.produce(name, 1)
    path = f"{base}/topics/{name}/configs"
    assert rest("PUT", f"{path}/retention.ms", {"value": "1000"}).status == 204
    assert rest.ok("GET", f"{path}/retention.ms")["value"] == "1000"
    changes = [
        {"name": "retention.ms", "operation": "DELETE"},
        {"name": "max.message.bytes", "value": "2000"},
    ]
    assert rest("POST", f"{path}:alter", {"data": changes, "validate_only": True}).status == 204
    assert rest.ok("GET", f"{path}/retention.ms")["value"] == "1000"
    assert rest("POST", f"{path}:alter", {"data": changes}).status == 204
    configs = {each["name"]: each for each in rest.ok("GET", path)["data"]}
    assert configs["retention.ms"]["is_default"]
    assert configs["max.message.bytes"]["value"] == "2000"
    assert rest("DELETE", f"{path}/max.message.bytes").status == 204
    assert rest.ok("GET", f"{path}/max.message.bytes")["is_default"]
    rest("PUT", f"{path}/retention.ms", {"value": "soon"}).refused(400, "retention.ms")
    rest("PUT", f"{path}/retention.ms", {}).refused(422, "value is missing")
    rest("GET", f"{path}/nonsense").refused(404, "Config nonsense cannot be found.")
    rest("GET", f"{base}/topics/nowhere/configs").refused(40401)
    every = rest.ok("GET", f"{base}/topics/-/configs")["data"]
    assert {each["topic_name"] for each in every} >= {name, "_schemas"}

    broker = f"{base}/brokers/1/configs"
    assert rest("PUT", f"{broker}/log.cleaner.threads", {"value": "2"}).status == 204
    assert rest.ok("GET", f"{broker}/log.cleaner.threads")["value"] == "2"
    assert rest("DELETE", f"{broker}/log.cleaner.threads").status == 204
    assert rest.ok("GET", f"{base}/brokers/-/configs")["kind"] == "KafkaBrokerConfigList"


def test_settings_of_all_brokers_together(rest: RestClient, base: str) -> None:
    path = f"{base}/broker-configs"
    before = rest.ok("GET", path)
    assert before["kind"] == "KafkaClusterConfigList"
    assert before["metadata"] == {"self": f"{rest.url}{path}", "next": None}
    assert "log.cleaner.threads" not in {each["name"] for each in before["data"]}
    assert rest("PUT", f"{path}/log.cleaner.threads", {"value": "3"}).status == 204
    shown = rest.ok("GET", f"{path}/log.cleaner.threads")
    assert shown in rest.ok("GET", path)["data"]
    assert (shown["kind"], shown["config_type"]) == ("KafkaClusterConfig", "BROKER")
    assert (shown["value"], shown["source"]) == ("3", "DYNAMIC_DEFAULT_BROKER_CONFIG")
    assert (shown["is_default"], shown["is_read_only"], shown["is_sensitive"]) == (False, False, False)
    assert shown["metadata"] == {
        "self": f"{rest.url}{path}/log.cleaner.threads",
        "resource_name": f"crn:///kafka={shown['cluster_id']}/broker-config=log.cleaner.threads",
    }
    assert rest.ok("GET", f"{base}/brokers/1/configs/log.cleaner.threads")["value"] == "3"
    tried = {"data": [{"name": "log.cleaner.threads", "value": "many"}], "validate_only": True}
    rest("POST", f"{path}:alter", tried).refused(400, "log.cleaner.threads")
    tried["data"] = [{"name": "log.cleaner.threads", "operation": "DELETE"}]
    assert rest("POST", f"{path}:alter", tried).status == 204
    assert rest("DELETE", f"{path}/log.cleaner.threads").status == 204
    rest("GET", f"{path}/log.cleaner.threads").refused(404, "cannot be found")
    rest("DELETE", f"{path}/log.cleaner.threads").refused(404)


def test_settings_of_several_topics_are_changed_in_one_call(rest: RestClient, base: str) -> None:
    names = [fresh("several"), fresh("several")]
    for name in names:
        rest.produce(name, 1)
    changes = [{"topic_name": name, "configs": [{"name": "retention.ms", "value": "1"}]} for name in names]
    path = f"{base}/topics/-/configs:alter"
    assert rest("POST", path, {"data": changes}).status == 204
    for name in names:
        assert rest.ok("GET", f"{base}/topics/{name}/configs/retention.ms")["value"] == "1"
    changes[0]["configs"] = [{"name": "retention.ms", "value": "soon"}]
    changes[1]["configs"] = [{"name": "retention.ms", "value": "2"}]
    some = rest("POST", path, {"data": changes})
    [failure] = some.json["failures"]
    assert (some.status, failure["topic_name"], failure["error_code"]) == (207, names[0], 400)
    assert rest.ok("GET", f"{base}/topics/{names[1]}/configs/retention.ms")["value"] == "2"
    rest("POST", path, {"data": [*changes, changes[0]]}).refused(422, "twice")
    rest("POST", path, {"data": [{"topic_name": "nowhere", "configs": changes[1]["configs"]}]}).refused(40401)


def test_no_partition_is_moving(rest: RestClient, base: str) -> None:
    name = fresh("still")
    rest.produce(name, 1)
    for topic in ("-", name):
        listed = rest.ok("GET", f"{base}/topics/{topic}/partitions/-/reassignment")
        assert (listed["kind"], listed["data"]) == ("KafkaReassignmentList", [])
    rest("GET", f"{base}/topics/{name}/partitions/0/reassignment").refused(404, f"{name}-0 is not moving")
    rest("GET", f"{base}/topics/{name}/partitions/5/reassignment").refused(40402)
    rest("GET", f"{base}/topics/nowhere/partitions/-/reassignment").refused(40401)


def test_groups_and_their_lag(rest: RestClient, base: str) -> None:
    topic, group = fresh("lagging"), fresh("group")
    rest.produce(topic, *range(5))
    consumer = rest.consumer(group).subscribe(topic)
    consumer.read(5)
    assert (
        consumer("POST", "/offsets", {"offsets": [{"topic": topic, "partition": 0, "offset": 2}]}).status
        == 200
    )
    path = f"{base}/consumer-groups/{group}"
    shown = rest.ok("GET", path)
    assert (shown["state"], shown["is_simple"], shown["consumer_group_id"]) == ("STABLE", False, group)
    assert shown in rest.ok("GET", f"{base}/consumer-groups")["data"]
    [member] = rest.ok("GET", f"{path}/consumers")["data"]
    assert member["client_id"] == "moldau-rest"
    [assignment] = rest.ok("GET", f"{path}/consumers/{member['consumer_id']}/assignments")["data"]
    assert (assignment["topic_name"], assignment["partition_id"]) == (topic, 0)
    [lag] = rest.ok("GET", f"{path}/lags")["data"]
    assert (lag["current_offset"], lag["log_end_offset"], lag["lag"]) == (2, 5, 3)
    assert lag["consumer_id"] == member["consumer_id"]
    summary = rest.ok("GET", f"{path}/lag-summary")
    assert (summary["total_lag"], summary["max_lag_topic_name"]) == (3, topic)
    for link in every_link([shown, member, assignment, lag, summary]):
        assert rest("GET", link).status == 200, link
    rest("GET", f"{base}/consumer-groups/nobody").refused(40405, "nobody")
    rest("GET", f"{path}/consumers/nobody").refused(404)


def test_rules_need_an_authorizer(rest: RestClient, base: str) -> None:
    reply = rest("GET", f"{base}/acls")
    assert reply.status in (200, 400), reply
    rest("GET", f"{base}/acls?operation=juggle").refused(400, "operation=juggle")
    rest("POST", f"{base}/acls", {"resource_type": "TOPIC"}).refused(422, "resource_name")
    rest("DELETE", f"{base}/acls").refused(400, "resource_type is missing")
