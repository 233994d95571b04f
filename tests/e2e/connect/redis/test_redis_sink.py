"""RedisSink on a real server."""

import json
import os
import random
import subprocess
import sys
import time
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from connect_kit import Reports, eventually, sink_record, write
from e2e.connect.redis.conftest import Start
from e2e.connect.redis.redis_server import RedisServer
from moldau.pipeline.connect.api import ConnectError, RetriableError, TopicPartition
from moldau.pipeline.connect.connectors.redis.sink import RedisSinkConnector, RedisSinkTask
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.schema import (
    BOOLEAN,
    FLOAT64,
    INT32,
    Schema,
    SchemaType,
    decimal,
    struct,
)
from moldau.pipeline.connect.data.struct import Struct

OPTIONAL = Schema(SchemaType.STRING, optional=True)
ORDER = struct({"id": INT32, "item": OPTIONAL, "price": decimal(2), "is_paid": BOOLEAN, "weight": FLOAT64})
TICKS = TopicPartition("ticks", 0)


def order(number: int, item: str | None = "tea") -> Struct:
    return Struct(ORDER, (number, item, Decimal("1.50"), True, 0.5))


def ticks(start: int, end: int) -> list[SinkRecord]:
    return [sink_record("ticks", at, None, {"n": at}) for at in range(start, end)]


def numbers(server: RedisServer) -> list[int]:
    return [int(fields["n"]) for _, fields in server.client.xrange("ticks")]


def put_patiently(task: RedisSinkTask, records: list[SinkRecord]) -> None:
    """As a worker does: again while the task asks for it."""

    def is_written() -> bool:
        try:
            write(task, records)
        except RetriableError:
            return False
        return True

    eventually(is_written, "the records are written")


@pytest.mark.parametrize("exactly_once", ["false", "true"])
def test_hashes(server: RedisServer, start: Start, reports: Reports, exactly_once: str) -> None:
    task = start(redis_exactly_once=exactly_once)
    write(
        task,
        [
            sink_record("orders", 0, "a", order(1)),
            sink_record("orders", 1, 7, {"id": 7, "more": {"x": [1, None]}}),
            sink_record("orders", 2, "gone", {"id": 1}),
            sink_record("orders", 3, "gone", None),
            sink_record("orders", 4, None, order(1)),
            sink_record("orders", 5, {"id": 1}, order(1)),
            sink_record("orders", 6, "b", "no fields"),
        ],
    )
    assert server.client.hgetall("orders:a") == {
        "id": "1",
        "item": "tea",
        "price": "1.50",
        "is_paid": "true",
        "weight": "0.5",
    }
    assert server.client.hgetall("orders:7") == {"id": "7", "more": '{"x":[1,null]}'}
    assert not server.client.exists("orders:gone")
    assert [one.offset for one, _ in reports.failed] == [4, 5, 6]
    for (_, error), said in zip(
        reports.failed, ("ValueToKey", "ExtractField", "redis.type=STRING"), strict=True
    ):
        assert said in str(error)
    write(task, [sink_record("orders", 7, "a", order(2, None))])
    assert server.client.hgetall("orders:a").keys() == {"id", "price", "is_paid", "weight"}


def test_offsets_in_redis_are_altered_and_reset(server: RedisServer, start: Start) -> None:
    once = {"redis.type": "STREAM", "redis.exactly.once": "true"}
    config = {"name": "cache", **server.config, **once}
    alter = RedisSinkConnector.alter_offsets
    task = start(redis_type="STREAM", redis_exactly_once="true")
    write(task, ticks(0, 3))
    server.client.set("moldau:connect:offsets:cache:more:ticks:0", 7)
    alter(config, {TICKS: 1, TopicPartition("ticks", 1): 5}, is_reset=False)
    assert task.opened([TICKS, TopicPartition("ticks", 1)]) == {TICKS: 1, TopicPartition("ticks", 1): 5}
    write(task, ticks(1, 4))
    assert numbers(server) == [0, 1, 2, 1, 2, 3]
    alter(config, {TICKS: None}, is_reset=False)
    assert task.opened([TICKS, TopicPartition("ticks", 1)]) == {TopicPartition("ticks", 1): 5}
    alter({**config, "redis.exactly.once": "false"}, {}, is_reset=True)
    assert task.opened([TopicPartition("ticks", 1)])
    alter(config, {}, is_reset=True)
    assert task.opened([TICKS, TopicPartition("ticks", 1)]) == {}
    assert server.client.get("moldau:connect:offsets:cache:more:ticks:0") == "7"


def test_strings(server: RedisServer, start: Start) -> None:
    task = start(redis_type="string", redis_keyspace="", redis_key_ttl="1000")
    at = datetime(2026, 11, 19, 12, tzinfo=UTC)
    server.client.sadd("a", "of another type")
    records = [
        sink_record("orders", 0, "a", "text"),
        sink_record("orders", 1, b"\xffb", b"\x00\x01"),
        sink_record("orders", 2, "c", order(1)),
        sink_record("orders", 3, "d", at),
        sink_record("orders", 4, "e", [1, Decimal("2.50"), b"x", True]),
        sink_record("orders", 5, "f", "deleted"),
        sink_record("orders", 6, "f", None),
    ]
    for _ in range(2):
        # What comes twice changes nothing.
        write(task, records)
        assert server.client.get("a") == "text"
        assert server.client.execute_command("STRLEN", b"\xffb") == 2
        assert json.loads(server.client.get("c")) == {
            "id": 1,
            "item": "tea",
            "price": 1.5,
            "is_paid": True,
            "weight": 0.5,
        }
        assert server.client.get("d") == "2026-11-19T12:00:00+00:00"
        assert server.client.get("e") == '[1,2.50,"eA==",true]'
        assert server.client.dbsize() == 5
    assert 900 < server.client.ttl("c") <= 1000


def test_sets_and_streams(server: RedisServer, start: Start, reports: Reports) -> None:
    members = [
        sink_record("who", 0, "a", 1),
        sink_record("who", 1, "b", 2.5),
        sink_record("who", 2, "a", None),
    ]
    write(start(redis_type="SET", redis_keyspace="set-of-${topic}"), members)
    assert server.client.smembers("set-of-who") == {"b"}
    write(start(redis_command="ZADD"), [*members, sink_record("who", 3, "c", "text")])
    assert server.client.zrange("who", 0, -1, withscores=True) == [("b", 2.5)]
    assert [one.offset for one, _ in reports.failed] == [3]
    write(start(redis_type="STREAM"), [*ticks(0, 2), sink_record("ticks", 2, None, "plain")])
    assert [fields for _, fields in server.client.xrange("ticks")] == [
        {"n": "0"},
        {"n": "1"},
        {"value": "plain"},
    ]


def test_json_needs_a_server_that_has_it(server: RedisServer, start: Start) -> None:
    task = start(redis_type="JSON")
    record = sink_record("orders", 0, "a", order(1))
    if any(name.startswith("JSON.") for name in map(str.upper, server.client.command())):
        write(task, [record])
        assert json.loads(server.client.execute_command("JSON.GET", "orders:a"))["item"] == "tea"
        return
    with pytest.raises(ConnectError, match=r"has no JSON: .*redis\.type=STRING") as failed:
        task.put([record])
    assert not isinstance(failed.value, RetriableError)


@pytest.mark.parametrize("exactly_once", ["false", "true"])
def test_a_key_of_another_type_is_reported(
    server: RedisServer, start: Start, reports: Reports, exactly_once: str
) -> None:
    server.client.set("orders:b", "a string")
    task = start(redis_exactly_once=exactly_once)
    write(task, [sink_record("orders", at, key, order(at)) for at, key in enumerate("abc")])
    assert [one.key for one, _ in reports.failed] == ["b"]
    assert server.client.hget("orders:c", "id") == "2"


def test_repeated_records_are_written_once(server: RedisServer, start: Start) -> None:
    """Offsets are in Redis: a task that takes over goes on there, one that is late changes nothing."""
    settings = {"redis_type": "STREAM", "redis_exactly_once": "true"}
    first, second = start(**settings), start(**settings)
    assert first.opened([TICKS]) == {}
    first.put(ticks(0, 10))
    first.put(ticks(5, 12))
    assert second.opened([TICKS, TopicPartition("other", 0)]) == {TICKS: 12}
    second.put(ticks(12, 20))
    first.put(ticks(12, 15))
    first.put(ticks(12, 22))
    assert numbers(server) == list(range(22))
    assert server.client.get("moldau:connect:offsets:cache:ticks:0") == "22"
    other = start(**settings, name="other")
    assert other.opened([TICKS]) == {}


def test_exactly_once_that_was_off_for_a_while(server: RedisServer, start: Start) -> None:
    """The group's offset is newer than that in Redis then."""
    once, often = ({"redis_type": "STREAM", "redis_exactly_once": one} for one in ("true", "false"))
    start(**once).put([*ticks(0, 3), sink_record("other", 0, None, {"n": 0})])
    write(start(**often), ticks(3, 5))
    again = start(**once)
    assert again.opened([TICKS, TopicPartition("other", 0)]) == {TopicPartition("other", 0): 1}
    again.put(ticks(5, 7))
    assert numbers(server) == list(range(7))
    assert start(**once).opened([TICKS]) == {TICKS: 7}


def test_a_user_without_the_right_to_offsets(server: RedisServer, start: Start) -> None:
    server.client.acl_setuser(
        "writer", enabled=True, passwords=["+secret"], commands=["+@all"], keys=["orders:*"]
    )
    task = start(redis_username="writer", redis_password="secret", redis_type="STRING")
    task.put([sink_record("orders", 0, "a", "x")])
    assert server.client.get("orders:a") == "x"


def test_the_server_goes_and_comes_back(server: RedisServer, start: Start) -> None:
    task = start(redis_type="STREAM", redis_exactly_once="true")
    write(task, ticks(0, 5))
    server.kill()
    with pytest.raises(RetriableError, match=r"127\.0\.0\.1:\d+ cannot be reached"):
        task.put(ticks(5, 10))
    with pytest.raises(RetriableError):
        task.opened([TICKS])
    # A connector that starts meanwhile waits, too.
    RedisSinkConnector().start({"name": "cache", **server.config})
    assert server.start()
    put_patiently(task, ticks(5, 10))
    assert numbers(server) == list(range(10))


def test_a_server_without_memory_is_waited_for(server: RedisServer, start: Start) -> None:
    task, once = start(redis_type="STRING"), start(redis_type="STRING", redis_exactly_once="true")
    server.client.config_set("maxmemory", "1")
    try:
        for one in (task, once):
            with pytest.raises(RetriableError, match="cannot write now"):
                one.put([sink_record("orders", 0, "a", "x")])
    finally:
        server.client.config_set("maxmemory", "0")
    put_patiently(once, [sink_record("orders", 0, "a", "x")])
    assert server.client.get("orders:a") == "x"


def test_wrong_login_and_missing_rights(server: RedisServer, start: Start) -> None:
    for settings in ({"redis_password": "wrong"}, {"redis_password": ""}, {"redis_username": "nobody"}):
        with pytest.raises(ConnectError, match=r"Check redis\.username and redis\.password") as failed:
            start(**settings)
        assert not isinstance(failed.value, RetriableError)
    server.client.acl_setuser(
        "reader", enabled=True, passwords=["+secret"], commands=["+@read", "+ping"], keys=["*"]
    )
    task = start(redis_username="reader", redis_password="secret", redis_type="STRING")
    with pytest.raises(ConnectError, match="ACL SETUSER"):
        task.put([sink_record("orders", 0, "a", "x")])


@pytest.mark.filterwarnings(
    # The client leaves the socket of a failed handshake to the garbage collector.
    "ignore:Exception ignored in. <ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning"
)
def test_tls(server: RedisServer, start: Start) -> None:
    uri = f"rediss://127.0.0.1:{server.tls_port}"
    with pytest.raises(ConnectError, match=r"not trusted.*redis\.cacert"):
        start(redis_uri=uri)
    for settings in ({"redis_cacert": str(server.certificate)}, {"redis_insecure": "true"}):
        task = start(redis_uri=uri, redis_type="STRING", **settings)
        write(task, [sink_record("orders", 0, "tls", str(settings))])
        assert server.client.get("orders:tls") == str(settings)


def test_exactly_once_under_kills(server: RedisServer) -> None:
    """The task's process and the server are killed in turn; MOLDAU_KILL_ROUNDS says how often."""
    rounds = int(os.environ.get("MOLDAU_KILL_ROUNDS", "2"))
    end = 1_000_000  # Farther than it comes.
    config = {"name": "cache", "redis.type": "STREAM", "redis.exactly.once": "true", **server.config}
    tests = Path(__file__).parents[3]
    environment = {**os.environ, "PYTHONPATH": str(tests)}
    writer = Path(__file__).with_name("writer.py")
    dice = random.Random(7)

    def started(end: int) -> subprocess.Popen[str]:
        command = [sys.executable, str(writer), json.dumps(config), str(end)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)

    def until(count: int) -> None:
        eventually(lambda: server.client.xlen("ticks") >= count, f"{count} records")

    process = started(end)
    try:
        for number in range(rounds):
            until(server.client.xlen("ticks") + dice.randrange(20, 200))
            time.sleep(dice.random() / 100)
            if number % 2:
                server.kill()
                assert server.start()
            else:
                process.kill()
                process.communicate()
                process = started(end)
        last = server.client.xlen("ticks") + 100
        process.kill()
        process.communicate()
        process = started(last)
        process.communicate(timeout=240)
        assert process.returncode == 0
        assert numbers(server) == list(range(len(numbers(server))))
        assert len(numbers(server)) >= last
    finally:
        process.kill()
        process.communicate()
