"""ElasticsearchSink: records as documents of Elasticsearch or OpenSearch, by its bulk API.

Deliveries that repeat change nothing: an id and a version are made of the record alone (`bulk.py`).
"""

import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import orjson

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import (
    ConnectError,
    RetriableError,
    SinkConnector,
    SinkContext,
    SinkTask,
    TopicPartition,
)
from moldau.pipeline.connect.connectors.elasticsearch.bulk import (
    TYPELESS_SINCE,
    Failure,
    Operation,
    failures_of,
)
from moldau.pipeline.connect.connectors.elasticsearch.settings import (
    DECLARATIONS,
    access_of,
    addresses,
    index_of,
)
from moldau.pipeline.connect.connectors.files.formats.json_lines import json_writer
from moldau.pipeline.connect.connectors.http.client import Busy, HttpClient, Refused
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import text_of
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import ConfigValue, Texts, values_of

log = logging.getLogger(__name__)

OF: Final = "ElasticsearchSink"
ID_BYTES_MAX: Final = 512
LINES: Final = "application/x-ndjson"


class ElasticsearchSinkTask(SinkTask):
    def start(self, config: Texts, context: SinkContext) -> None:
        values = values_of(DECLARATIONS, config, of=OF)
        _check(values)
        self._context = context
        self._client = HttpClient(access_of(values))
        self._addresses = list(addresses(values))
        self._index: str = values["index.name"]
        self._ignores_keys: bool = values["key.ignore"]
        self._merges: bool = values["write.method"].upper() == "UPSERT"
        self._nulls: str = values["behavior.on.null.values"].upper()
        self._malformed: str = values["behavior.on.malformed.documents"].upper()
        self._count_max: int = values["batch.size"]
        self._bytes_max: int = values["bulk.size.bytes"]
        self._retries_max: int = values["max.retries"]
        self._writers = Derived(partial(json_writer, are_decimals_numbers=True))
        self._write_plain = json_writer(None, are_decimals_numbers=True)
        self._has_types: bool | None = None
        """Whether the server wants a type with each document. None: it has not been asked."""
        self._next: dict[TopicPartition, int] = {}
        self._failures = 0
        self._not_before = 0.0

    def put(self, records: Sequence[SinkRecord]) -> None:
        left_s = self._not_before - time.monotonic()
        if left_s > 0:
            raise RetriableError(f"The server has asked to wait another {left_s:.0f} s")
        if self._has_types is None:
            self._has_types = self._major_version() < TYPELESS_SINCE
        operations: list[Operation] = []
        parts: list[bytes] = []
        size = 0
        for record in records:
            if record.offset < self._next.get(_place(record), -1):
                continue
            try:
                one = self._operation(record)
            except DataError as wrong:
                # In the order of offsets: what is done up to here must not be done again.
                self._send(operations, parts)
                operations, parts, size = [], [], 0
                self._context.report(record, wrong)
                self._next[_place(record)] = record.offset + 1
                continue
            if one is None:
                continue
            lines = one.lines(has_types=self._has_types)
            if operations and (len(operations) >= self._count_max or size + len(lines) > self._bytes_max):
                self._send(operations, parts)
                operations, parts, size = [], [], 0
            operations.append(one)
            parts.append(lines)
            size += len(lines)
        self._send(operations, parts)

    def closed(self, partitions: Sequence[TopicPartition]) -> None:
        for one in partitions:
            self._next.pop(one, None)

    def stop(self) -> None:
        if hasattr(self, "_client"):
            self._client.close()

    # Documents

    def _operation(self, record: SinkRecord) -> Operation | None:
        """None for a record that is left out. Raises DataError."""
        index = index_of(self._index, record.topic)
        if record.value is None:
            if self._nulls == "IGNORE":
                return None
            if self._nulls == "FAIL" or self._ignores_keys:
                raise DataError(
                    "its value is null: set behavior.on.null.values to DELETE (with key.ignore=false) or IGNORE"
                )
            return Operation(record, "delete", index, self._id(record), record.offset, None)
        if not isinstance(record.value, Struct | dict):
            raise DataError(
                f"its value is a {type(record.value).__name__}, and a document has fields: use a "
                "value.converter that makes structures, such as JsonConverter, or the transformation HoistField"
            )
        write = self._write_plain if record.value_schema is None else self._writers.of(record.value_schema)
        source = write(record.value)
        if self._merges:
            return Operation(record, "update", index, self._id(record), None, source)
        # With ids of their own, documents are written once in any case; a version makes the second time harmless.
        return Operation(record, "index", index, self._id(record), record.offset, source)

    def _id(self, record: SinkRecord) -> str:
        if self._ignores_keys:
            return f"{record.original_topic or record.topic}+{record.original_partition}+{record.offset}"
        if record.key is None or isinstance(record.key, Struct | dict | list):
            raise DataError(
                f"its key is {'null' if record.key is None else 'no single value'}, and the key is the id of "
                "the document: set key.ignore=true, or make a key with the transformations ValueToKey and ExtractField"
            )
        text = text_of(record.key, record.key_schema)
        if len(text.encode()) > ID_BYTES_MAX:
            raise DataError(f"its key has more than {ID_BYTES_MAX} bytes, which an id cannot have")
        return text

    # Requests

    def _send(self, operations: Sequence[Operation], parts: Sequence[bytes]) -> None:
        if not operations:
            return
        try:
            answer = orjson.loads(self._ask("POST", "/_bulk", b"".join(parts)))
        except Refused as refused:
            if len(operations) == 1:
                self._refuse(operations[0].record, str(refused))
                self._next[_place(operations[0].record)] = operations[0].record.offset + 1
                return
            # Too large for the server, perhaps.
            half = len(operations) // 2
            self._send(operations[:half], parts[:half])
            self._send(operations[half:], parts[half:])
            return
        failed = list(failures_of(operations, answer))
        busy = next((one for one in failed if one.is_busy), None)
        if busy is not None:
            raise self._counted(RetriableError(f"The index {busy.operation.index} is busy: {busy.text}"))
        for one in failed:
            self._judge(one)
        self._failures = 0
        for done in operations:
            self._next[_place(done.record)] = done.record.offset + 1

    def _judge(self, failure: Failure) -> None:
        if failure.status in (401, 403):
            raise ConnectError(
                f"The index {failure.operation.index} cannot be written: {failure.text}. Check the rights of "
                "connection.username"
            )
        self._refuse(
            failure.operation.record, f"the index {failure.operation.index} refuses it: {failure.text}"
        )

    def _refuse(self, record: SinkRecord, text: str) -> None:
        if self._malformed == "FAIL":
            self._context.report(record, DataError(text))
        elif self._malformed == "WARN":
            log.warning("%s-%d@%d: %s", record.topic, record.original_partition, record.offset, text)

    def _major_version(self) -> int:
        found: Mapping[str, Any] = orjson.loads(self._ask("GET", "/", None))
        version = found.get("version", {})
        if version.get("distribution") == "opensearch":
            return TYPELESS_SINCE
        return int(str(version.get("number", TYPELESS_SINCE)).partition(".")[0])

    def _ask(self, method: str, path: str, body: bytes | None) -> bytes:
        """Of the node that answered last, or the next. Raises Refused, ConnectError, RetriableError."""
        headers = {} if body is None else {"Content-Type": LINES}
        failure: RetriableError | None = None
        for _ in range(len(self._addresses)):
            try:
                return self._client.send(method, f"{self._addresses[0]}{path}", headers, body).content
            except RetriableError as failed:
                failure = failed
                self._addresses.append(self._addresses.pop(0))
        assert failure is not None
        raise self._counted(failure)

    def _counted(self, failure: RetriableError) -> ConnectError:
        self._failures += 1
        if 0 <= self._retries_max < self._failures:
            return ConnectError(
                f"{failure} no more: max.retries={self._retries_max}. Restart the task when the server is there"
            )
        if isinstance(failure, Busy):
            self._not_before = time.monotonic() + failure.after_s
        return failure


def _place(record: SinkRecord) -> TopicPartition:
    return TopicPartition(record.original_topic or record.topic, record.original_partition)


def _check(values: Mapping[str, Any]) -> None:
    """Raises ConfigError for settings that do not fit together."""
    access_of(values)
    if values["key.ignore"] and values["behavior.on.null.values"].upper() == "DELETE":
        raise ConfigError(
            "behavior.on.null.values=DELETE needs key.ignore=false: the key says what to delete"
        )
    if values["key.ignore"] and values["write.method"].upper() == "UPSERT":
        raise ConfigError("write.method=UPSERT needs key.ignore=false: the key says which document to change")


class ElasticsearchSinkConnector(SinkConnector):
    declarations = DECLARATIONS
    task_class = ElasticsearchSinkTask
    aliases = (
        "ElasticsearchSink",
        "OpenSearchSink",
        "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
        "io.aiven.kafka.connect.opensearch.OpensearchSinkConnector",
    )

    def start(self, config: Texts) -> None:
        _check(values_of(DECLARATIONS, config, of=OF))
        super().start(config)

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            _check(values_of(DECLARATIONS, config, of=OF))
        except ConfigError as wrong:
            named = [one.name for one in DECLARATIONS if one.name in str(wrong)]
            name = min(named, key=str(wrong).index, default="connection.url")
            return [ConfigValue(name, config.get(name), errors=[str(wrong)])]
        return ()
