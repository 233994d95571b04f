"""S3Sink and S3Source against moto's server: a topic goes to a bucket and comes back."""

from collections.abc import Iterator

import pytest

from connect_kit import Reports, StoredOffsets, eventually, read, sink_record
from moldau.pipeline.connect.api import ConnectError, RetriableError, TopicPartition
from moldau.pipeline.connect.connectors.files.sink import S3SinkConnector, S3SinkTask
from moldau.pipeline.connect.connectors.files.source import S3SourceConnector, S3SourceTask
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.struct import Struct

moto_server = pytest.importorskip("moto.server", reason="moto's server is not installed")
ORDER = schemas.struct({"id": schemas.INT64}, name="Order", version=1)
PLACE = TopicPartition("orders", 0)


@pytest.fixture
def s3() -> Iterator[dict[str, str]]:
    """The settings that reach a new, empty server with the bucket `archive`."""
    import requests

    server = moto_server.ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    try:
        eventually(lambda: requests.put(f"{address}/archive", timeout=60).ok, "the server makes a bucket")
        yield {
            "store.url": address,
            "s3.region": "us-east-1",
            "aws.access.key.id": "key",
            "aws.secret.access.key": "secret",
            "s3.bucket.name": "archive",
        }
    finally:
        server.stop()


@pytest.mark.slow
def test_a_bucket_keeps_a_topic(s3: dict[str, str]) -> None:
    sink = {**s3, "format.class": "ParquetFormat", "flush.size": "4", "store.envelope": "true"}
    S3SinkConnector().start(sink)
    task = S3SinkTask()
    task.start(sink, Reports())
    task.opened([PLACE])
    records = [
        sink_record("orders", number, str(number), Struct(ORDER, (number,)), value_schema=ORDER)
        for number in range(10)
    ]
    task.put(records)
    assert task.flush({PLACE: 10}) == {PLACE: 8}
    task.stop()
    S3SourceConnector().start(s3)
    source, offsets = S3SourceTask(), StoredOffsets()
    source.start({**s3, "s3.poll.interval.ms": "1", "record.batch.max.size": "3"}, offsets)
    found = read(source, offsets, 8)
    assert [(one.topic, one.key, one.value["id"], one.timestamp_ms) for one in found] == [
        ("orders", one.key, one.value["id"], one.timestamp_ms) for one in records[:8]
    ]
    assert set(offsets.stored) == {
        f'{{"file": "topics/orders/partition=0/orders+0+000000000{first}.snappy.parquet"}}'
        for first in (0, 4)
    }
    source.stop()


@pytest.mark.slow
def test_a_server_that_is_away_is_asked_again(s3: dict[str, str]) -> None:
    with pytest.raises(ConnectError, match="no bucket elsewhere"):
        S3SinkConnector().start(
            {**s3, "s3.bucket.name": "elsewhere", "format.class": "Json", "flush.size": "1"}
        )
    source = S3SourceTask()
    source.start({**s3, "store.url": "http://127.0.0.1:9"}, StoredOffsets())
    with pytest.raises(RetriableError, match="cannot be listed"):
        source.poll()
