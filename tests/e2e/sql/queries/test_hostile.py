"""Clients that do not read, many queries at once, topics and brokers that go away."""

import gc
import threading
import time
import weakref

import pytest
from confluent_kafka.admin import NewPartitions

from compat.moldau_broker import MoldauBroker
from compat.server_process import wait_until
from e2e.conftest import StartBroker
from e2e.sql.queries.world import WAIT_S, World, read
from moldau.pipeline.sql.queries import EndReason, PullSettings, TableNotReady
from moldau.pipeline.sql.queries.messages import MESSAGES_PER_CALL
from moldau.pipeline.sql.queries.row_stream import ROWS_MAX
from moldau.pipeline.sql.syntax.errors import SqlError

VIEWS = "CREATE STREAM VIEWS (USERID STRING KEY, PAGE STRING, MS INTEGER) WITH (KAFKA_TOPIC='{}', VALUE_FORMAT='JSON')"
QUERIES = 1_000


def records(count: int, start: int = 0) -> list[tuple[str, dict[str, object]]]:
    return [(f"u{n}", {"PAGE": "p", "MS": n}) for n in range(start, start + count)]


@pytest.mark.parametrize("offset_reset", ["earliest", "latest"])
def test_a_client_that_does_not_read_holds_up_nobody(world: World, offset_reset: str) -> None:
    topic = f"never-read-{offset_reset}"
    world.define(VIEWS.format(topic), 2)
    lazy = world.start("SELECT MS FROM VIEWS EMIT CHANGES;", offset_reset=offset_reset)
    quick = world.start("SELECT MS FROM VIEWS EMIT CHANGES;", offset_reset=offset_reset)
    world.write(topic, *records(20_000))
    assert sorted(read(quick, 20_000)) == [(n,) for n in range(20_000)]
    held = len(lazy._rows)
    assert ROWS_MAX <= held <= ROWS_MAX + 2 * MESSAGES_PER_CALL
    assert sorted(read(lazy, 20_000)) == [(n,) for n in range(20_000)]
    world.write(topic, *records(10, 20_000))
    assert sorted(read(lazy, 10)) == [(n,) for n in range(20_000, 20_010)]


def test_a_thousand_queries_at_once(world: World) -> None:
    world.define(VIEWS.format("thousand"))
    threads = threading.active_count()
    streams = [world.start(f"SELECT MS + {n} FROM VIEWS EMIT CHANGES;") for n in range(QUERIES)]
    assert threading.active_count() <= threads + 2
    world.write("thousand", *records(3))
    for n, stream in enumerate(streams):
        assert read(stream, 3) == [(n,), (n + 1,), (n + 2,)]
    runs = [weakref.ref(stream) for stream in streams]
    for stream in streams:
        stream.close()
    del streams, stream

    def is_freed() -> bool:
        gc.collect()
        return sum(run() is not None for run in runs) <= QUERIES // 100

    world.start("SELECT MS FROM VIEWS EMIT CHANGES;").close()
    wait_until(is_freed, "closed queries are freed", WAIT_S)


def test_a_hundred_queries_from_the_beginning(world: World) -> None:
    world.define(VIEWS.format("hundred"))
    world.write("hundred", *records(100))
    streams = [
        world.start("SELECT MS FROM VIEWS EMIT CHANGES LIMIT 101;", offset_reset="earliest")
        for _ in range(100)
    ]
    world.write("hundred", *records(1, 100))
    for stream in streams:
        assert read(stream) == [(n,) for n in range(101)]


def test_a_topic_that_is_deleted_ends_its_queries(world: World) -> None:
    world.define(VIEWS.format("deleted"))
    stream = world.start("SELECT MS FROM VIEWS EMIT CHANGES;")
    world.delete_topic("deleted")
    with pytest.raises(SqlError, match="deleted no longer exists"):
        read(stream, 1)
    assert stream.end is not None and stream.end.reason is EndReason.FAILED
    with pytest.raises(SqlError, match="deleted does not exist"):
        world.start("SELECT MS FROM VIEWS EMIT CHANGES;")


def test_the_broker_goes_and_comes_back(start_broker: StartBroker) -> None:
    broker = start_broker()
    world = World(broker.bootstrap)
    try:
        world.define(VIEWS.format("away"))
        stream = world.start("SELECT MS FROM VIEWS EMIT CHANGES;")
        world.write("away", *records(1))
        assert read(stream, 1) == [(0,)]
        broker.kill9()
        broker.start()
        world.write("away", *records(1, 1))
        assert read(stream, 1) == [(1,)]
    finally:
        world.close()


def test_a_table_that_cannot_be_loaded_says_so(world: World) -> None:
    source = world.define(
        "CREATE TABLE USERS (ID STRING PRIMARY KEY, NAME STRING) WITH (KAFKA_TOPIC='not-there', VALUE_FORMAT='JSON')"
    )
    world.delete_topic("not-there")
    world.host.tables.add(source)
    started = time.monotonic()
    with pytest.raises(TableNotReady, match="USERS waits for its topic not-there"):
        world.start("SELECT * FROM USERS WHERE ID = 'u';", settings=PullSettings(wait_s_max=0.2))
    assert time.monotonic() - started < WAIT_S
    world.topic("not-there")
    world.write("not-there", ("u", {"NAME": "N"}))
    assert world.rows("SELECT NAME FROM USERS WHERE ID = 'u';") == [("N",)]


def test_partitions_that_are_added_are_followed(world: World) -> None:
    world.define(VIEWS.format("growing"))
    stream = world.start("SELECT ROWPARTITION FROM VIEWS EMIT CHANGES;")
    world.admin.create_partitions([NewPartitions("growing", 2)])["growing"].result(WAIT_S)
    world.producer.produce("growing", b'{"MS": 1}', b"u", partition=1)
    assert world.producer.flush(WAIT_S) == 0
    assert read(stream, 1) == [(1,)]


def test_a_large_answer_waits_for_its_client(world: World) -> None:
    source = world.define(
        "CREATE TABLE USERS (ID STRING PRIMARY KEY, NAME STRING) WITH (KAFKA_TOPIC='large', VALUE_FORMAT='JSON')"
    )
    world.write("large", *((f"u{n}", {"NAME": "N"}) for n in range(10_000)))
    world.host.tables.add(source)
    stream = world.start("SELECT ID FROM USERS;")
    assert len(stream._rows) <= 2 * ROWS_MAX
    assert len(read(stream)) == 10_000
    assert stream.end is not None and stream.end.message == "Query Completed"


def test_the_host_closes_while_queries_run(queried_broker: MoldauBroker) -> None:
    world = World(queried_broker.bootstrap)
    world.define(VIEWS.format("closing"))
    world.write("closing", *records(5_000))
    before = set(threading.enumerate())
    streams = [
        world.start("SELECT MS FROM VIEWS EMIT CHANGES;", offset_reset=offset_reset)
        for offset_reset in ("earliest", "latest")
    ]
    world.close()
    assert [stream.end and stream.end.reason for stream in streams] == [EndReason.CLOSED] * 2
    assert set(threading.enumerate()) <= before
    with pytest.raises(SqlError, match="stopping"):
        world.start("SELECT MS FROM VIEWS EMIT CHANGES;")
