"""What version 2 tells of topics, partitions and brokers."""

from e2e.rest.rest_client import RestClient, fresh


def test_a_topic_with_its_settings_and_partitions(rest: RestClient) -> None:
    topic = fresh("shown")
    rest.produce(topic, 1, 2, 3)
    shown = rest.ok("GET", f"/topics/{topic}")
    assert shown["name"] == topic
    assert shown["configs"]["cleanup.policy"] == "delete"
    partition = {
        "partition": 0,
        "leader": 1,
        "replicas": [{"broker": 1, "leader": True, "in_sync": True}],
    }
    assert shown["partitions"] == [partition]
    assert rest.ok("GET", f"/topics/{topic}/partitions") == [partition]
    assert rest.ok("GET", f"/topics/{topic}/partitions/0") == partition
    offsets = rest.ok("GET", f"/topics/{topic}/partitions/0/offsets")
    assert offsets == {"beginning_offset": 0, "end_offset": 3}
    offsets = rest.ok("GET", f"/topics/{topic}/partitions/0/offsets?offsets=string")
    assert offsets == {"beginning_offset": "0", "end_offset": "3"}
    assert rest.ok("GET", "/brokers") == {"brokers": [1]}


def test_what_is_not_there_is_not_found(rest: RestClient) -> None:
    rest("GET", "/topics/nowhere").refused(40401, "Topic not found.", "nowhere")
    rest("GET", "/topics/nowhere/partitions").refused(40401)
    rest("GET", f"/topics/{'x' * 300}").refused(40401)
    rest.produce("somewhere", 1)
    rest("GET", "/topics/somewhere/partitions/4").refused(40402, "Partition not found.")
    rest("GET", "/topics/somewhere/partitions/4/offsets").refused(40402)
    rest("GET", "/topics/somewhere/partitions/four").refused(404, "not a number")
    rest("GET", "/elsewhere").refused(404, "/openapi.json")
    rest("DELETE", "/topics").refused(405, "GET")
