"""Applications on Spark from their start to their end: results, dead letters, views, pauses, restarts, refusals."""

import json
import threading
import time
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.spark.kit import (
    PATIENCE_S,
    Sent,
    committed,
    create_topics,
    last_values,
    running,
    send,
    wait_caught_up,
    wait_for,
)
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.streams import JSON, LONG, STRING, StreamsBuilder, Topology, tumbling
from moldau.pipeline.views.view_host import ViewHost

MINUTE_MS = 60_000
DAY_MS = 86_400_000


def shop() -> Topology:
    builder = StreamsBuilder("shop", key=STRING, value=JSON)
    orders = builder.stream("shop-orders")
    users = builder.table("shop-users", store="users")
    goods = builder.global_table("shop-goods")
    priced = orders.join(
        goods, lambda order, good: {**order, "price": good["price"]}, on=lambda _, order: order["good"]
    )
    enriched = priced.left_join(users, lambda order, user: {**order, "city": user and user["city"]})
    enriched.to("shop-enriched")
    by_good = enriched.group_by(lambda _, order: order["good"], key=STRING)
    by_good.windowed_by(tumbling(MINUTE_MS)).count(store="sold", retention_ms=DAY_MS).to_stream().to(
        "shop-sold", value=LONG
    )
    return builder.build()


def order(good: str, minute: int, user: str = "ann") -> Sent:
    return Sent(user, json.dumps({"good": good}), timestamp_ms=minute * MINUTE_MS + 1)


def test_an_application_from_its_start_to_its_restart(servers: str, tmp_path: Path) -> None:
    create_topics(servers, shop_orders=2, shop_users=2, shop_goods=3, shop_enriched=2, shop_sold=2)
    send(servers, "shop-goods", [Sent("pear", '{"price": 3}'), Sent("plum", '{"price": 5}')])
    send(servers, "shop-users", [Sent("ann", '{"city": "Praha"}', timestamp_ms=1)])
    send(
        servers, "shop-orders", [order("pear", 1), Sent("ann", "no json"), order("plum", 1), order("pear", 1)]
    )
    views = ViewHost(shop(), "shop", {"bootstrap.servers": servers})
    views.start()
    with running(shop(), servers, tmp_path) as app:
        wait_caught_up(app)
        # Told a moment after the commit; what was counted in a batch that a busy machine made fail is not told.
        wait_for(lambda: app.metrics.batches > 0, "the batches are counted")
        assert app.metrics.records_in > 0 and app.metrics.batch_ms > 0

        # Timestamps and joined values are those of the operators, byte for byte.
        enriched = [
            (one.timestamp_ms, json.loads(one.value or b"")) for one in committed(servers, "shop-enriched")
        ]
        assert enriched == [
            (MINUTE_MS + 1, {"good": good, "price": price, "city": "Praha"})
            for good, price in [("pear", 3), ("plum", 5), ("pear", 3)]
        ]
        (dead,) = committed(servers, "shop-dlq")
        assert dead.value == b"no json"
        assert dead.headers["__streams.errors.topic"] == b"shop-orders"
        assert dead.headers["__streams.errors.offset"] == b"1"
        assert b"Traceback" in dead.headers["__streams.errors.stacktrace"]

        # The view follows the committed changelog.
        assert views.wait_ready(PATIENCE_S)
        wait_for(lambda: [value for _, value in views["sold"].fetch("pear")] == [2], "the view has both")
        assert views["users"].get("ann") == {"city": "Praha"}

        app.pause()
        assert app.wait(PipelineState.PAUSED, timeout_s=PATIENCE_S) is PipelineState.PAUSED
        send(servers, "shop-orders", [order("pear", 1)])
        app.resume()
        wait_caught_up(app)
    assert app.state is PipelineState.STOPPED

    # Another process, another number of slots: state and positions are the checkpoint's.
    send(servers, "shop-orders", [order("pear", 1), order("pear", 2)])
    with running(shop(), servers, tmp_path, instances=1, record_cache=True) as app:
        wait_caught_up(app)
    wait_for(lambda: [value for _, value in views["sold"].fetch("pear")] == [4, 1], "the view has all")
    views.stop()
    counts = [
        int.from_bytes(one.value or b"")
        for one in committed(servers, "shop-sold")
        if (one.key or b"")[:4] == b"pear"
    ]
    assert counts == [1, 2, 3, 4, 1]
    assert len(last_values(committed(servers, "shop-sold"))) == 3

    # A view that is lost is built again from the changelog.
    rebuilt = ViewHost(shop(), "shop", {"bootstrap.servers": servers})
    rebuilt.start()
    assert rebuilt.wait_ready(PATIENCE_S)
    assert [value for _, value in rebuilt["sold"].fetch("pear")] == [4, 1]
    rebuilt.stop()


def test_a_topic_deleted_and_created_again_is_noticed(own_broker: MoldauBroker, tmp_path: Path) -> None:
    from confluent_kafka.admin import AdminClient

    servers = own_broker.bootstrap
    create_topics(servers, reborn_in=1, reborn_out=1)
    send(servers, "reborn-in", [Sent("a", "1")])
    builder = StreamsBuilder("reborn", key=STRING, value=STRING)
    builder.stream("reborn-in").to("reborn-out")
    with running(builder.build(), servers, tmp_path) as app:
        wait_caught_up(app)
        admin = AdminClient({"bootstrap.servers": servers})
        admin.delete_topics(["reborn-in"])["reborn-in"].result(PATIENCE_S)
        create_topics(servers, reborn_in=1)
        assert app.wait(timeout_s=PATIENCE_S) is PipelineState.FAILED
        error = app.metrics.last_error
        assert error is not None
        assert "reborn-in" in error and "deleted" in error and "moldau streams reset reborn" in error


def test_a_stop_waits_for_the_batch_that_runs(
    servers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moldau.pipeline.spark.driver.query.FINISH_S_MAX", PATIENCE_S)
    begun, go_on = tmp_path / "begun", tmp_path / "go-on"

    def takes_long(value: str) -> str:
        begun.touch()
        deadline = time.monotonic() + PATIENCE_S
        while not go_on.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return value

    create_topics(servers, slow_in=1, slow_out=1)
    send(servers, "slow-in", [Sent("a", "pear")])
    builder = StreamsBuilder("slow", key=STRING, value=STRING)
    builder.stream("slow-in").map_values(takes_long).to("slow-out")
    with running(builder.build(), servers, tmp_path) as app:
        wait_for(begun.exists, "a batch runs")
        stopping = threading.Thread(target=app.stop)
        stopping.start()
        assert app.wait(PipelineState.STOPPED, timeout_s=1) is not PipelineState.STOPPED
        go_on.touch()
        assert app.wait(PipelineState.STOPPED, timeout_s=PATIENCE_S) is PipelineState.STOPPED
        stopping.join(PATIENCE_S)
    assert [record.value for record in committed(servers, "slow-out")] == [b"pear"]
