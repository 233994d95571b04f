"""The schema registry with 10,000 schemas: how long it takes to start, and to answer for an id.

    python bench/registry.py [--schemas 10000] [--lookups 5000]

A broker and a registry, each the installed command in a process of its own, on this machine. The schemas are written to
the registry's topic as a registry would have written them. Exit code 1 when a limit is not held: start 3 s, p99 5 ms.
"""

import argparse
import contextlib
import http.client
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from moldau.registry.entities import SchemaText, StoredSchema
from moldau.registry.log.records import SchemaFact, encode

START_S_MAX = 3.0
P99_MS_MAX = 5.0
VERSIONS_PER_SUBJECT = 5
MOLDAU = str(Path(sys.executable).with_name("moldau"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--schemas", type=int, default=10_000)
    parser.add_argument("--lookups", type=int, default=5_000)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="moldau-bench-") as folder, contextlib.ExitStack() as stack:
        port, registry_port = free_port(), free_port()
        stack.enter_context(started(["broker", *overrides(broker_settings(port, folder))]))
        fill(f"127.0.0.1:{port}", options.schemas)
        begun = time.perf_counter()
        settings = {
            "listeners": f"http://127.0.0.1:{registry_port}",
            "kafkastore.bootstrap.servers": f"127.0.0.1:{port}",
        }
        stack.enter_context(started(["registry", *overrides(settings)]))
        start_s = time.perf_counter() - begun
        latencies = sorted(measure(registry_port, options.schemas, options.lookups))
    return report(options.schemas, start_s, latencies)


def report(schemas: int, start_s: float, latencies: Sequence[float]) -> int:
    def percentile(share: float) -> float:
        return latencies[min(len(latencies) - 1, int(len(latencies) * share))] * 1000

    p99_ms = percentile(0.99)
    print(f"schemas          {schemas:,}")
    print(f"start            {start_s:.2f} s   (limit {START_S_MAX:g} s)")
    print(
        f"lookup by id     p50 {percentile(0.5):.2f} ms   p99 {p99_ms:.2f} ms   (limit {P99_MS_MAX:g} ms)   "
        f"max {latencies[-1] * 1000:.2f} ms"
    )
    return 0 if start_s < START_S_MAX and p99_ms < P99_MS_MAX else 1


def measure(port: int, schemas: int, lookups: int) -> Iterator[float]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    dice = random.Random(1)
    for _ in range(lookups):
        begun = time.perf_counter()
        connection.request("GET", f"/schemas/ids/{dice.randint(1, schemas)}")
        response = connection.getresponse()
        body = response.read()
        yield time.perf_counter() - begun
        assert response.status == 200 and b'"schema"' in body, body
    connection.close()


def fill(bootstrap: str, schemas: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic("_schemas", 1, 1, config={"cleanup.policy": "compact"})])[
        "_schemas"
    ].result(60)
    producer = Producer({"bootstrap.servers": bootstrap, "queue.buffering.max.messages": schemas + 1})
    for number in range(1, schemas + 1):
        subject = f"topic-{number // VERSIONS_PER_SUBJECT}-value"
        version = number % VERSIONS_PER_SUBJECT + 1
        schema = SchemaText(text_of(number))
        stored = StoredSchema(subject, version, number, schema, schema.digest())
        key, value = encode(SchemaFact(subject, version, stored))
        producer.produce("_schemas", value, key, partition=0)
    assert producer.flush(120) == 0


def text_of(number: int) -> str:
    """About a kilobyte, as schemas are."""
    fields = [
        {
            "name": f"field_{number}_{place}",
            "type": ["null", "string"],
            "default": None,
            "doc": "what it means",
        }
        for place in range(10)
    ]
    return json.dumps({"type": "record", "name": f"Record{number}", "namespace": "bench", "fields": fields})


def broker_settings(port: int, folder: str) -> dict[str, str]:
    return {
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "log.dirs": folder,
        "group.initial.rebalance.delay.ms": "0",
    }


def overrides(settings: dict[str, str]) -> list[str]:
    return [f"--override={key}={value}" for key, value in settings.items()]


@contextlib.contextmanager
def started(arguments: Sequence[str]) -> Iterator[None]:
    """Until the block ends; begins when the command has said that it is ready."""
    process = subprocess.Popen(
        [MOLDAU, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("ready"), f"moldau {arguments[0]} did not start"
        yield
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
