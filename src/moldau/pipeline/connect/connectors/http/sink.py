"""HttpSink: sends records to a web service, one by one or in batches. At least once.

A request that was answered is not made again by the same task; a task that dies before its offsets are committed
repeats some. Retries are left to the worker, which waits without blocking the group.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, string
from moldau.pipeline.connect.api import (
    ConnectError,
    RetriableError,
    SinkConnector,
    SinkContext,
    SinkTask,
    TopicPartition,
)
from moldau.pipeline.connect.connectors.files.formats.json_lines import json_writer
from moldau.pipeline.connect.connectors.files.partitioners import field_of
from moldau.pipeline.connect.connectors.http.client import Busy, HttpClient, Refused
from moldau.pipeline.connect.connectors.http.settings import CONNECTION, Access, check_url
from moldau.pipeline.connect.connectors.http.templates import Template, plain_text
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.header_texts import text_of
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

OF: Final = "HttpSink"
METHODS: Final = ("POST", "PUT", "PATCH", "DELETE")
_SPLIT: Final = (400, 413, 422)
"""Answers to a batch that one record of it may be the reason for."""
_GONE: Final = (404, 410)

DECLARATIONS: Final = (
    Declaration(
        string(
            "http.url",
            "",
            "The address. ${topic}, ${key}, ${partition}, ${offset}, and fields of the value by their names, "
            "are filled in; a name with dots goes into fields.",
            importance=Importance.HIGH,
        ),
        is_required=True,
        group="Request",
        display_name="Address",
    ),
    Declaration(
        string(
            "http.method", "POST", "POST, PUT, PATCH or DELETE.", check=one_of(*METHODS, ignore_case=True)
        ),
        group="Request",
        display_name="Method",
    ),
    Declaration(
        string("http.headers.content.type", "", "Empty: application/json, or text/plain for texts."),
        group="Request",
        display_name="Content type",
    ),
    Declaration(
        boolean(
            "http.headers.forward.record.headers", False, "Headers of records become headers of requests."
        ),
        group="Request",
        display_name="Headers of records",
    ),
    Declaration(
        boolean(
            "http.headers.idempotency.key",
            False,
            "Requests have the header Idempotency-Key with topic, partition and offset: a service that knows "
            "it takes each record once. Needs batch.max.size=1.",
        ),
        group="Request",
        display_name="Idempotency key",
    ),
    Declaration(
        integer("batch.max.size", 1, "How many records a request has at most.", at_least=1),
        group="Batches",
        display_name="Records in a request",
    ),
    Declaration(
        string("batch.prefix", "[", "How the body of a batch begins."), group="Batches", display_name="Prefix"
    ),
    Declaration(
        string("batch.separator", ",", "What is between its records. \\n is a new line."),
        group="Batches",
        display_name="Separator",
    ),
    Declaration(
        string("batch.suffix", "]", "How the body of a batch ends."), group="Batches", display_name="Suffix"
    ),
    Declaration(
        string(
            "behavior.on.null.values",
            "ignore",
            "What to do with a record without a value: ignore it, delete (a DELETE without a body), or fail.",
            check=one_of("ignore", "delete", "fail", ignore_case=True),
        ),
        group="Request",
        display_name="Null values",
    ),
    Declaration(
        string(
            "json.decimal.format",
            "BASE64",
            "How decimals are written: BASE64 as Connect does, NUMERIC as a number.",
            check=one_of("BASE64", "NUMERIC", ignore_case=True),
            importance=Importance.LOW,
        ),
        group="Request",
        display_name="Decimals",
    ),
    Declaration(
        integer(
            "max.retries",
            -1,
            "How often in a row a request may fail for a reason that may pass, before the task fails. -1: no limit.",
            at_least=-1,
        ),
        group="Retries",
        display_name="Retries",
    ),
    *CONNECTION,
)


@dataclass(slots=True)
class _Batch:
    method: str
    url: str
    headers: Mapping[str, str]
    is_single: bool
    """A body without prefix and suffix."""
    records: list[SinkRecord] = field(default_factory=list)
    parts: list[bytes] = field(default_factory=list)

    def accepts(self, other: "_Batch", size_max: int) -> bool:
        return (
            len(self.records) < size_max
            and (self.method, self.url) == (other.method, other.url)
            and self.headers == other.headers
            and not self.is_single
            and not other.is_single
        )


class HttpSinkTask(SinkTask):
    def start(self, config: Texts, context: SinkContext) -> None:
        values = values_of(DECLARATIONS, config, of=OF)
        _check(values)
        self._context = context
        self._client = HttpClient(Access.of(values, "http.url"))
        self._url = Template(values["http.url"])
        self._method: str = values["http.method"].upper()
        self._content_type: str = values["http.headers.content.type"]
        self._forwards: bool = values["http.headers.forward.record.headers"]
        self._has_key: bool = values["http.headers.idempotency.key"]
        self._size_max: int = values["batch.max.size"]
        self._frame = [
            values[f"batch.{name}"].replace("\\n", "\n").encode()
            for name in ("prefix", "separator", "suffix")
        ]
        self._nulls: str = values["behavior.on.null.values"].lower()
        self._retries_max: int = values["max.retries"]
        numbers = values["json.decimal.format"].upper() == "NUMERIC"
        self._writers = Derived(partial(json_writer, are_decimals_numbers=numbers))
        self._write_plain = json_writer(None, are_decimals_numbers=numbers)
        self._next: dict[TopicPartition, int] = {}
        """Records below have been sent, or given up: a put that failed is repeated."""
        self._failures = 0
        self._not_before = 0.0

    def put(self, records: Sequence[SinkRecord]) -> None:
        left_s = self._not_before - time.monotonic()
        if left_s > 0:
            raise RetriableError(f"The service has asked to wait another {left_s:.0f} s")
        batch: _Batch | None = None
        for record in records:
            if record.offset < self._next.get(_place(record), -1):
                continue
            try:
                one = self._request(record)
            except DataError as wrong:
                if batch is not None:
                    self._send(batch)
                    batch = None
                self._context.report(record, wrong)
                self._done([record])
                continue
            if one is None:
                continue
            if batch is not None and batch.accepts(one, self._size_max):
                batch.records += one.records
                batch.parts += one.parts
                continue
            if batch is not None:
                self._send(batch)
            batch = one
        if batch is not None:
            self._send(batch)

    def closed(self, partitions: Sequence[TopicPartition]) -> None:
        for one in partitions:
            self._next.pop(one, None)

    def stop(self) -> None:
        if hasattr(self, "_client"):
            self._client.close()

    # Requests

    def _request(self, record: SinkRecord) -> _Batch | None:
        """None for a record that is left out. Raises DataError."""
        method = self._method
        if record.value is None:
            if self._nulls == "ignore":
                return None
            if self._nulls == "fail":
                raise DataError(
                    "its value is null, and behavior.on.null.values=fail: set it to ignore, or to delete"
                )
            method = "DELETE"
        if method == "DELETE" and "key" in self._url.names and _part_of(record, "key") == "":
            raise DataError("its key is empty, and says what to delete: nothing was deleted")
        url = self._url.filled(partial(_part_of, record), is_url=True)
        headers = self._headers(record)
        has_body = method != "DELETE"
        parts = [self._body(record)] if has_body else []
        is_single = self._size_max == 1 or not has_body
        return _Batch(method, url, headers, is_single, [record], parts)

    def _headers(self, record: SinkRecord) -> dict[str, str]:
        headers = {}
        if record.value is not None:
            default = "text/plain; charset=utf-8" if isinstance(record.value, str) else "application/json"
            if isinstance(record.value, bytes):
                default = "application/octet-stream"
            if self._size_max > 1:
                default = "application/json"
            headers["Content-Type"] = self._content_type or default
        if self._forwards:
            for one in record.headers:
                if one.value is not None:
                    text = text_of(one.value, one.schema)
                    if not text.isprintable() or not text.isascii():
                        raise DataError(
                            f"the header {one.key} cannot be one of HTTP: it has the value {text!r}"
                        )
                    headers[one.key] = text
        if self._has_key:
            headers["Idempotency-Key"] = "-".join(map(str, (*_place(record), record.offset)))
        return headers

    def _body(self, record: SinkRecord) -> bytes:
        value = record.value
        if isinstance(value, str):
            return value.encode()
        if isinstance(value, bytes):
            return value
        write = self._write_plain if record.value_schema is None else self._writers.of(record.value_schema)
        return write(value)

    def _send(self, batch: _Batch) -> None:
        prefix, separator, suffix = self._frame
        body: bytes | None = b"".join(batch.parts) if batch.is_single else b""
        if not batch.is_single:
            body = prefix + separator.join(batch.parts) + suffix
        elif not batch.parts:
            body = None
        try:
            self._client.send(batch.method, batch.url, batch.headers, body)
        except Refused as refused:
            if len(batch.records) > 1 and refused.status in _SPLIT:
                for record, part in zip(batch.records, batch.parts, strict=True):
                    self._send(_Batch(batch.method, batch.url, batch.headers, False, [record], [part]))
                return
            # What is deleted twice is gone the second time.
            if batch.method != "DELETE" or refused.status not in _GONE:
                for record in batch.records:
                    self._context.report(record, refused)
        except RetriableError as failure:
            self._note_failure(failure)
            raise
        self._failures = 0
        self._done(batch.records)

    def _note_failure(self, failure: RetriableError) -> None:
        self._failures += 1
        if 0 <= self._retries_max < self._failures:
            raise ConnectError(
                f"{failure} no more: max.retries={self._retries_max}. Restart the task when the service is there"
            ) from failure
        if isinstance(failure, Busy):
            self._not_before = time.monotonic() + failure.after_s

    def _done(self, records: Sequence[SinkRecord]) -> None:
        for one in records:
            self._next[_place(one)] = one.offset + 1


def _place(record: SinkRecord) -> TopicPartition:
    return TopicPartition(record.original_topic or record.topic, record.original_partition)


def _part_of(record: SinkRecord, name: str) -> Any:
    match name:
        case "topic":
            return record.topic
        case "partition":
            return record.original_partition
        case "offset":
            return record.offset
        case "key":
            return None if record.key is None else plain_text(record.key)
    try:
        return field_of(record, name)
    except DataError:
        return None


def _check(values: Mapping[str, Any]) -> None:
    """Raises ConfigError for settings that do not fit together."""
    check_url("http.url", values["http.url"])
    Access.of(values, "http.url")
    if values["http.headers.idempotency.key"] and values["batch.max.size"] > 1:
        raise ConfigError(
            "http.headers.idempotency.key needs batch.max.size=1: a batch that is sent again may have other records"
        )
    if (
        values["behavior.on.null.values"].lower() == "delete"
        and "key" not in Template(values["http.url"]).names
    ):
        raise ConfigError("behavior.on.null.values=delete needs ${key} in http.url: it says what to delete")


class HttpSinkConnector(SinkConnector):
    declarations = DECLARATIONS
    task_class = HttpSinkTask
    aliases = (
        "HttpSink",
        "io.aiven.kafka.connect.http.HttpSinkConnector",
        "io.confluent.connect.http.HttpSinkConnector",
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
            name = min(named, key=str(wrong).index, default="http.url")
            return [ConfigValue(name, config.get(name), errors=[str(wrong)])]
        return ()
