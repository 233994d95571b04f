"""Consumer instances: positions, offsets, assignments, two readers, time-outs."""

import socket
import threading

from confluent_kafka import Producer

from e2e.rest.rest_client import LocalProxy, RestClient, fresh, wait_for
from moldau.testing import LocalCluster


def place(topic: str, partition: int = 0, **more: object) -> dict[str, object]:
    return {"topic": topic, "partition": partition, **more}


def test_positions_are_sought(rest: RestClient) -> None:
    topic = fresh("sought")
    rest.produce(topic, *range(5))
    for consumer in (rest.consumer().subscribe(topic), rest.consumer().assign(topic, 0)):
        assert consumer.values(5) == [0, 1, 2, 3, 4]
        assert consumer("POST", "/positions", {"offsets": [place(topic, offset=3)]}).status == 204
        assert consumer.values(2) == [3, 4]
        assert consumer("POST", "/positions/beginning", {"partitions": [place(topic)]}).status == 204
        assert consumer.values(5) == [0, 1, 2, 3, 4]
        assert consumer("POST", "/positions/end", {"partitions": [place(topic)]}).status == 204
        assert consumer.ok("GET", "/records?timeout=0") == []
        elsewhere = {"offsets": [place("elsewhere", offset=3)]}
        consumer("POST", "/positions", elsewhere).refused(40903, "No current assignment")


def test_max_bytes_splits_what_was_fetched(rest: RestClient) -> None:
    topic = fresh("split")
    rest.produce(topic, *("x" * 100 for _ in range(10)))
    consumer = rest.consumer().subscribe(topic)
    found = []
    wait_for(lambda: found.append(consumer.ok("GET", "/records?timeout=2000&max_bytes=310")) or found[-1])
    assert len(found[-1]) <= 3
    # A record larger than the limit is returned alone.
    assert len(consumer.ok("GET", "/records?timeout=60000&max_bytes=1")) == 1


def test_a_subscription_is_shown_and_ended(rest: RestClient) -> None:
    topic = fresh("shown-subscription")
    rest.produce(topic, 1)
    consumer = rest.consumer().subscribe(topic)
    assert consumer.ok("GET", "/subscription") == {"topics": [topic]}
    consumer.read(1)
    assert consumer.ok("GET", "/assignments") == {"partitions": [place(topic)]}
    consumer("POST", "/assignments", {"partitions": [place(topic)]}).refused(40903, "mutually exclusive")
    assert consumer("DELETE", "/subscription").status == 204
    assert consumer.ok("GET", "/subscription") == {"topics": []}
    consumer("GET", "/records").refused(40903, "not subscribed")
    consumer.assign(topic, 0)
    consumer("POST", "/subscription", {"topics": [topic]}).refused(40903, "mutually exclusive")


def test_topics_are_found_by_a_pattern(rest: RestClient) -> None:
    word = fresh("pattern")
    rest.produce(f"{word}-a", "a")
    rest.produce(f"{word}-b", "b")
    consumer = rest.consumer()
    assert consumer("POST", "/subscription", {"topic_pattern": f"{word}-.*"}).status == 204
    assert sorted(consumer.values(2)) == ["a", "b"]


def test_offsets_are_strings_when_asked(rest: RestClient) -> None:
    topic = fresh("strings")
    rest.produce(topic, 1)
    consumer = rest.consumer().subscribe(topic)
    found: list[dict[str, object]] = []
    wait_for(lambda: found.extend(consumer.ok("GET", "/records?timeout=2000&offsets=string")) or found)
    assert found[0]["offset"] == "0"
    committed = consumer.ok("POST", "/offsets?offsets=string")
    assert committed == [place(topic, consumed="1", committed="1")]
    assert consumer("POST", "/positions", {"offsets": [place(topic, offset="0")]}).status == 204
    assert consumer.values(1) == [1]


def test_a_group_goes_on_where_the_last_instance_stopped(rest: RestClient) -> None:
    topic, group = fresh("auto"), fresh("group")
    rest.produce(topic, *range(3))
    first = rest.consumer(group, auto_commit_enable="true").subscribe(topic)
    assert first.values(3) == [0, 1, 2]
    assert rest("DELETE", first.uri).status == 204
    rest.produce(topic, 3)
    assert rest.consumer(group).subscribe(topic).values(1) == [3]


def test_an_instance_that_is_gone_is_not_found(rest: RestClient) -> None:
    uri = "/consumers/g/instances/nobody"
    for method, path in [("GET", "/records"), ("DELETE", ""), ("GET", "/subscription"), ("POST", "/offsets")]:
        rest(method, uri + path).refused(40403, "Consumer instance not found.", "POST /consumers/g")


def test_a_name_is_taken_once(rest: RestClient) -> None:
    group = fresh("group")
    rest.consumer(group, name="one")
    rest("POST", f"/consumers/{group}", {"name": "one"}).refused(40902, "'one'")


def test_wrong_settings_are_refused(rest: RestClient) -> None:
    def refused(code: int, word: str, **wanted: object) -> None:
        settings = {name.replace("_", "."): value for name, value in wanted.items()}
        rest("POST", "/consumers/wrong", settings).refused(code, word)

    refused(422, "Invalid format type.", format="xml")
    refused(42204, "earliest", auto_offset_reset="middle")
    refused(42204, "true or false", auto_commit_enable="perhaps")
    refused(42204, "fetch.min.bytes", fetch_min_bytes="many")
    refused(422, "Unrecognized field: nonsense", nonsense=1)
    consumer = rest.consumer(format="avro").subscribe("anything")
    consumer("GET", "/records", accept="application/vnd.kafka.json.v2+json").refused(40601, "format avro")
    consumer("GET", "/records?timeout=soon").refused(400, "timeout=soon")


def test_a_record_of_another_format_can_be_stepped_over(rest: RestClient, cluster: LocalCluster) -> None:
    topic = fresh("poison")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for value in ("1", "not json", "2"):
        producer.produce(topic, value)
    assert producer.flush(60) == 0
    consumer = rest.consumer().subscribe(topic)
    assert consumer.values(1) == [1]
    for _ in range(2):
        consumer("GET", "/records?timeout=60000").refused(42203, f"{topic}-0 offset 1", "/positions")
    assert consumer("POST", "/positions", {"offsets": [place(topic, offset=2)]}).status == 204
    assert consumer.values(1) == [2]


def test_two_reads_at_once_take_turns(rest: RestClient) -> None:
    topic = fresh("turns")
    rest.produce(topic, 0)
    consumer = rest.consumer().subscribe(topic)
    consumer.read(1)
    replies: list[int] = []

    def read(timeout_ms: int) -> None:
        replies.append(consumer("GET", f"/records?timeout={timeout_ms}").status)

    long = threading.Thread(target=read, args=[60_000])
    long.start()
    hosted = []
    wait_for(lambda: (hosted.append(consumer("GET", "/records?timeout=0")), hosted[-1].status == 409)[1])
    hosted[-1].refused(40903, "one after the other")
    rest.produce(topic, 1)
    long.join()
    assert replies == [200]


def test_a_reader_that_goes_away_loses_nothing(rest: RestClient) -> None:
    topic = fresh("gone")
    rest.produce(topic, 0)
    consumer = rest.consumer().subscribe(topic)
    assert consumer.values(1) == [0]
    host, port = rest.address.split(":")
    with socket.create_connection((host, int(port))) as gone:
        path = consumer.uri.removeprefix(rest.url)
        gone.sendall(f"GET {path}/records?timeout=60000 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        wait_for(lambda: consumer("GET", "/records?timeout=0").status == 409)
    # It is free again long before the time of the abandoned read is over.
    wait_for(lambda: consumer("GET", "/records?timeout=0").status == 200, timeout_s=45)
    rest.produce(topic, 1)
    assert consumer.values(1) == [1]


def test_an_idle_instance_is_deleted_and_their_number_limited(cluster: LocalCluster) -> None:
    limits = {"consumer_instance_timeout_ms": "1000", "consumer_instances_max": "1"}
    with LocalProxy(cluster.bootstrap_servers, **limits) as rest:
        rest.consumer(name="idle")
        rest("POST", "/consumers/other", {}).refused(429, "consumer.instances.max")
        wait_for(lambda: rest("POST", "/consumers/other", {}).status == 200)


def test_base_uri_names_the_instance_behind_a_load_balancer(cluster: LocalCluster) -> None:
    with LocalProxy(cluster.bootstrap_servers, host_name="proxy-2.example") as rest:
        uri = rest.ok("POST", "/consumers/g", {"name": "i"})["base_uri"]
        assert uri.startswith("http://proxy-2.example:")
    address = {"advertised_listeners": "https://proxy-2.example"}
    with LocalProxy(cluster.bootstrap_servers, **address) as rest:
        uri = rest.ok("POST", "/consumers/g", {"name": "i"})["base_uri"]
        assert uri == f"https://proxy-2.example:{rest.url.rpartition(':')[2]}/consumers/g/instances/i"
