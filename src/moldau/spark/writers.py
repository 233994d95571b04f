"""The sinks: tasks encode and stage rows, the driver publishes the staged rows."""

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from moldau.spark.options import SinkOptions
from moldau.spark.outgoing import Encoding
from moldau.spark.publisher import publish
from moldau.spark.staging import Staged, remove_folders, remove_leftovers, stage, staging_folder

if TYPE_CHECKING:
    import pyarrow as pa

QUERY_ID: Final = "sql.streaming.queryId"
BATCH_ID: Final = "streaming.sql.batchId"
NAME: Final = "moldau-spark-"


class StreamWriter(DataSourceStreamArrowWriter):
    """Exactly once across crashes and restarts: Spark's checkpoint has the query's id and the batch number."""

    def __init__(self, sink: SinkOptions, schema: StructType) -> None:
        self._sink = sink
        self._encoding = Encoding(sink, schema)

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> WriterCommitMessage:
        context = TaskContext.get()
        assert context is not None
        properties = context._localProperties or {}
        query_id = properties[QUERY_ID]
        folder = staging_folder(self._sink, properties, query_id)
        return stage(map(self._encoding.batch, iterator), query_id, int(properties[BATCH_ID]), folder)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        staged = _of(messages)
        if not staged:
            return
        remove_leftovers(staged, batchId)
        publish(self._sink, NAME + staged[0].query_id, batchId, staged)
        _remove(staged)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:
        _remove(_of(messages))


class BatchWriter(DataSourceArrowWriter):
    """All or nothing: readers of committed records see nothing of a failed job."""

    def __init__(self, sink: SinkOptions, schema: StructType) -> None:
        self._sink = sink
        self._encoding = Encoding(sink, schema)
        self._job_id = uuid.uuid4().hex

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> WriterCommitMessage:
        context = TaskContext.get()
        assert context is not None
        folder = staging_folder(self._sink, context._localProperties or {}, self._job_id)
        return stage(map(self._encoding.batch, iterator), self._job_id, 0, folder)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        staged = _of(messages)
        publish(self._sink, NAME + self._job_id, 0, staged)
        remove_folders(staged)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        remove_folders(_of(messages))


def _of(messages: list[WriterCommitMessage | None]) -> list[Staged]:
    """The staged rows in the order of the partitions."""
    return [message for message in messages if isinstance(message, Staged)]


def _remove(staged: list[Staged]) -> None:
    for message in staged:
        message.remove()
