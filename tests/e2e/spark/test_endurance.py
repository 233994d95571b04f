"""What takes long: a gigabyte, a full disk, a broker that stays away."""

import os
from collections import Counter
from pathlib import Path

import pytest

from compat.moldau_broker import MoldauBroker
from e2e.small_disks import MakeDisk
from e2e.spark.kit import (
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
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, Topology

pytestmark = pytest.mark.skipif(
    "MOLDAU_KILL_ROUNDS" not in os.environ, reason="takes minutes: make kills runs this"
)

GIGABYTE = 1 << 30
RECORD_BYTES = 4096


def counting(name: str) -> Topology:
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    counts = builder.stream(f"{name}-in").group_by_key().count(store="counts")
    counts.to_stream().to(f"{name}-out", value=LONG)
    return builder.build()


def counts(servers: str, topic: str) -> dict[str, int]:
    found = last_values(committed(servers, topic)).items()
    return {key.decode(): int.from_bytes(value) for key, value in found if key and value}


def test_a_restart_amid_a_gigabyte_goes_on_from_the_checkpoint(servers: str, tmp_path: Path) -> None:
    create_topics(servers, large_in=2, large_out=2)
    value, total = "x" * RECORD_BYTES, GIGABYTE // RECORD_BYTES
    portion = 8_192
    for start in range(0, total, portion):
        send(servers, "large-in", [Sent(f"k{n % 100}", value) for n in range(start, start + portion)])
    settings = {"record_cache": True, "records_per_batch_max": total // 10}
    with running(counting("large"), servers, tmp_path, **settings) as app:
        wait_for(lambda: app.metrics.batches >= 3, "some of it is read")
    # A batch that was cut short by the stop has been read and will be read again; it counts in neither.
    first = app.metrics.records_in
    with running(counting("large"), servers, tmp_path, **settings) as app:
        wait_caught_up(app)
        wait_for(lambda: first + app.metrics.records_in >= total, "the batches are counted")
    assert first < total
    assert app.metrics.records_in <= total - first + total // 10
    assert counts(servers, "large-out") == Counter(f"k{n % 100}" for n in range(total))


def test_a_full_disk_is_waited_out(servers: str, make_disk: MakeDisk) -> None:
    disk = make_disk("checkpoints", 4 << 20)
    create_topics(servers, full_in=2, full_out=2)
    with running(counting("full"), servers, disk) as app:
        send(servers, "full-in", [Sent(f"k{n % 10}", "x") for n in range(1_000)])
        wait_caught_up(app)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            while True:
                file.write(bytes(4096))
        send(servers, "full-in", [Sent(f"k{n % 10}", "x") for n in range(1_000)])
        wait_for(lambda: app.metrics.restarts > 0, "the full disk is noticed")
        assert "space" in (app.metrics.last_error or "").lower()
        filler.unlink()
        wait_caught_up(app)
    written = Counter((one.key, one.value) for one in committed(servers, "full-out"))
    assert set(written.values()) == {1} and sum(written.values()) == 2_000


def test_a_broker_that_stays_away_is_waited_for(own_broker: MoldauBroker, tmp_path: Path) -> None:
    servers = own_broker.bootstrap
    create_topics(servers, away_in=2, away_out=2)
    with running(counting("away"), servers, tmp_path) as app:
        send(servers, "away-in", [Sent(f"k{n % 10}", "x") for n in range(1_000)])
        wait_caught_up(app)
        own_broker.kill9()
        wait_for(lambda: app.metrics.restarts > 1, "it fails and is started again")
        assert app.state is PipelineState.RESTARTING and "broker" in (app.metrics.last_error or "")
        own_broker.start()
        send(servers, "away-in", [Sent(f"k{n % 10}", "x") for n in range(1_000)])
        wait_caught_up(app)
    written = Counter((one.key, one.value) for one in committed(servers, "away-out"))
    assert set(written.values()) == {1} and sum(written.values()) == 2_000
