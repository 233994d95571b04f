"""Many light statements in one SQL server, and what its clients feel meanwhile: pull queries by key, push queries."""

import http.client
import json
import random
import statistics
import threading
import time
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from confluent_kafka import Consumer, Producer, TopicPartition

from pipeline_arena import arena
from pipeline_service import descendants, pss_mb
from systems import wait_until  # also makes the tests importable: the server is started as they start it

from e2e.sql.server.sql_process import EARLIEST, SqlClient, SqlProcess  # isort: skip

WARM_S: Final = 10
P95_BAR_MS: Final = 2_000
MEMORY_BAR_MB: Final = 3_000
PULLS_PER_S: Final = 200
PULL_P99_BAR_MS: Final = 5
PUSH_P50_BAR_MS: Final = 20
PUSHES: Final = 500
PULLS: Final = 4_000
KEYS: Final = 1_000
START_S: Final = 300

Told = tuple[str, str, str, bool]
"""What, figure, bar, whether it is met."""

COLUMNS: Final = "(ID STRING KEY, PAGE STRING, SENT BIGINT)"


def many(count: int, seconds: int) -> Iterator[Told]:
    """`count` statements, one in two an aggregate, each given a record a second."""
    with arena() as (servers, folder), SqlProcess(folder / "server", servers, folder / "state") as server:
        _define(server.client, count)
        wait_until(lambda: _are_running(server.client, count + 1), server.log_text(), START_S)
        feeder = _Feeder(servers, count)
        feeder.start()
        try:
            waits_ms, silent = _waits(servers, count, seconds)
            yield _told(
                f"{count} statements, input to output",
                waits_ms,
                0.95,
                P95_BAR_MS,
                f", {silent} silent",
                silent,
            )
            yield _memory(server.pid, f"memory with {count} statements")
            yield _told(
                f"pull by key, {PULLS_PER_S}/s", _pulls(servers, server.client), 0.99, PULL_P99_BAR_MS
            )
            yield _told("push, produce to client", _pushes(servers, server.client), 0.5, PUSH_P50_BAR_MS)
            yield _memory(server.pid, "memory after the queries")
        finally:
            feeder.stop()


def _define(client: SqlClient, count: int) -> None:
    """The table LOOKED_UP is for pull queries, the stream PUSHED for push queries."""
    for name in (*(f"IN{number}" for number in range(count)), "TOUCHED", "PUSHED"):
        topic = f"KAFKA_TOPIC='{name.lower()}', VALUE_FORMAT='JSON', PARTITIONS=1"
        client.ksql(f"CREATE STREAM {name} {COLUMNS} WITH ({topic});")
    client.ksql("CREATE TABLE LOOKED_UP AS SELECT ID, COUNT(*) AS N FROM TOUCHED GROUP BY ID;", **EARLIEST)
    for number in range(count):
        written = f"WITH (KAFKA_TOPIC='out{number}')"
        if number % 2:
            select = f"SELECT ID, UCASE(PAGE) AS PAGE, SENT + 1 AS SENT FROM IN{number} WHERE PAGE <> 'none'"
            client.ksql(f"CREATE STREAM OUT{number} {written} AS {select};", **EARLIEST)
        else:
            select = f"SELECT ID, COUNT(*) AS N FROM IN{number} WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY ID"
            client.ksql(f"CREATE TABLE OUT{number} {written} AS {select};", **EARLIEST)


def _are_running(client: SqlClient, count: int) -> bool:
    states = list(client.query_states().values())
    return len(states) == count and set(states) == {"RUNNING"}


class _Feeder(threading.Thread):
    """A record a second for each statement."""

    def __init__(self, servers: str, count: int) -> None:
        super().__init__(daemon=True)
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        self._count = count
        self._stopping = threading.Event()

    def run(self) -> None:
        sent, began = 0, time.monotonic()
        while not self._stopping.wait(max(0.0, began + sent / self._count - time.monotonic())):
            value = json.dumps({"PAGE": "light", "SENT": sent})
            self._producer.produce(f"in{sent % self._count}", value, f"key-{sent % 7}")
            self._producer.poll(0)
            sent += 1
        self._producer.flush()

    def stop(self) -> None:
        self._stopping.set()
        self.join()


def _waits(servers: str, count: int, seconds: int) -> tuple[list[float], int]:
    """Milliseconds from a record's time until a consumer has the result, and how many statements told nothing. Of the
    records that were sent after every statement had told something, which it does when Spark has started it."""
    settings = {"group.id": "many-reader", "isolation.level": "read_committed"}
    consumer = Consumer({"bootstrap.servers": servers, **settings})
    consumer.assign([TopicPartition(f"out{number}", 0, 0) for number in range(count)])
    began = time.monotonic()
    heard: set[str | None] = set()
    while len(heard) < count and time.monotonic() < began + START_S:
        heard |= {message.topic() for message in consumer.consume(500, 0.1) if message.error() is None}
    print(f"{len(heard)} statements have told something after {time.monotonic() - began:.0f} s", flush=True)
    first_ms = (time.time() + WARM_S) * 1000
    waits_ms: list[float] = []
    heard.clear()
    while time.time() * 1000 < first_ms + seconds * 1000:
        for message in consumer.consume(500, 0.02):
            if message.error() is None and message.timestamp()[1] >= first_ms:
                waits_ms.append(time.time() * 1000 - message.timestamp()[1])
                heard.add(message.topic())
    consumer.close()
    return waits_ms, count - len(heard)


def _pulls(servers: str, client: SqlClient) -> list[float]:
    """Of requests that begin at fixed times, on one connection; the first tenth warms up."""
    producer = Producer({"bootstrap.servers": servers})
    for number in range(KEYS):
        producer.produce("touched", '{"PAGE": "a", "SENT": 1}', f"key-{number}")
    producer.flush()
    wait_until(lambda: len(client.rows("SELECT * FROM LOOKED_UP;")) == KEYS, "", START_S)
    connection = _connection(client)
    waits_ms = []
    began = time.perf_counter()
    for number in range(PULLS):
        due = began + number / PULLS_PER_S
        time.sleep(max(0.0, due - time.perf_counter()))
        sql = f"SELECT * FROM LOOKED_UP WHERE ID = 'key-{random.randrange(KEYS)}';"
        connection.request(
            "POST", "/query-stream", json.dumps({"sql": sql}), {"Content-Type": "application/json"}
        )
        rows = connection.getresponse().read().splitlines()
        assert len(rows) == 2, rows
        waits_ms.append((time.perf_counter() - due) * 1000)
    connection.close()
    return waits_ms[PULLS // 10 :]


def _pushes(servers: str, client: SqlClient) -> list[float]:
    """From produce() until the client has the row; the first tenth warms up."""
    connection = _connection(client)
    sql = "SELECT ID, SENT FROM PUSHED WHERE PAGE <> 'none' EMIT CHANGES;"
    connection.request(
        "POST", "/query-stream", json.dumps({"sql": sql}), {"Content-Type": "application/json"}
    )
    response = connection.getresponse()
    response.readline()
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    waits_ms = []
    for _ in range(PUSHES):
        began = time.perf_counter()
        producer.produce("pushed", json.dumps({"PAGE": "a", "SENT": 1}), "k")
        producer.poll(0)
        line: Any = response.readline()
        assert line.startswith(b"["), line
        waits_ms.append((time.perf_counter() - began) * 1000)
        time.sleep(0.01)
    connection.close()
    return waits_ms[PUSHES // 10 :]


def _connection(client: SqlClient) -> http.client.HTTPConnection:
    parts = urlsplit(client.url)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)


def _told(
    what: str, waits_ms: list[float], share: float, bar_ms: float, more: str = "", silent: int = 0
) -> Told:
    ordered = sorted(waits_ms)
    at = {one: ordered[min(len(ordered) - 1, int(one * len(ordered)))] for one in (0.95, 0.99)}
    at[0.5] = statistics.median(ordered)
    figure = f"p50 {at[0.5]:.1f} ms, p95 {at[0.95]:.1f} ms, p99 {at[0.99]:.1f} ms{more}"
    return what, figure, f"p{share * 100:.0f} < {bar_ms:,} ms", at[share] < bar_ms and not silent


def _memory(pid: int, what: str) -> Told:
    memory_mb = sum(pss_mb(one) for one in (pid, *descendants(pid)))
    return what, f"{memory_mb:,.0f} MB", f"< {MEMORY_BAR_MB:,} MB", memory_mb < MEMORY_BAR_MB
