"""What a user of running pipelines feels: how long a record takes, how many applications a machine bears, how soon
a view answers."""

import contextlib
import http.client
import random
import statistics
import time

from confluent_kafka import Consumer, Producer

from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.spark.status_http import serve_in_thread
from moldau.pipeline.streams import STRING, StreamsBuilder
from moldau.pipeline.views.http import view_server
from moldau.pipeline.views.view_host import ViewHost
from pipeline_arena import WAIT_S, arena, create, topology

WARM_BATCHES = 5


def latency(mode: str, count: int = 200) -> tuple[float, float]:
    """p50 and p99 in milliseconds from the producer's call to the consumer's answer, one record after the other."""
    with arena() as (servers, folder):
        create(servers, "in", "table", "out")
        case = "columns" if mode == "real_time" else "stateless"
        settings = AppSettings("latency", servers, str(folder), trigger_ms=0, latency=mode)  # type: ignore[arg-type]
        app = PipelineApp(topology(case, "latency"), settings)
        app.start()
        app.wait(PipelineState.RUNNING, PipelineState.FAILED, timeout_s=WAIT_S)
        producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
        reader = {
            "group.id": "latency-reader",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 20,
            "auto.offset.reset": "earliest",
        }
        consumer = Consumer({"bootstrap.servers": servers, **reader})
        consumer.subscribe(["out"])
        waits_ms = []
        for number in range(count):
            began = time.perf_counter()
            producer.produce("in", key=str(number), value=str(number))
            producer.flush()
            while (message := consumer.poll(1)) is None or message.error():
                if app.state is PipelineState.FAILED:
                    raise SystemExit(f"latency, {mode}: {app.metrics.last_error}")
            waits_ms.append((time.perf_counter() - began) * 1000)
        consumer.close()
        app.stop()
    warm = sorted(waits_ms[count // 4 :])
    return statistics.median(warm), warm[int(len(warm) * 0.99)]


def many(count: int, trigger_ms: int, seconds: int = 60) -> tuple[float, int]:
    """Light input to each of `count` applications. Gives the batches the slowest has made for each that its trigger
    called for, and the longest batch in milliseconds."""
    with arena() as (servers, folder):
        create(servers, "in", "table", "out")
        apps = []
        for number in range(count):
            settings = AppSettings(f"many-{number}", servers, str(folder), instances=1, trigger_ms=trigger_ms)
            apps.append(PipelineApp(topology("windowed-count", f"many-{number}"), settings))
        for app in apps:
            app.start()
            app.wait(PipelineState.RUNNING, PipelineState.FAILED, timeout_s=WAIT_S)
        producer = Producer({"bootstrap.servers": servers})

        def feed(until: float) -> int:
            longest_ms = 0
            while time.monotonic() < until:
                for number in range(10):
                    producer.produce("in", key=str(number), value="light")
                producer.flush()
                longest_ms = max(longest_ms, *(app.metrics.batch_ms for app in apps))
                time.sleep(0.5)
            return longest_ms

        warm_by = time.monotonic() + WAIT_S
        while min(app.metrics.batches for app in apps) < WARM_BATCHES and time.monotonic() < warm_by:
            feed(time.monotonic() + 1)
        before, began = [app.metrics.batches for app in apps], time.monotonic()
        longest_ms = feed(began + seconds)
        called_for = (time.monotonic() - began) * 1000 / trigger_ms
        made = min(app.metrics.batches - first for app, first in zip(apps, before, strict=True))
        for app in apps:
            app.stop()
    return made / called_for, longest_ms


def views(keys: int = 100_000, lookups: int = 5_000) -> tuple[float, float]:
    """p50 and p99 in milliseconds: one keep-alive connection asks for random keys of a view."""
    builder = StreamsBuilder("viewed", key=STRING, value=STRING)
    builder.stream("in").group_by_key().count(store="counts")
    viewed = builder.build()
    with arena() as (servers, _):
        create(servers, "in", "viewed-counts-changelog")
        producer = Producer({"bootstrap.servers": servers, "queue.buffering.max.messages": 1_000_000})
        for number in range(keys):
            value = time.time_ns().to_bytes(8)
            producer.produce("viewed-counts-changelog", key=b"key-%d" % number, value=value)
        producer.flush()
        host = ViewHost(viewed, "viewed", {"bootstrap.servers": servers})
        host.start()
        host.wait_ready(WAIT_S)
        # Below those the kernel gives to whoever connects: one that asks again and again could meet itself.
        port = random.randrange(20_000, 30_000)
        serve_in_thread(view_server(host), f"127.0.0.1:{port}")
        connection = http.client.HTTPConnection("127.0.0.1", port)
        deadline = time.monotonic() + WAIT_S
        while connection.sock is None and time.monotonic() < deadline:
            with contextlib.suppress(ConnectionRefusedError):
                connection.connect()
        waits_ms = []
        for number in range(lookups + lookups // 10):
            began = time.perf_counter()
            connection.request("GET", f"/views/counts/keys/key-{random.randrange(keys)}")
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200
            if number >= lookups // 10:
                waits_ms.append((time.perf_counter() - began) * 1000)
        host.stop()
    waits_ms.sort()
    return statistics.median(waits_ms), waits_ms[int(lookups * 0.99)]
