"""What a user of running pipelines feels: how long a record takes, how many applications a machine bears, how soon
a view answers."""

import contextlib
import http.client
import os
import random
import statistics
import time
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.spark.application import PipelineApp
from moldau.pipeline.spark.driver.http.status_http import serve_in_thread
from moldau.pipeline.spark.settings import AppSettings
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, tumbling
from moldau.pipeline.views.http import view_server
from moldau.pipeline.views.view_host import ViewHost
from pipeline_arena import WAIT_S, arena, create, topology


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


CROWD_WARM_S = 60


class Crowd(NamedTuple):
    p50_ms: float
    p95_ms: float
    pss_mb: float
    silent: int
    """Applications that told nothing while it was measured."""


def many(count: int, seconds: int = 60) -> Crowd:
    """`count` applications in one process, half of them counting in windows, each given a record a second: how long
    from the record's time to the consumer that reads the result, and the memory of driver, JVM and workers together.
    Measured once all have made their first batches."""
    with arena() as (servers, folder):
        ins, outs = [f"in-{n}" for n in range(count)], [f"out-{n}" for n in range(count)]
        create(servers, *ins, *outs, partitions=1)
        apps = []
        for number in range(count):
            builder = StreamsBuilder(f"many-{number}", key=STRING, value=STRING)
            records = builder.stream(ins[number])
            if number % 2:
                records.map_values(str.upper).to(outs[number])
            else:
                counts = records.group_by_key().windowed_by(tumbling(60_000)).count()
                counts.to_stream().to(outs[number], value=LONG)
            apps.append(PipelineApp(builder.build(), AppSettings(f"many-{number}", servers, str(folder))))
        for app in apps:
            app.start()
        for app in apps:
            app.wait(PipelineState.RUNNING, PipelineState.FAILED, timeout_s=WAIT_S)
        producer = Producer({"bootstrap.servers": servers})
        settings = {"group.id": "many-reader", "isolation.level": "read_committed"}
        consumer = Consumer({"bootstrap.servers": servers, **settings})
        consumer.assign([TopicPartition(topic, 0, 0) for topic in outs])
        waits_ms: list[float] = []
        heard: set[str | None] = set()
        sent, began = 0, time.monotonic()
        while (now := time.monotonic()) < began + CROWD_WARM_S + seconds:
            if sent < (now - began) * count:
                producer.produce(ins[sent % count], key=str(sent % 7), value="light")
                producer.poll(0)
                sent += 1
                continue
            for message in consumer.consume(500, 0.01):
                if message.error() is None and now > began + CROWD_WARM_S:
                    waits_ms.append(time.time() * 1000 - message.timestamp()[1])
                    heard.add(message.topic())
        producer.flush()
        memory_mb = sum(pss_mb(pid) for pid in [os.getpid(), *descendants(os.getpid())])
        consumer.close()
        for app in apps:
            app.stop()
    steady = sorted(waits_ms)
    p95_ms = steady[int(len(steady) * 0.95)]
    return Crowd(statistics.median(steady), p95_ms, memory_mb, count - len(heard))


def pss_mb(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return int(text.partition("Pss:")[2].split()[0]) / 1024


def descendants(pid: int) -> list[int]:
    """Without the broker, which is measured elsewhere."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(FileNotFoundError):  # the thread, or the child, has ended meanwhile
            for child in map(int, (task / "children").read_text().split()):
                if b"broker" not in Path(f"/proc/{child}/cmdline").read_bytes():
                    found += [child, *descendants(child)]
    return found


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
