"""What `moldau connect` prints of a failure."""

import traceback

import pytest

from moldau.cli.commands.connect.traces import reason_first, reason_of
from moldau.pipeline.connect.api import ConnectError


def trace_of_failure(text: str) -> str:
    try:
        try:
            raise OSError("the network says no")
        except OSError as failure:
            raise ConnectError(text) from failure
    except ConnectError:
        return traceback.format_exc()


@pytest.mark.parametrize(
    "text",
    [
        "the table orders has no column id: name another one with incrementing.column.name",
        "two lines:\n  the second is indented",
        'no file here: File "a.txt"',
    ],
)
def test_the_sentence_of_a_python_trace_comes_first(text: str) -> None:
    trace = trace_of_failure(text)
    assert reason_of(trace) == f"ConnectError: {text}"
    assert reason_first(trace) == f"ConnectError: {text}\n\n{trace.strip()}"


def test_an_exception_without_text() -> None:
    trace = trace_of_failure("").rstrip()
    assert reason_of(trace).rstrip(": ") == "ConnectError"


@pytest.mark.parametrize(
    "text",
    ["ConnectError: no entry", "poll: the database db.example.com is away", "KafkaException: first\nsecond"],
)
def test_what_has_no_frames_is_printed_once(text: str) -> None:
    assert reason_first(f"{text}\n") == text


def test_a_java_trace() -> None:
    trace = "org.apache.kafka.connect.errors.ConnectException: no entry\n\tat some.Class.call(Class.java:7)\n"
    assert reason_of(trace) == "org.apache.kafka.connect.errors.ConnectException: no entry"


def test_nothing() -> None:
    assert reason_first("") == ""
