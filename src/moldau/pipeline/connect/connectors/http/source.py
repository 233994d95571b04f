"""HttpSource: asks a web service again and again, and makes records of what its JSON answers list.

Placeholders of the request take the offset of the last record, so the next answer goes on behind it.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import orjson

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, integer, long, string, strings
from moldau.pipeline.connect.api import ConnectError, Offset, SourceConnector, SourceContext, SourceTask
from moldau.pipeline.connect.connectors.http.client import Busy, HttpClient, Refused, shown
from moldau.pipeline.connect.connectors.http.settings import CONNECTION, Access, check_url
from moldau.pipeline.connect.connectors.http.templates import Template, at_pointer
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import ms_of
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.schema import STRING
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

log = logging.getLogger(__name__)

OF: Final = "HttpSource"
URL: Final = "url"
LINK: Final = "link"
OFFSET: Final = "offset."

DECLARATIONS: Final = (
    Declaration(
        string(
            "http.request.url",
            "",
            "The address. ${offset.NAME} is the part NAME of the last record's offset; ${offset.NAME!text} "
            "has the text as long as there is none.",
            importance=Importance.HIGH,
        ),
        is_required=True,
        group="Request",
        display_name="Address",
    ),
    Declaration(
        string("http.request.method", "GET", "GET or POST.", check=one_of("GET", "POST", ignore_case=True)),
        group="Request",
        display_name="Method",
    ),
    Declaration(
        string("http.request.params", "", "The query, as name=value&name=value, with the same placeholders."),
        group="Request",
        display_name="Query",
    ),
    Declaration(
        string(
            "http.request.body",
            "",
            "The body, with the same placeholders. It is JSON unless a header says more.",
        ),
        group="Request",
        display_name="Body",
    ),
    Declaration(
        strings(
            "http.offset.initial", (), "The offset to begin with, as name=value, with commas in between."
        ),
        group="Offset",
        display_name="First offset",
    ),
    Declaration(
        strings(
            "http.response.record.offset.pointer",
            (),
            "What of a record is its offset, as name=pointer, with commas in between: id=/id,at=/updated. "
            "Records in an answer up to the one with the last offset are left out. Without it, each answer is "
            "written whole.",
        ),
        group="Offset",
        display_name="Offset of a record",
    ),
    Declaration(
        string(
            "http.response.list.pointer",
            "",
            "Where the answer has its list of records, as a JSON pointer such as /items. Empty: the answer "
            "is the list, or one record.",
        ),
        group="Answer",
        display_name="List",
    ),
    Declaration(
        string("http.response.record.pointer", "", "What of an item is the value. Empty: the item."),
        group="Answer",
        display_name="Value",
    ),
    Declaration(
        string("http.response.record.key.pointer", "", "What of an item is the key. Empty: there is none."),
        group="Answer",
        display_name="Key",
    ),
    Declaration(
        string(
            "http.response.record.timestamp.pointer",
            "",
            "What of an item is its time, as milliseconds or as text such as 2026-01-31T12:00:00Z.",
        ),
        group="Answer",
        display_name="Time",
    ),
    Declaration(
        string(
            "http.response.next.pointer",
            "",
            "Where the answer has the address of its next page; link: in the header Link. Pages are read one "
            "after the other without waiting.",
        ),
        group="Answer",
        display_name="Next page",
    ),
    Declaration(
        string(
            "http.record.format",
            "json",
            "Values as json (for JsonConverter) or as string: their JSON as text (for StringConverter).",
            check=one_of("json", "string", ignore_case=True),
        ),
        group="Answer",
        display_name="Values",
    ),
    Declaration(
        string("kafka.topic", "", "The topic to write to.", importance=Importance.HIGH),
        is_required=True,
        group="Topic",
        display_name="Topic",
    ),
    Declaration(
        long(
            "http.timer.interval.millis",
            60_000,
            "How long to wait after an answer without records.",
            at_least=1,
        ),
        group="Timing",
        display_name="Interval (ms)",
    ),
    Declaration(
        long(
            "http.timer.catchup.interval.millis",
            1_000,
            "How long to wait after an answer with records: there may be more.",
            at_least=1,
        ),
        group="Timing",
        display_name="Catch-up interval (ms)",
    ),
    Declaration(
        integer("record.batch.max.size", 1_000, "The largest number of records in one poll.", at_least=1),
        group="Timing",
        display_name="Records in a poll",
    ),
    *CONNECTION,
)


class HttpSourceTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        values = values_of(DECLARATIONS, config, of=OF)
        _check(values)
        self._values = values
        self._client = HttpClient(Access.of(values, "http.request.url"))
        self._url, self._query, self._body = (
            Template(values[f"http.request.{name}"]) for name in ("url", "params", "body")
        )
        self._pointers = _pairs(values, "http.response.record.offset.pointer")
        self._partition = {URL: values["http.request.url"]}
        stored = context.offset(self._partition)
        self._offset: Offset = _pairs(values, "http.offset.initial") if stored is None else stored
        self._is_text = values["http.record.format"].lower() == "string"
        self._waiting: list[SourceRecord] = []
        self._page: str | None = None
        """The address of the next page."""
        self._due_at = 0.0

    def poll(self) -> Sequence[SourceRecord]:
        if not self._waiting and time.monotonic() >= self._due_at:
            self._ask()
        count: int = self._values["record.batch.max.size"]
        found, self._waiting = self._waiting[:count], self._waiting[count:]
        return found

    def next_poll_ms(self) -> int:
        return 1 if self._waiting else max(1, int((self._due_at - time.monotonic()) * 1_000))

    def stop(self) -> None:
        if hasattr(self, "_client"):
            self._client.close()

    def _ask(self) -> None:
        values, page = self._values, self._page
        method = values["http.request.method"].upper()
        try:
            body = self._body.filled(self._part).encode() if self._body.text else None
            url = page or self._url.filled(self._part, is_url=True)
            if page is None and self._query.text:
                url += f"{'&' if '?' in url else '?'}{self._query.filled(self._part, is_url=True)}"
        except DataError as wrong:
            raise ConnectError(f"The request cannot be made: {wrong}. Set http.offset.initial") from None
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            answer = self._client.send(method, url, headers, body)
        except Busy as failure:
            self._due_at = time.monotonic() + failure.after_s
            raise
        except Refused as refused:
            self._page = None
            raise ConnectError(
                f"{refused}. Check http.request.url and the offset, {dict(self._offset)}"
            ) from None
        try:
            content = orjson.loads(answer.content) if answer.content else []
        except orjson.JSONDecodeError as wrong:
            raise ConnectError(f"The answer of {shown(url)} is no JSON: {wrong}") from None
        self._waiting = self._records(content, shown(url))
        self._page = self._next_page(content, answer.links, url)
        if self._page is None:
            name = "catchup.interval" if self._waiting else "interval"
            self._due_at = time.monotonic() + values[f"http.timer.{name}.millis"] / 1_000

    def _records(self, content: Any, url: str) -> list[SourceRecord]:
        pointer = self._values["http.response.list.pointer"]
        found = at_pointer(content, pointer)
        if found is None and pointer and isinstance(content, dict):
            # Services leave out empty lists.
            found = []
        items = found if isinstance(found, list) else [found]
        offsets = [self._offset_of(one, url) for one in items]
        if self._pointers and self._offset in offsets:
            known = len(offsets) - offsets[::-1].index(self._offset)
            items, offsets = items[known:], offsets[known:]
        records = [self._record(item, offset) for item, offset in zip(items, offsets, strict=True)]
        if offsets:
            self._offset = offsets[-1]
        return records

    def _record(self, item: Any, offset: Offset) -> SourceRecord:
        values = self._values
        value = at_pointer(item, values["http.response.record.pointer"])
        pointer = values["http.response.record.key.pointer"]
        key = at_pointer(item, pointer) if pointer else None
        is_text = self._is_text and value is not None
        return SourceRecord(
            values["kafka.topic"],
            key=key,
            value=orjson.dumps(value).decode() if is_text else value,
            value_schema=STRING if is_text else None,
            timestamp_ms=_ms_of(item, values["http.response.record.timestamp.pointer"]),
            source_partition=self._partition,
            source_offset=dict(offset),
        )

    def _offset_of(self, item: Any, url: str) -> Offset:
        offset = {name: at_pointer(item, pointer) for name, pointer in self._pointers.items()}
        for name, value in offset.items():
            if value is None or isinstance(value, dict | list):
                raise ConnectError(
                    f"A record of {url} has no single value at {self._pointers[name]}, which is part of its "
                    "offset: check http.response.record.offset.pointer"
                )
        return offset

    def _part(self, name: str) -> Any:
        return self._offset.get(name.removeprefix(OFFSET)) if name.startswith(OFFSET) else None

    def _next_page(self, content: Any, links: Mapping[str, Mapping[str, str]], url: str) -> str | None:
        pointer = self._values["http.response.next.pointer"]
        if not pointer:
            return None
        if pointer.lower() == LINK:
            found: Any = links.get("next", {}).get("url")
        else:
            found = at_pointer(content, pointer)
        if not isinstance(found, str) or not found:
            return None
        following = urljoin(url, found)
        if urlsplit(following)[:2] != urlsplit(url)[:2]:
            raise ConnectError(
                f"The next page of {shown(url)} is at {shown(following)}, on another host: it is not given the "
                "authorization of this one"
            )
        return None if following == url else following


def _ms_of(item: Any, pointer: str) -> int | None:
    """None if there is no time."""
    value = at_pointer(item, pointer) if pointer else None
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return int(value) if value.isdigit() else None
        return ms_of(moment if moment.tzinfo is None else moment.astimezone(UTC))
    return value if type(value) is int else None


def _pairs(values: Mapping[str, Any], setting: str) -> dict[str, str]:
    found = {}
    for one in values[setting]:
        name, separator, text = one.partition("=")
        if not separator or not name.strip():
            raise ConfigError(f"Invalid value {one} for configuration {setting}: it takes name=value")
        found[name.strip()] = text.strip()
    return found


def _check(values: Mapping[str, Any]) -> None:
    """Raises ConfigError for settings that do not fit together."""
    check_url("http.request.url", values["http.request.url"])
    Access.of(values, "http.request.url")
    known = {*_pairs(values, "http.response.record.offset.pointer"), *_pairs(values, "http.offset.initial")}
    for setting in ("url", "params", "body"):
        for name in Template(values[f"http.request.{setting}"]).names:
            if name.removeprefix(OFFSET) not in known or not name.startswith(OFFSET):
                raise ConfigError(
                    f"http.request.{setting} has ${{{name}}}, which is no part of the offset: it takes "
                    f"${{offset.NAME}} with a NAME of http.response.record.offset.pointer"
                )
    for setting in ("list", "record", "record.key", "record.timestamp", "next"):
        pointer = values[f"http.response.{setting}.pointer"]
        if pointer and not pointer.startswith("/") and (setting, pointer.lower()) != ("next", LINK):
            raise ConfigError(
                f"Invalid value {pointer} for configuration http.response.{setting}.pointer: it takes a JSON "
                "pointer, such as /items"
            )


class HttpSourceConnector(SourceConnector):
    declarations = DECLARATIONS
    task_class = HttpSourceTask
    aliases = ("HttpSource", "com.github.castorm.kafka.connect.http.HttpSourceConnector")

    def start(self, config: Texts) -> None:
        _check(values_of(DECLARATIONS, config, of=OF))
        super().start(config)

    @classmethod
    def is_exactly_once(cls, config: Texts) -> bool:
        """Without offsets every answer is written whole."""
        return bool(config.get("http.response.record.offset.pointer", "").strip())

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            _check(values_of(DECLARATIONS, config, of=OF))
        except ConfigError as wrong:
            named = [one.name for one in DECLARATIONS if one.name in str(wrong)]
            name = min(named, key=str(wrong).index, default="http.request.url")
            return [ConfigValue(name, config.get(name), errors=[str(wrong)])]
        return ()

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, _ in offsets:
            if not isinstance(partition.get(URL), str):
                raise ConnectError(
                    f"A source partition is {{'{URL}': the setting http.request.url}} here, not {dict(partition)}"
                )
