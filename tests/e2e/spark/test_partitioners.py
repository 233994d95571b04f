"""Equal keys meet, whichever way the producers of a topic spread them over partitions."""

from pathlib import Path

from confluent_kafka import Producer

from e2e.spark.kit import (
    PATIENCE_S,
    Sent,
    committed,
    create_topics,
    running,
    send,
    wait_caught_up,
)
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.streams import STRING, StreamsBuilder

BEGIN_MS, LATER_MS = 1_000_000, 5_000_000


def test_a_repartitioned_stream_meets_a_table_whose_producer_spreads_keys_by_crc32(
    servers: str, tmp_path: Path
) -> None:
    """With confluent-kafka's default partitioner. Repartitioning follows the partitioner that the table's records
    show."""
    users = 200
    create_topics(servers, crc_users=4, crc_in=4, crc_out=4)
    send(
        servers, "crc-users", [Sent(f"user{n}", f"name{n}", timestamp_ms=BEGIN_MS + n) for n in range(users)]
    )
    send(servers, "crc-in", [Sent(f"e{n}", f"user{n}", timestamp_ms=LATER_MS + n) for n in range(users)])
    builder = StreamsBuilder("crc", key=STRING, value=STRING)
    table = builder.table("crc-users")
    events = builder.stream("crc-in").select_key(lambda _, user: user, key=STRING)
    events.join(table, lambda user, name: f"{user} is {name}").to("crc-out")
    with running(builder.build(), servers, tmp_path) as app:
        wait_caught_up(app, restarts_max=0)
    found = {one.value for one in committed(servers, "crc-out")}
    assert found == {f"user{n} is name{n}".encode() for n in range(users)}


def test_topics_whose_keys_are_spread_in_different_ways_are_not_joined(servers: str, tmp_path: Path) -> None:
    create_topics(servers, mixed_crc=4, mixed_murmur=4, mixed_out=4)
    send(servers, "mixed-crc", [Sent(f"k{n}", str(n), timestamp_ms=BEGIN_MS + n) for n in range(50)])
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for n in range(50):
        producer.produce("mixed-murmur", str(n), f"k{n}", timestamp=BEGIN_MS + n)
    assert producer.flush(PATIENCE_S) == 0
    builder = StreamsBuilder("mixed", key=STRING, value=STRING)
    builder.table("mixed-crc").join(builder.table("mixed-murmur"), lambda a, b: a + b).to_stream().to(
        "mixed-out"
    )
    with running(builder.build(), servers, tmp_path) as app:
        assert app.wait(timeout_s=PATIENCE_S) is PipelineState.FAILED
    told = app.metrics.last_error or ""
    assert "mixed-crc" in told and "mixed-murmur" in told and "partitioner" in told
