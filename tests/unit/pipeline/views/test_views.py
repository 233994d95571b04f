"""Views: built from changelogs, asked in Python and over HTTP, built again after a loss."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from starlette.testclient import TestClient

from moldau.core.errors import ApiError
from moldau.pipeline.operators.stores.keys import window_key
from moldau.pipeline.plan.stores import StoreKind, StoreSpec
from moldau.pipeline.plan.topology import Topology
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, tumbling
from moldau.pipeline.views.changelog_view import ChangelogView
from moldau.pipeline.views.http import view_server
from moldau.pipeline.views.view_host import ViewHost
from moldau.testing import LocalCluster

PATIENCE_S = 120


def long(number: int) -> bytes:
    return number.to_bytes(8)


def test_one_tasks_time_does_not_hide_anothers_windows() -> None:
    view = ChangelogView(StoreSpec("w", StoreKind.WINDOW, STRING, LONG, retention_ms=10, window_size_ms=10))
    view.load([(window_key(b"slow", 0), long(1), 0), (window_key(b"fast", 1_000), long(2), 1_000)])
    assert [value for _, value in view.fetch("slow")] == [1]
    view.load([(window_key(b"slow", 0), None, 20)])
    assert view.fetch("slow") == []


def test_a_view_of_a_table_with_history_answers_for_any_time() -> None:
    view = ChangelogView(StoreSpec("v", StoreKind.VERSIONED, STRING, STRING, retention_ms=100))
    view.load([(b"k", b"one", 10), (b"k", b"three", 30), (b"k", None, 20), (b"other", b"x", 9_000)])
    assert [view.get("k", at) for at in (5, 15, 25, 30)] == [None, "one", None, "three"]
    assert view.all() == [("k", "three"), ("other", "x")]
    view.load([(b"k", b"later", 1_000)])
    assert (view.get("k"), view.get("k", 15)) == ("later", None)


def shop() -> Topology:
    builder = StreamsBuilder("shop", key=LONG, value=STRING)
    builder.table("names", store="names")
    builder.stream("orders").group_by_key().windowed_by(tumbling(10)).count(store="per-window")
    return builder.build()


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with LocalCluster() as cluster:
        yield cluster.bootstrap_servers


def ready(servers: str) -> ViewHost:
    host = ViewHost(shop(), "shop", {"bootstrap.servers": servers})
    host.start()
    assert host.wait_ready(PATIENCE_S)
    return host


def test_views_over_http_from_not_ready_to_built_again(servers: str) -> None:
    host = ViewHost(shop(), "shop", {"bootstrap.servers": servers})
    with TestClient(view_server(host)) as http:
        waiting = http.get("/views/names/keys/1")
        assert (waiting.status_code, waiting.headers["Retry-After"]) == (503, "1")
        assert "is being built; try again" in waiting.json()["message"]

    topics = ["shop-names-changelog", "shop-per-window-changelog"]
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic(topic, 2) for topic in topics]).values():
        future.result(PATIENCE_S)
    producer = Producer({"bootstrap.servers": servers})
    for number in range(4):
        producer.produce(topics[0], f"name {number}", long(number), partition=number % 2)
        producer.produce(topics[1], long(number + 1), window_key(long(7), number * 10), partition=0)
    producer.produce(topics[0], None, long(3), partition=1)
    assert producer.flush(PATIENCE_S) == 0

    # The first is lost; what the second answers is built from the changelogs alone.
    ready(servers).stop()
    host = ready(servers)
    assert host["names"].get(2) == "name 2"
    assert host["names"].range(1, 9) == [(1, "name 1"), (2, "name 2")]
    with TestClient(view_server(host)) as http:
        assert {one["store"]: one["entries"] for one in http.get("/views").json()} == {
            "names": 3,
            "per-window": 4,
        }
        assert http.get("/views/names/keys/0").json() == {"key": 0, "value": "name 0"}
        assert [one["key"] for one in http.get("/views/names?low=1&limit=1").json()] == [1]
        windows = http.get("/views/per-window/windows/7?from=10&to=20").json()
        assert [(one["window_start_ms"], one["value"]) for one in windows] == [(10, 2), (20, 3)]
        refused_for = {
            "/views/nams/keys/1": (404, "there are: names, per-window"),
            "/views/names/keys/3": (404, "has no key 3"),
            "/views/names/keys/one": (400, "the key 'one' is no long"),
            "/views/names/keys/%22one%22": (400, "'one' cannot be written as long"),
            "/views/names/keys/1?at=5": (400, "keeps no history"),
            "/views/names?limit=0": (400, "limit must be at least 1"),
            "/views/names/windows/1": (400, "has no windows: ask by key"),
            "/views/per-window/keys/7": (400, "is windowed: fetch a key's windows instead"),
            "/views/per-window/windows/7?from=soon": (400, "from must be a whole number, not 'soon'"),
        }
        for path, (status, told) in refused_for.items():
            answer = http.get(path)
            assert (path, answer.status_code) == (path, status)
            assert told in answer.json()["message"], path
    with pytest.raises(ApiError, match="there is no view of a store 'nams'"):
        host["nams"]
    host.stop()
