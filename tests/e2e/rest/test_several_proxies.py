"""Several proxies in front of one cluster, and a cluster that goes away for a while."""

from typing import Any

import pytest

from e2e.rest.rest_client import LocalProxy, RestClient, embedded, fresh, wait_for
from moldau.testing import LocalCluster


def test_everything_but_instances_may_be_asked_of_any_proxy(cluster: LocalCluster) -> None:
    with (
        LocalProxy(cluster.bootstrap_servers, id="one") as one,
        LocalProxy(cluster.bootstrap_servers, id="two") as two,
    ):
        topic, group = fresh("shared"), fresh("group")
        one.produce(topic, 1)
        two.produce(topic, 2)
        proxies = [one, two]
        # A load balancer that sends every request to the next proxy.
        found: list[Any] = []
        wanted: Any = {topic: "earliest"}
        while len(found) < 2:
            proxies.reverse()
            answer = proxies[0].ok(
                "POST", "/poll", {"topics": wanted, "timeout_ms": 60_000, "max_records": 1}
            )
            found += [each["value"] for each in answer["records"]]
            wanted = answer["next"]
        assert found == [1, 2]

        # Both have instances with one name in a group, and share its records.
        first, second = one.consumer(group, name="mine"), two.consumer(group, name="mine")
        assert first.uri.startswith(one.url) and second.uri.startswith(two.url)
        first.subscribe(topic)
        assert first.values(2) == [1, 2]
        one("POST", f"/consumers/{group}", {"name": "mine"}).refused(40902)
        unnamed = one.ok("POST", f"/consumers/{group}", {})["instance_id"]
        assert unnamed.startswith("rest-consumer-one-")
        two("GET", f"/consumers/{group}/instances/{unnamed}/records").refused(40403, "base_uri")


@pytest.fixture
def lonely() -> Any:
    with LocalCluster() as cluster:
        yield cluster


def test_a_proxy_goes_on_when_its_broker_is_back(lonely: LocalCluster) -> None:
    settings = {"client_timeout_ms": "1000", "producer_delivery_timeout_ms": "2000"}
    with LocalProxy(lonely.bootstrap_servers, **settings) as rest:
        topic = fresh("away")
        rest.produce(topic, "before")
        consumer = rest.consumer().subscribe(topic)
        assert consumer.values(1) == ["before"]
        lonely.kill()
        rest("GET", "/topics").refused(50003, "does not reach")
        lost = rest("POST", f"/topics/{topic}", {"records": [{"value": "lost"}]}, type=embedded("json"))
        assert lost.json["offsets"][0]["error_code"] == 50003
        assert "away" not in str(consumer("GET", "/records?timeout=100").json)
        lonely.restart()
        wait_for(lambda: is_written(rest, topic))
        assert consumer.values(1) == ["after"]


def is_written(rest: RestClient, topic: str) -> bool:
    body = {"records": [{"value": "after"}]}
    reply = rest("POST", f"/topics/{topic}", body, type=embedded("json"))
    return bool(reply.status == 200 and reply.json["offsets"][0]["error"] is None)
