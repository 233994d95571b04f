"""What goes beyond Confluent's API: many topics in one call, reads without an instance, events, metrics, the page."""

import http.client
import json
from typing import Any

from e2e.rest.rest_client import PATIENCE_S, LocalProxy, RestClient, embedded, fresh, wait_for
from moldau.testing import LocalCluster


def test_many_topics_are_written_and_read_in_one_call(rest: RestClient, cluster: LocalCluster) -> None:
    one, two = fresh("many"), cluster.create_topic(fresh("many"), partitions=2)
    body = {
        "topics": {
            one: {"records": [{"value": 1}]},
            two: {"records": [{"value": 2, "partition": 1}, {"value": 3, "partition": 0}]},
        }
    }
    said = rest.ok("POST", "/produce", body, type=embedded("json"))["topics"]
    assert [each["partition"] for each in said[two]["offsets"]] == [1, 0]
    found: list[Any] = []
    wanted: dict[str, Any] = {one: "earliest", two: "earliest"}

    def poll() -> bool:
        nonlocal wanted
        answer = rest.ok("POST", "/poll", {"topics": wanted, "timeout_ms": 2000})
        found.extend(answer["records"])
        wanted = answer["next"]
        return len(found) >= 3

    wait_for(poll)
    assert sorted(each["value"] for each in found) == [1, 2, 3]
    assert wanted == {one: {"0": 1}, two: {"0": 1, "1": 1}}
    again = rest.ok("POST", "/poll?offsets=string", {"topics": {two: {"1": "0"}}, "timeout_ms": 60_000})
    assert [each["offset"] for each in again["records"]] == ["0"]
    assert again["next"] == {two: {"1": "1"}}
    ended = rest.ok("POST", "/poll", {"topics": {one: "latest"}, "timeout_ms": 0})
    assert ended == {"records": [], "next": {one: {"0": 1}}}


def test_a_wrong_poll_is_refused(rest: RestClient) -> None:
    topic = fresh("polled")
    rest.produce(topic, 1)
    for body, code in (
        ({}, 422),
        ({"topics": {topic: {}}}, 422),
        ({"topics": {topic: "middle"}}, 422),
        ({"topics": {topic: {"0": -5}}}, 422),
        ({"topics": {topic: "latest"}, "format": "xml"}, 422),
        ({"topics": {topic: {"7": 0}}}, 40402),
        ({"topics": {"nowhere": "latest"}}, 40401),
    ):
        rest("POST", "/poll", body).refused(code)


def test_one_wrong_record_and_nothing_is_written(rest: RestClient) -> None:
    one, two = fresh("none"), fresh("none")
    body = {"topics": {one: {"records": [{"value": "YQ=="}]}, two: {"records": [{"value": "?"}]}}}
    rest("POST", "/produce", body, type=embedded("binary")).refused(42203)
    rest("GET", f"/topics/{one}").refused(40401)


class Events:
    """A stream of server-sent events."""

    def __init__(self, rest: RestClient, path: str, last_id: str | None = None) -> None:
        self.connection = http.client.HTTPConnection(rest.address, timeout=PATIENCE_S)
        headers = {} if last_id is None else {"Last-Event-ID": last_id}
        self.connection.request("GET", path, headers=headers)
        self.response = self.connection.getresponse()
        assert self.response.status == 200
        assert self.response.getheader("Content-Type") == "text/event-stream"
        self.id = ""

    def next(self) -> Any:
        while line := self.response.readline():
            if line.startswith(b"id: "):
                self.id = line.decode()[4:].strip()
            if line.startswith(b"data: "):
                return json.loads(line[6:])
        return None

    def close(self) -> None:
        self.response.close()
        self.connection.close()


def test_records_are_events_and_a_browser_goes_on_where_it_was(rest: RestClient) -> None:
    topic = fresh("events")
    rest.produce(topic, "first")
    events = Events(rest, f"/events?topic={topic}&from=earliest")
    assert events.next()["value"] == "first"
    rest.produce(topic, "second")
    assert events.next()["value"] == "second"
    assert events.id == f"{topic}:0:2"
    events.close()
    rest.produce(topic, "third")
    events = Events(rest, f"/events?topic={topic}", events.id)
    assert events.next()["value"] == "third"
    events.close()
    rest("GET", "/events").refused(400, "topic is missing")
    rest("GET", "/events?topic=nowhere").refused(40401)
    rest("GET", f"/events?topic={topic}&from=here").refused(400, "from=here")


def test_streams_are_limited_and_end_with_the_proxy(cluster: LocalCluster) -> None:
    topic = cluster.create_topic(fresh("events"))
    with LocalProxy(cluster.bootstrap_servers, simpleconsumer_pool_size_max="1") as rest:
        events = Events(rest, f"/events?topic={topic}")
        rest("GET", f"/events?topic={topic}").refused(50301, "simpleconsumer.pool.size.max")
        events.close()
        wait_for(lambda: rest("POST", "/poll", {"topics": {topic: "latest"}, "timeout_ms": 0}).status == 200)
        events = Events(rest, f"/events?topic={topic}")
    assert events.next() is None
    events.close()


def test_metrics_count_requests_and_records(cluster: LocalCluster) -> None:
    with LocalProxy(cluster.bootstrap_servers) as rest:
        rest.produce(fresh("counted"), 1, 2)
        rest("GET", "/topics/nowhere")
        rest.consumer()
        reply = rest("GET", "/metrics")
    assert reply.content_type.startswith("text/plain; version=0.0.4")
    lines = reply.body.decode().splitlines()
    assert 'moldau_rest_records_total{outcome="produced"} 2' in lines
    assert 'moldau_rest_requests_total{method="GET",route="/topics/{topic}",status="404"} 1' in lines
    assert "moldau_rest_consumer_instances 1" in lines


def test_the_description_and_the_page_that_uses_it(rest: RestClient) -> None:
    described = rest.ok("GET", "/openapi.json")
    assert described["openapi"].startswith("3.1")
    assert {"get", "post"} <= set(described["paths"]["/v3/clusters/{cluster_id}/topics"])
    page = rest("GET", "/try")
    assert page.content_type == "text/html; charset=utf-8"
    assert b"https://" not in page.body and b"openapi.json" in page.body
    assert rest.ok("GET", "/health")["status"] == "ok"
    assert rest.ok("GET", "/") == {}
