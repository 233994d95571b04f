"""The three error handlers of a topology: for records that cannot be read, processed or written."""

from typing import Any

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.aggregation.suppress import BufferFull
from moldau.pipeline.operators.decoding import DecodingError
from moldau.pipeline.operators.records import NEGATIVE_TIMESTAMP, SKIPPED, OutputRecord
from moldau.pipeline.operators.task import ProcessingError
from moldau.pipeline.plan.handlers import Choice
from moldau.pipeline.streams import (
    JSON,
    LONG,
    STRING,
    ErrorContext,
    ErrorHandlers,
    PunctuationType,
    Record,
    StreamsBuilder,
    Topology,
)
from moldau.testing import TopologyTestDriver


def reading(handlers: ErrorHandlers) -> Topology:
    builder = StreamsBuilder(value=JSON)
    builder.stream("in", name="source").map_values(lambda value: 10 // value["by"], value=LONG).to("out")
    return builder.build(error_handlers=handlers)


def run(topology: Topology, *values: bytes, **options: Any) -> TopologyTestDriver:
    driver = TopologyTestDriver(topology, **options)
    for number, value in enumerate(values):
        driver.pipe_bytes("in", b"k", value, number)
    return driver


def test_each_handler_has_its_own_choice() -> None:
    driver = run(
        reading(ErrorHandlers(deserialization="skip", processing="dead_letter")),
        b"{",
        b'{"by":0}',
        b'{"by":5}',
    )
    assert driver.read("out") == [("k", 2)]
    assert [(dead.offset, dead.reason.partition(":")[0]) for dead in driver.dead] == [
        (1, "ZeroDivisionError")
    ]
    assert driver.dropped["source", SKIPPED].count == 1


def test_what_is_left_out_is_as_the_application_was_told() -> None:
    with pytest.raises(DecodingError):
        run(reading(ErrorHandlers(processing="skip")), b"{")
    driver = run(reading(ErrorHandlers(processing="skip")), b"{", b'{"by":0}', on_error="dead_letter")
    assert [dead.offset for dead in driver.dead] == [0]
    assert driver.dropped["source", SKIPPED].count == 1


def test_fail_wins_over_dead_letters_of_the_application() -> None:
    with pytest.raises(ProcessingError, match="ZeroDivisionError"):
        run(reading(ErrorHandlers(processing="fail")), b'{"by":0}', on_error="dead_letter")


def test_a_function_chooses_by_what_happened_and_is_asked_once() -> None:
    asked: list[tuple[ErrorContext, BaseException]] = []

    def choose(context: ErrorContext, error: BaseException) -> Choice:
        asked.append((context, error))
        return "skip" if context.value == b'{"by":0}' else "dead_letter"

    builder = StreamsBuilder(value=JSON)
    stream = builder.stream("in", name="source")
    stream.group_by_key().count(store="counts")
    stream.map_values(lambda value: 10 // value["by"], value=LONG).to("out")
    driver = run(
        builder.build(error_handlers=ErrorHandlers(processing=choose)), b'{"by":0}', b"{}", b'{"by":1}'
    )
    assert [(context.node, context.offset, type(error)) for context, error in asked] == [
        ("source", 0, ZeroDivisionError),
        ("source", 1, KeyError),
    ]
    assert [dead.offset for dead in driver.dead] == [1]
    assert driver.store("counts").get("k") == 1


def test_negative_timestamps_are_counted_by_their_own_name() -> None:
    driver = TopologyTestDriver(reading(ErrorHandlers(deserialization="skip")))
    driver.pipe_bytes("in", b"k", b'{"by":1}', -1)
    assert driver.dropped["source", NEGATIVE_TIMESTAMP].count == 1


def test_a_choice_there_is_not() -> None:
    with pytest.raises(ConfigError, match="processing= of ErrorHandlers is 'drop': an error handler chooses"):
        ErrorHandlers(processing="drop")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"what .*whatever returned is None"):

        def whatever(context: ErrorContext, error: BaseException) -> Any:
            return None

        run(reading(ErrorHandlers(processing=whatever)), b'{"by":0}')


def test_whether_a_dead_letter_topic_is_needed() -> None:
    assert ErrorHandlers(production="dead_letter").may_write_dead_letters
    assert ErrorHandlers(processing=lambda context, error: "skip").may_write_dead_letters
    assert not ErrorHandlers(deserialization="skip", processing="fail").may_write_dead_letters


def writing(handlers: ErrorHandlers | None) -> Topology:
    builder = StreamsBuilder(value=STRING)
    stream = builder.stream("in")
    stream.group_by_key().count(store="counts")
    stream.to("copied")
    stream.map_values(str.upper).to("out")
    return builder.build(error_handlers=handlers)


def too_large(output: OutputRecord) -> str | None:
    return "MESSAGE_TOO_LARGE" if output.topic == "out" and output.value == b"BIG" else None


def test_a_record_whose_output_is_refused_goes_to_the_dead_letters_with_all_it_did() -> None:
    driver = run(writing(ErrorHandlers(production="dead_letter")), b"a", b"big", b"c", refuse=too_large)
    assert driver.read("copied") == [("k", "a"), ("k", "c")]
    assert driver.read("out") == [("k", "A"), ("k", "C")]
    assert driver.store("counts").get("k") == 2
    (dead,) = driver.dead
    assert (dead.topic, dead.offset, dead.value) == ("in", 1, b"big")
    assert dead.reason == "ProductionError: the broker rejects its output for out: MESSAGE_TOO_LARGE"


def test_a_refused_output_alone_can_be_left_out() -> None:
    asked: list[Any] = []

    def choose(context: ErrorContext, error: BaseException) -> Choice:
        asked.append((context.topic, context.offset, context.output.value))
        return "skip"

    for handler in ("skip", choose):
        driver = run(writing(ErrorHandlers(production=handler)), b"a", b"big", b"c", refuse=too_large)  # type: ignore[arg-type]
        assert driver.read("copied") == [("k", "a"), ("k", "big"), ("k", "c")]
        assert driver.read("out") == [("k", "A"), ("k", "C")]
        assert driver.store("counts").get("k") == 3
        assert driver.dropped["out", SKIPPED].count == 1
        assert driver.dead == []
    assert asked == [("in", 1, b"BIG")]


def test_a_refused_output_stops_the_task_and_is_named() -> None:
    told = (
        "the broker rejects a record for out: MESSAGE_TOO_LARGE; its input was the record of in-0 at offset 1"
    )
    with pytest.raises(ProcessingError, match=told):
        run(writing(None), b"a", b"big", refuse=too_large)


def test_an_output_of_no_record_goes_to_the_dead_letters_itself() -> None:
    class Ticking:
        def init(self, context: Any) -> None:
            self.context = context
            context.schedule(10, PunctuationType.WALL_CLOCK_TIME, self.tick)

        def process(self, record: Record) -> None:
            self.context.forward(record)

        def tick(self, now_ms: int) -> None:
            self.context.forward(Record("tick", "BIG", now_ms))
            self.context.forward(Record("tick", "small", now_ms))

    builder = StreamsBuilder(value=STRING)
    builder.stream("in").process(Ticking).to("out")
    topology = builder.build(error_handlers=ErrorHandlers(production="dead_letter"))
    driver = TopologyTestDriver(topology, refuse=too_large)
    driver.advance_wall_clock(10)
    assert driver.read("out") == [("tick", "small")]
    (dead,) = driver.dead
    assert (dead.topic, dead.offset, dead.key, dead.value) == ("out", -1, b"tick", b"BIG")


@pytest.mark.parametrize("choice", ["skip", "dead_letter"])
def test_the_sink_that_chooses_its_topic_is_checked_too(choice: Choice) -> None:
    builder = StreamsBuilder(value=STRING)
    builder.stream("in").to(lambda key, value, context: "out")
    topology = builder.build(error_handlers=ErrorHandlers(production=choice))
    driver = run(topology, b"BIG", b"a", refuse=too_large)
    assert driver.read("out") == [("k", "a")]


def test_a_strict_buffer_that_is_full_stops_the_task_whatever_was_chosen() -> None:
    builder = StreamsBuilder(value=STRING)
    builder.table("in").suppress(
        until_ms=1_000, records_max=2, when_full="fail", name="strict"
    ).to_stream().to("out")
    topology = builder.build(error_handlers=ErrorHandlers(processing="skip"))
    driver = TopologyTestDriver(topology)
    for key in "ab":
        driver.pipe("in", key, "v", 1)
    with pytest.raises(BufferFull, match="strict holds 3 records"):
        driver.pipe("in", "c", "v", 2)
    assert len(driver._task.state.stores["strict-store"]) == 2
