"""The REST proxy: records per second in batches of 100, and how long one produce takes at 200 a second.

    python bench/rest.py [--seconds 10] [--connections 8]

A broker and a proxy, each the installed command in a process of its own, on this machine, and a client of plain HTTP in
another. Beside them the same records through Kafka's client library, without the proxy. Confluent's proxy is not on
Maven Central. Exit code 1 when a limit is not held: 100,000 records/s, p99 5 ms. On a machine with other work the CPU
seconds of the two processes say more than the rate.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Producer

from registry import broker_settings, free_port, overrides, started

RECORDS_PER_S_MIN = 100_000
P99_MS_MAX = 5.0
BATCH = 100
RATE_PER_S = 200
VALUE = {"item": "apples", "count": 2, "price": 1.25, "note": "x" * 50}
WARM_S = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=8)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="moldau-bench-") as folder, contextlib.ExitStack() as stack:
        port, rest_port = free_port(), free_port()
        stack.enter_context(started(["broker", *overrides(broker_settings(port, folder))]))
        settings = {"bootstrap.servers": f"127.0.0.1:{port}", "listeners": f"http://127.0.0.1:{rest_port}"}
        stack.enter_context(started(["rest", *overrides(settings)]))
        broker, proxy = children()
        before = cpu_s(broker), cpu_s(proxy)
        rate, sent = elsewhere(batches, rest_port, options.seconds, options.connections)
        spent = [
            (now - then) / sent * 1e6 for then, now in zip(before, map(cpu_s, (broker, proxy)), strict=True)
        ]
        latencies = sorted(elsewhere(singles, rest_port, options.seconds))
        plain = elsewhere(plain_client, f"127.0.0.1:{port}", options.seconds)
    return report(rate, spent, latencies, plain)


def report(rate: float, spent: Sequence[float], latencies: Sequence[float], plain: float) -> int:
    def percentile(share: float) -> float:
        return latencies[min(len(latencies) - 1, int(len(latencies) * share))] * 1000

    p99_ms = percentile(0.99)
    print(f"batches of {BATCH}     {rate:>10,.0f} records/s   (limit {RECORDS_PER_S_MIN:,})")
    print(f"CPU s per million  {spent[1]:>10.2f} proxy   {spent[0]:.2f} broker")
    print(
        f"one at {RATE_PER_S}/s        p50 {percentile(0.5):.2f} ms   p99 {p99_ms:.2f} ms   (limit {P99_MS_MAX:g})   "
        f"max {latencies[-1] * 1000:.2f} ms   mean {statistics.mean(latencies) * 1000:.2f} ms"
    )
    print(f"client library     {plain:>10,.0f} records/s   without the proxy")
    return 0 if rate >= RECORDS_PER_S_MIN and p99_ms < P99_MS_MAX else 1


def children() -> list[int]:
    """The processes that this one has started, the oldest first."""
    return sorted(int(number) for number in Path("/proc/thread-self/children").read_text().split())


def cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def elsewhere(work, *arguments):
    """What it returns, run in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments)


def request(port: int, records: int) -> bytes:
    body = json.dumps({"records": [{"key": f"key-{n}", "value": VALUE} for n in range(records)]}).encode()
    head = (
        f"POST /topics/bench HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(body)}\r\n"
        "Content-Type: application/vnd.kafka.json.v2+json\r\n\r\n"
    )
    return head.encode() + body


def exchange(connection: socket.socket, data: bytes) -> None:
    connection.sendall(data)
    receive(connection)


def receive(connection: socket.socket) -> None:
    received = connection.recv(1 << 16)
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), received
    size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    left = size - len(body)
    while left > 0:
        piece = connection.recv(1 << 16)
        assert piece, "the proxy closed the connection"
        body += piece
        left -= len(piece)
    assert body.count(b'"error":null') == body.count(b'"partition"'), body


def batches(port: int, seconds: float, connections: int) -> tuple[float, int]:
    """Records per second, and how many were sent in all. Each connection has one request under way."""
    import selectors

    data = request(port, BATCH)
    selector = selectors.DefaultSelector()
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        exchange(connection, data)
        selector.register(connection, selectors.EVENT_READ)
    for key in selector.get_map().values():
        key.fileobj.sendall(data)  # type: ignore[union-attr]
    begun, done, warm, warm_until = 0.0, 0, 0, time.perf_counter() + WARM_S
    while True:
        now = time.perf_counter()
        if begun == 0.0 and now > warm_until:
            begun, done, warm = now, 0, done
        if begun and now > begun + seconds:
            return done * BATCH / (now - begun), (done + warm) * BATCH
        for key, _ in selector.select(1.0):
            receive(key.fileobj)  # type: ignore[arg-type]
            key.fileobj.sendall(data)  # type: ignore[union-attr]
            done += 1


def singles(port: int, seconds: float) -> list[float]:
    """At a steady rate; a late answer makes the next one late, and counts from when it was due."""
    data = request(port, 1)
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(50):
        exchange(connection, data)
    latencies = []
    due = time.perf_counter()
    for _ in range(int(seconds * RATE_PER_S)):
        due += 1 / RATE_PER_S
        while (early := due - time.perf_counter()) > 0:
            time.sleep(early)
        exchange(connection, data)
        latencies.append(time.perf_counter() - due)
    return latencies


def plain_client(bootstrap: str, seconds: float) -> float:
    """Batches of 100, eight of them under way, as with the proxy."""
    producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": "true", "linger.ms": "1"})
    done = 0

    def delivered(error: object, _message: object) -> None:
        nonlocal done
        assert error is None, error
        done += 1

    begun, sent = time.perf_counter(), 0
    while (passed := time.perf_counter() - begun) < seconds:
        while sent - done < 8 * BATCH:
            for number in range(BATCH):
                value = json.dumps(VALUE).encode()
                producer.produce("bench-plain", value, f"key-{number}", on_delivery=delivered)
            sent += BATCH
        producer.poll(0.1)
    producer.flush(30)
    return done / passed


if __name__ == "__main__":
    sys.exit(main())
