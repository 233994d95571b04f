"""The way of a record between Kafka's bytes and a connector, with real converters."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.data.records import Header, SinkTexts, SourceBytes, SourceRecord, SourceTexts
from moldau.pipeline.connect.data.schema import STRING
from moldau.pipeline.connect.runtime.chain_settings import ChainSettings
from moldau.pipeline.connect.runtime.record_chain import Failed, RecordChain, Waiting
from moldau.pipeline.connect.runtime.record_failures import Origin, Stage, context_headers
from moldau.pipeline.connect.runtime.sink_chain import SinkChain
from moldau.pipeline.connect.runtime.source_chain import ProducerRecord, SourceChain, unchanged

TEXTS = {"key.converter": "StringConverter", "value.converter": "StringConverter"}
JSON = {"key.converter": "StringConverter", "value.converter": "JsonConverter"}


class ReadMessage:
    """What librdkafka gives for a record; its own class cannot be made in Python."""

    def __init__(
        self, value: bytes | None, *, offset: int = 0, headers: list[tuple[str, bytes]] | None = None
    ) -> None:
        self._value, self._offset, self._headers = value, offset, headers

    def topic(self) -> str:
        return "in"

    def partition(self) -> int:
        return 1

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes | None:
        return b"k"

    def value(self) -> bytes | None:
        return self._value

    def headers(self) -> list[tuple[str, bytes]] | None:
        return self._headers

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_700_000_000_000


class Clock:
    """Moves only when somebody pauses."""

    def __init__(self, pauses_max: int = 100) -> None:
        self.now_ms = 0
        self.pauses: list[int] = []
        self._pauses_max = pauses_max

    def pause_ms(self, ms: int) -> bool:
        self.pauses.append(ms)
        self.now_ms += ms
        return len(self.pauses) < self._pauses_max

    @property
    def waiting(self) -> Waiting:
        return Waiting(lambda: self.now_ms, self.pause_ms)


def chain(config: Mapping[str, str], clock: Clock | None = None) -> RecordChain:
    return RecordChain(config, (clock or Clock()).waiting)


def sink(config: Mapping[str, str]) -> SinkChain:
    return SinkChain(chain(config))


def messages(values: list[bytes | None]) -> Any:
    return [ReadMessage(value, offset=offset) for offset, value in enumerate(values)]


def test_a_source_record_is_converted_with_its_headers() -> None:
    source = SourceChain(chain({**JSON, "value.converter.schemas.enable": "false"}))
    given = SourceRecord("out", "k", {"n": 1}, timestamp_ms=5, partition=2, headers=(Header("h", 7),))
    found = source.output([given])
    assert found.records == [ProducerRecord("out", b'{"n":1}', b"k", 2, 5, [("h", b"7")])]
    assert not found.failed


def test_texts_pass_as_they_are_only_if_they_are_utf8() -> None:
    source = SourceChain(chain(TEXTS))
    assert source.takes_whole(SourceTexts("t", [b"a", "ä".encode()], None, None))
    assert not source.takes_whole(SourceTexts("t", [b"a", b"\xff"], None, None))
    assert not source.takes_whole([SourceRecord("t", value="a", value_schema=STRING)])
    assert not SourceChain(chain(JSON)).takes_whole(SourceTexts("t", [b"a"], None, None))
    broken = source.output(SourceTexts("t", [b"a\xff"], None, None))
    assert broken.records == [ProducerRecord("t", "a\ufffd".encode())]


def test_bytes_pass_as_they_are_and_become_the_same_as_one_by_one() -> None:
    names = ("key.converter", "value.converter", "header.converter")
    source = SourceChain(chain(dict.fromkeys(names, "ByteArrayConverter")))
    columns = SourceBytes(
        "t",
        3,
        [b"k", None],
        [None, b"v"],
        [5, 6],
        [[("h", b"x")], None],
        {"p": 1},
        lambda index: {"o": index},
    )
    assert source.takes_whole(columns)
    assert not SourceChain(chain(TEXTS)).takes_whole(columns)
    assert unchanged(columns) == [
        ProducerRecord("t", None, b"k", 3, 5, [("h", b"x")]),
        ProducerRecord("t", b"v", None, 3, 6),
    ]
    assert source.output(columns).records == unchanged(columns)


def test_a_source_record_that_fails_does_not_stop_the_others() -> None:
    source = SourceChain(chain({**JSON, "value.converter": "LongConverter"}))
    bad, good = SourceRecord("t", value="no number"), SourceRecord("t", value=7)
    found = source.output([bad, good])
    assert [one.value for one in found.records] == [b"\0\0\0\0\0\0\0\7"]
    [(record, failure)] = found.failed
    assert record is bad
    assert failure.stage is Stage.VALUE_CONVERTER
    assert failure.component == "org.apache.kafka.connect.converters.LongConverter"


def test_long_runs_of_texts_reach_a_sink_as_columns() -> None:
    found = sink(TEXTS).output([messages([b"%d" % n for n in range(20)])])
    [batch] = found.batches
    assert isinstance(batch, SinkTexts)
    assert (batch.topic, batch.partition, batch.texts[-1]) == ("in", 1, b"19")
    assert (batch[-1].offset, batch[3].key, batch[3].value) == (19, "k", "3")
    assert [one.value for one in batch[15::2]] == ["15", "17", "19"]


def test_a_sink_record_has_its_headers_and_where_it_was_read() -> None:
    found = sink({**JSON, "value.converter.schemas.enable": "false"}).output(
        [[ReadMessage(b'{"n":1}', offset=9, headers=[("h", b"12")])]]  # type: ignore[list-item]
    )
    [[record]] = found.batches
    assert (record.value, record.key, record.offset, record.original_partition) == ({"n": 1}, "k", 9, 1)
    assert [(one.key, one.value) for one in record.headers] == [("h", 12)]


def test_a_record_in_another_format_fails_alone_and_says_what_it_looks_like() -> None:
    found = sink(JSON).output([messages([b"\0\0\0\0\x2arest", b'{"schema":null,"payload":1}'])])
    [(message, failure)] = found.failed
    assert message.offset() == 0
    assert failure.stage is Stage.VALUE_CONVERTER
    assert "schema id 42" in str(failure.error)
    assert [record.value for record in found.batches[0]] == [1]


@pytest.mark.parametrize(
    ("timeout", "attempts"),
    [("0", 1), ("1000", 4), ("-1", 6)],
    ids=["no retry", "until the time is up", "until the task stops"],
)
def test_what_may_work_later_is_retried_within_the_time(timeout: str, attempts: int) -> None:
    clock = Clock(pauses_max=6)
    calls = []

    def fails() -> None:
        calls.append(1)
        raise RetriableError("the registry is away")

    with pytest.raises(Failed) as failed:
        chain({**TEXTS, "errors.retry.timeout": timeout}, clock).attempt(Stage.VALUE_CONVERTER, Clock, fails)
    assert len(calls) == attempts
    assert failed.value.failure.stage is Stage.VALUE_CONVERTER
    assert "the registry is away" in str(failed.value)


def test_a_retry_that_works_gives_the_result() -> None:
    answers: list[Callable[[], int]] = [lambda: 1 // 0, lambda: 5]

    def call() -> int:
        try:
            return answers.pop(0)()
        except ZeroDivisionError:
            raise RetriableError("not yet") from None

    assert chain({**TEXTS, "errors.retry.timeout": "-1"}).attempt(Stage.PUT, Clock, call) == 5


def test_wrong_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"value.converter is not set"):
        ChainSettings.of({"key.converter": "StringConverter"})
    with pytest.raises(ConfigError, match=r"errors\.tolerance"):
        ChainSettings.of({**TEXTS, "errors.tolerance": "some"})
    with pytest.raises(ConfigError, match="did you mean JsonConverter"):
        chain({**TEXTS, "value.converter": "JsonConverterr"})
    assert ChainSettings.of({**TEXTS, "errors.tolerance": "ALL"}).tolerates


def test_context_headers_say_where_the_record_came_from_and_why_it_failed() -> None:
    [(_, failure)] = (
        SourceChain(chain({**TEXTS, "value.converter": "LongConverter"}))
        .output([SourceRecord("t", value="x")])
        .failed
    )
    origin = Origin("", json.dumps({"file": "f"}), json.dumps({"position": 3}))
    headers = dict(context_headers(failure, origin, "numbers", 2))
    assert headers["__connect.errors.partition"] == b'{"file": "f"}'
    assert headers["__connect.errors.connector.name"] == b"numbers"
    assert headers["__connect.errors.task.id"] == b"2"
    assert headers["__connect.errors.stage"] == b"VALUE_CONVERTER"
    assert b"LongConverter" in (headers["__connect.errors.exception.message"] or b"")
    assert b"DataError" in (headers["__connect.errors.exception.stacktrace"] or b"")
    masked = dict(
        context_headers(failure, origin, "numbers", 2, lambda text: text.replace("Long", "[hidden]"))
    )
    assert b"LongConverter" not in (masked["__connect.errors.exception.message"] or b"")
    assert b"LongConverter" not in (masked["__connect.errors.exception.stacktrace"] or b"")
