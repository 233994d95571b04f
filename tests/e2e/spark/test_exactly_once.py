"""Exactly once, when processes are killed in the midst of a batch."""

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.spark.kit import (
    PATIENCE_S,
    Sent,
    committed,
    create_topics,
    kill9,
    last_values,
    running,
    send,
    some_worker,
    wait_caught_up,
    wait_for,
)
from moldau.pipeline.streams import LONG, STRING, Guarantee, StreamsBuilder, Topology


def dies_once(flag: Path, servers: str, topic: str) -> object:
    """A mapper that kills its own process the first time it meets `die`, when other output of its batch is out."""

    def mapper(value: str) -> str:
        if value == "die" and not flag.exists():
            # Here, since the function travels to the worker by value, and this class cannot.
            from confluent_kafka import Consumer

            consumer = Consumer(
                {
                    "bootstrap.servers": servers,
                    "group.id": "watcher",
                    "auto.offset.reset": "earliest",
                    "isolation.level": "read_uncommitted",
                }
            )
            consumer.subscribe([topic])
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline:
                message = consumer.poll(1.0)
                if message is not None and message.error() is None:
                    break
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value.upper()

    return mapper


@pytest.mark.parametrize("guarantee", list(Guarantee))
def test_output_of_a_killed_batch_is_seen_once_only_with_a_transaction(
    guarantee: Guarantee, servers: str, tmp_path: Path
) -> None:
    """Partition 0 is written first; then the task of partition 1 kills the worker. At least once shows the records of
    partition 0 twice, which proves that this test would see them."""
    name = f"killed-{guarantee.replace('_', '-')}"
    source, target = f"{name}-in", f"{name}-out"
    create_topics(servers, **{source.replace("-", "_"): 2, target.replace("-", "_"): 1})
    send(servers, source, [Sent(f"a{n}", f"a{n}", 0) for n in range(50)])
    send(servers, source, [Sent("b", "b", 1), Sent("d", "die", 1)])
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    mapper = dies_once(tmp_path / "died", servers, target)
    builder.stream(source).map_values(mapper).to(target)  # type: ignore[arg-type]
    with running(builder.build(guarantee=guarantee), servers, tmp_path, instances=1) as app:
        wait_caught_up(app)
        assert app.metrics.restarts > 0
    assert (tmp_path / "died").exists()
    seen = Counter(record.value for record in committed(servers, target))
    assert set(seen) == {b"A%d" % n for n in range(50)} | {b"B", b"DIE"}
    twice = {value for value, count in seen.items() if count > 1}
    if guarantee is Guarantee.EXACTLY_ONCE:
        assert not twice
    else:
        assert b"A0" in twice


def word_count(name: str) -> Topology:
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    words = builder.stream(f"{name}-lines").flat_map_values(lambda line: line.lower().split())
    counts = words.group_by(lambda _, word: word, key=STRING).count(store="counts")
    counts.to_stream().to(f"{name}-counts", value=LONG)
    return builder.build()


def test_word_count_is_exact_under_kills(own_broker: MoldauBroker, tmp_path: Path, rounds: int) -> None:
    """Each round kills a Python worker or the broker while lines come in and the application is at work. Every count
    from 1 to the last is written exactly once: a duplicate or a gap anywhere would show."""
    servers, name = own_broker.bootstrap, "killed-count"
    create_topics(servers, killed_count_lines=2, killed_count_counts=2)
    words = Counter[str]()
    with running(word_count(name), servers, tmp_path) as app:
        for number in range(rounds):
            done = app.metrics.batches
            for part in range(4):
                lines = [f"w{number % 5} all x{n % 7}" for n in range(200)]
                words.update(word for line in lines for word in line.split())
                send(servers, f"{name}-lines", [Sent(str(n), line) for n, line in enumerate(lines)])
                if part != 1:
                    continue
                # It has come back from the last kill.
                wait_for(lambda done=done: app.metrics.batches > done, f"it does a batch: {app.metrics}")  # type: ignore[misc]
                if number % 2:
                    kill9(some_worker())
                else:
                    own_broker.kill9()
                    own_broker.start()
        wait_caught_up(app)
        records = committed(servers, f"{name}-counts")
    assert {
        key.decode(): int.from_bytes(value) for key, value in last_values(records).items() if key and value
    } == words
    written = Counter((record.key, record.value) for record in records)
    assert set(written.values()) == {1}
    assert len(records) == sum(words.values())
