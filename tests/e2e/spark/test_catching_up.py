"""A backlog gives what live input would have given: nothing is late that was in time, no join sees the future."""

from pathlib import Path

import pytest

from e2e.process_facts import MB, forget_peak, peak_resident_bytes, resident_bytes
from e2e.spark.kit import (
    Sent,
    committed,
    create_topics,
    last_values,
    running,
    send,
    wait_caught_up,
    wait_for,
    worker_pids,
)
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, tumbling

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
BEGIN_MS = 1_000 * HOUR_MS
FRESH_WORKER_BYTES = 100 * MB


def test_a_backlog_regrouped_into_windows_without_grace_is_counted_to_the_last_record(
    servers: str, tmp_path: Path
) -> None:
    """An hour in order over three partitions, so that what the tasks pass on comes together again."""
    total, words = 20_000, 50
    create_topics(servers, hour_in=3, hour_out=3)
    step_ms = HOUR_MS / total
    records = [Sent(str(n), f"w{n * 7 % words}", n % 3, int(BEGIN_MS + n * step_ms)) for n in range(total)]
    send(servers, "hour-in", records)
    builder = StreamsBuilder("hour", key=STRING, value=STRING)
    by_word = builder.stream("hour-in").group_by(lambda _, word: word, key=STRING)
    counts = by_word.windowed_by(tumbling(MINUTE_MS)).count()
    counts.to_stream(lambda window, _: f"{window.key}@{window.start_ms}", key=STRING).to(
        "hour-out", value=LONG
    )
    with running(builder.build(), servers, tmp_path, record_cache=True) as app:
        wait_caught_up(app, restarts_max=0)
    counted = last_values(committed(servers, "hour-out")).values()
    assert sum(int.from_bytes(value) for value in counted if value) == total


def test_records_find_the_rows_of_a_table_that_are_older(servers: str, tmp_path: Path) -> None:
    """Whatever the limit of a batch: the rows were there two hours before the first record."""
    total, rows = 50_000, 300
    create_topics(servers, older_rows=2, older_in=2, older_out=2)
    at_ms = BEGIN_MS - 2 * HOUR_MS
    send(servers, "older-rows", [Sent(f"k{n}", f"row{n}", timestamp_ms=at_ms + n) for n in range(rows)])
    send(servers, "older-in", [Sent(f"k{n % rows}", str(n), timestamp_ms=BEGIN_MS + n) for n in range(total)])
    builder = StreamsBuilder("older", key=STRING, value=STRING)
    table = builder.table("older-rows")
    builder.stream("older-in").join(table, lambda number, row: f"{row} {number}").to("older-out")
    with running(builder.build(), servers, tmp_path, records_per_batch_max=5_000) as app:
        wait_caught_up(app, restarts_max=0)
    assert sorted(one.value or b"" for one in committed(servers, "older-out")) == sorted(
        f"row{n % rows} {n}".encode() for n in range(total)
    )


def test_a_late_record_keeps_its_place_wherever_batches_are_cut(servers: str, tmp_path: Path) -> None:
    """It comes behind the record it followed in its partition, also on the task it is passed on to: there the window is
    closed by then, whether both came in one batch or in two."""
    topics = {f"late{size}_{end}": 2 for size in (1, 400_000) for end in ("in", "out")}
    create_topics(servers, **topics)
    for size in (1, 400_000):
        name = f"late{size}"
        # Kafka's clients send d to the other partition than b and c.
        send(servers, f"{name}-in", [Sent("x", "d", 0, BEGIN_MS + 100), Sent("x", "b", 0, BEGIN_MS + 50)])
        send(servers, f"{name}-in", [Sent("x", "c", 1, BEGIN_MS + 90)])
        builder = StreamsBuilder(name, key=STRING, value=STRING)
        grouped = builder.stream(f"{name}-in").group_by(lambda _, word: word, key=STRING)
        counts = grouped.windowed_by(tumbling(60)).count()
        counts.to_stream(lambda window, _: window.key, key=STRING).to(f"{name}-out", value=LONG)
        with running(builder.build(), servers, tmp_path, records_per_batch_max=size) as app:
            wait_caught_up(app, restarts_max=0)
            wait_for(lambda app=app: app.metrics.records_dropped == 1, "the drop is told")  # type: ignore[misc]
            assert any("late" in reason for reason in app.metrics.dropped), app.metrics.dropped
        assert sorted(one.key or b"" for one in committed(servers, f"{name}-out")) == [b"c", b"d"], size


@pytest.mark.parametrize("changes", [("h1", "h2"), (None, "h2")], ids=["other-key", "gone-and-back"])
def test_a_foreign_key_join_lets_go_of_a_row_that_changes_twice_in_a_batch(
    changes: tuple[str | None, ...], servers: str, tmp_path: Path
) -> None:
    """The answer to the first change comes when the row is already another."""
    name = f"letgo{len(changes[0] or '')}"
    create_topics(servers, **{f"{name}_{what}": 1 for what in ("left", "right", "out")})
    builder = StreamsBuilder(name, key=STRING, value=STRING)
    left, right = builder.table(f"{name}-left"), builder.table(f"{name}-right")
    joined = left.join(right, lambda mine, theirs: f"{mine} {theirs}", foreign_key=lambda value: value[:1])
    joined.to_stream().to(f"{name}-out")
    send(servers, f"{name}-right", [Sent("g", "there", 0, BEGIN_MS)])
    for at_ms, some in ((BEGIN_MS + 1, ("g1",)), (BEGIN_MS + 2, changes)):
        send(servers, f"{name}-left", [Sent("f", value, 0, at_ms + n) for n, value in enumerate(some)])
        with running(builder.build(), servers, tmp_path) as app:
            wait_caught_up(app, restarts_max=0)
    values = [one.value for one in committed(servers, f"{name}-out")]
    assert values[0] == b"g1 there" and values[-1] is None, values


def test_a_backlog_of_large_records_takes_memory_by_the_batch(servers: str, tmp_path: Path) -> None:
    """Batches are bounded in bytes, and what they took is given back. By records alone one batch would be all there
    is, and several times as much in memory."""
    create_topics(servers, bulky_in=2, bulky_out=2)
    count, size = 60_000, 5_000
    value = "x" * size
    for start in range(0, count, 5_000):
        send(
            servers,
            "bulky-in",
            [Sent(f"k{n % 50}", value, n % 2, BEGIN_MS + n) for n in range(start, start + 5_000)],
        )
    builder = StreamsBuilder("bulky", key=STRING, value=STRING)
    builder.stream("bulky-in").map_values(len).to("bulky-out", value=LONG)
    # Workers serve all the tests of a process: what others have left in them is none of this one's.
    before = {pid: resident_bytes(pid) for pid in worker_pids()}
    for pid in before:
        forget_peak(pid)
    with running(builder.build(), servers, tmp_path, instances=1, bytes_per_batch_max=16 << 20) as app:
        wait_caught_up(app)
        assert app.metrics.batches >= count * size // (16 << 20)
        workers = worker_pids()
        grown = [peak_resident_bytes(pid) - before.get(pid, FRESH_WORKER_BYTES) for pid in workers]
        wait_for(
            lambda: all(
                resident_bytes(pid) < before.get(pid, FRESH_WORKER_BYTES) + 200 * MB for pid in workers
            ),
            "what a batch took is given back",
        )
    assert max(grown) < 350 * MB, [size // MB for size in grown]
    assert len(committed(servers, "bulky-out")) == count
