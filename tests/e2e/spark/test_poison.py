"""Records an application cannot take: it lives, the rest is processed, and the dead-letter topic has them."""

import time
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from e2e.spark.kit import (
    PATIENCE_S,
    Read,
    Sent,
    committed,
    create_topics,
    last_values,
    running,
    send,
    wait_caught_up,
)
from moldau.pipeline.lifecycle import PipelineState
from moldau.pipeline.streams import LONG, STRING, ErrorHandlers, StreamsBuilder

MONTH_MS = 30 * 86_400_000


def create_patient_topic(servers: str, name: str) -> None:
    """It takes records of any time; other topics refuse those an hour ahead."""
    config = {"message.timestamp.after.max.ms": str((1 << 63) - 1)}
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, 1, config=config)])[name].result(PATIENCE_S)


def with_one_of_the_future() -> list[Sent]:
    now_ms = int(time.time() * 1000)
    records = [Sent(f"k{n % 4}", str(n), 0, now_ms) for n in range(100)]
    return [*records[:50], Sent("future", "x", 0, now_ms + MONTH_MS), *records[50:]]


def origin(dead: Read) -> tuple[bytes, bytes, bytes]:
    told = dead.headers
    return tuple(told[f"__streams.errors.{what}"] for what in ("topic", "partition", "offset"))  # type: ignore[return-value]


def test_a_record_of_the_future_does_not_stop_a_regrouped_count(servers: str, tmp_path: Path) -> None:
    """The topic in between refuses its time: it is counted all the same, or it is a dead letter."""
    create_patient_topic(servers, "future-in")
    create_patient_topic(servers, "future-out")
    send(servers, "future-in", with_one_of_the_future())
    builder = StreamsBuilder("future", key=STRING, value=STRING)
    counts = builder.stream("future-in").group_by(lambda key, _: f"by-{key}", key=STRING).count()
    counts.to_stream().to("future-out", value=LONG)
    with running(builder.build(), servers, tmp_path) as app:
        wait_caught_up(app, restarts_max=0)
    last = last_values(committed(servers, "future-out"))
    counted = {key: int.from_bytes(value) for key, value in last.items() if value}
    was_counted = counted.pop(b"by-future", 0)
    assert counted == {b"by-k%d" % n: 25 for n in range(4)}
    dead = [origin(one) for one in committed(servers, "future-dlq")]
    assert dead == ([] if was_counted else [(b"future-in", b"0", b"50")])


def test_a_record_whose_time_the_sink_refuses_is_a_dead_letter_with_its_coordinates(
    servers: str, tmp_path: Path
) -> None:
    create_patient_topic(servers, "stamped-in")
    create_topics(servers, stamped_out=1)
    send(servers, "stamped-in", with_one_of_the_future())
    builder = StreamsBuilder("stamped", key=STRING, value=STRING)
    builder.stream("stamped-in").map_values(str.upper).to("stamped-out")
    with running(builder.build(), servers, tmp_path) as app:
        wait_caught_up(app, restarts_max=0)
    assert sorted(int(one.value or b"") for one in committed(servers, "stamped-out")) == list(range(100))
    (dead,) = committed(servers, "stamped-dlq")
    assert origin(dead) == (b"stamped-in", b"0", b"50")
    assert dead.key == b"future"


def fails_for_bad(value: str) -> str:
    if value == "bad":
        raise ValueError("this one is bad")
    return value


def test_a_record_that_dies_in_one_branch_leaves_nothing_in_the_others(servers: str, tmp_path: Path) -> None:
    """Neither in a sink, nor in a store, nor in a topic in between; so a dead letter that is sent again counts once."""
    create_topics(servers, torn_in=1, torn_copy=1, torn_counts=1, torn_words=1, torn_out=1)
    send(servers, "torn-in", [Sent("k", value, 0, at) for at, value in enumerate(["a", "bad", "b"], 1)])
    builder = StreamsBuilder("torn", key=STRING, value=STRING)
    source = builder.stream("torn-in")
    source.to("torn-copy")
    source.group_by_key().count().to_stream().to("torn-counts", value=LONG)
    source.group_by(lambda _, value: value, key=STRING).count().to_stream().to("torn-words", value=LONG)
    source.map_values(fails_for_bad).to("torn-out")
    with running(builder.build(), servers, tmp_path) as app:
        wait_caught_up(app, restarts_max=0)
        (dead,) = committed(servers, "torn-dlq")
        assert (dead.value, origin(dead)) == (b"bad", (b"torn-in", b"0", b"1"))
        send(servers, "torn-in", [Sent("k", "good", 0, 4)])
        wait_caught_up(app, restarts_max=0)
    for topic in ("torn-copy", "torn-out"):
        assert [one.value for one in committed(servers, topic)] == [b"a", b"b", b"good"], topic
    assert [int.from_bytes(one.value or b"") for one in committed(servers, "torn-counts")] == [1, 2, 3]
    assert {one.key for one in committed(servers, "torn-words")} == {b"a", b"b", b"good"}


def test_a_handler_that_chooses_to_fail_ends_the_application(servers: str, tmp_path: Path) -> None:
    """Another try would end the same way: it says which record, and is not restarted."""
    create_topics(servers, stops_in=1, stops_out=1)
    send(servers, "stops-in", [Sent("a", "1", 0), Sent("a", "0", 0)])
    builder = StreamsBuilder("stops", key=STRING, value=STRING)
    builder.stream("stops-in").map_values(lambda value: str(1 // int(value))).to("stops-out")
    topology = builder.build(error_handlers=ErrorHandlers(processing="fail"))
    with running(topology, servers, tmp_path) as app:
        assert app.wait(timeout_s=PATIENCE_S) is PipelineState.FAILED
    told = app.metrics.last_error or ""
    assert "stops-in-0 at offset 1" in told and "ZeroDivisionError" in told
    assert app.metrics.restarts == 0
    assert committed(servers, "stops-out") == []
