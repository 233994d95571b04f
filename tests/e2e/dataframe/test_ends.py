"""The two ends without Spark between them: what the driver publishes, and what a task reads."""

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'moldau[spark]'")

import pyarrow as pa

from e2e.spark.kit import Sent, committed, create_topics, send
from moldau.spark.columns import RowLayout
from moldau.spark.options import SinkOptions, SourceOptions
from moldau.spark.publisher import NotWritten, Publisher, publish
from moldau.spark.range_rows import BATCH_BYTES, QUEUED_KIB_MAX, OffsetRange, read_range
from moldau.spark.staging import Staged, stage
from moldau.spark.topics import Place

ROWS = 10


def staged(batch_id: int) -> list[Staged]:
    values = pa.array([b"%d-%d" % (batch_id, number) for number in range(ROWS)])
    return [stage(iter([pa.RecordBatch.from_pydict({"value": values})]), "query", batch_id, None)]


def written(servers: str, topic: str) -> list[int]:
    """The batch each record is of."""
    return [int((one.value or b"").split(b"-")[0]) for one in committed(servers, topic)]


def test_a_batch_another_process_has_written_is_left_out(servers: str) -> None:
    """Any of Spark's Python processes may commit a batch: the publisher of this test is fenced and continues."""
    create_topics(servers, fenced=1)
    sink = SinkOptions.parse({"bootstrap.servers": servers, "topic": "fenced"})
    publish(sink, "fenced-query", 0, staged(0))
    other = Publisher(sink, "fenced-query")
    assert other.last_batch_id == 0
    other.write(1, staged(1))
    for number in (1, 1, 2):
        publish(sink, "fenced-query", number, staged(number))
    assert written(servers, "fenced") == [0] * ROWS + [1] * ROWS + [2] * ROWS
    with pytest.raises(NotWritten, match="batch 2 is written"):
        publish(sink, "fenced-query", 1, staged(1))
    other.close()
    publish(sink, "another-query", 0, staged(0))
    assert len(written(servers, "fenced")) == 4 * ROWS


def test_what_a_dead_driver_left_open_is_ended(servers: str) -> None:
    create_topics(servers, left_open=1)
    sink = SinkOptions.parse({"bootstrap.servers": servers, "topic": "left-open"})
    dead = Publisher(sink, "left-open-query")
    dead._producer.begin_transaction()
    dead._producer.produce("left-open", b"9-0")
    dead._producer.flush(60)
    publish(sink, "left-open-query", 0, staged(0))
    assert written(servers, "left-open") == [0] * ROWS
    with pytest.raises(Exception, match=r"fenced|epoch"):
        dead._producer.commit_transaction(60)


def test_large_records_come_in_small_batches(servers: str) -> None:
    create_topics(servers, large=1)
    count, size = 60, 900_000
    send(servers, "large", [Sent(None, b"x" * size, 0) for _ in range(count)])
    source = SourceOptions.parse({"bootstrap.servers": servers, "subscribe": "large"})
    wanted = OffsetRange(Place("large", 0), 0, count)
    sizes = [batch.nbytes for batch in read_range(source, RowLayout.of(source), wanted)]
    assert sum(sizes) > count * size
    assert max(sizes) < BATCH_BYTES + (QUEUED_KIB_MAX << 10)
