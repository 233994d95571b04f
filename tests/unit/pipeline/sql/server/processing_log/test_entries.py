"""Records of the processing log, and the stream over them."""

import base64
import pickle

import orjson

from moldau.pipeline.sql.server.processing_log.entries import (
    failed_expression,
    failed_record,
    stream_statement,
)
from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.statements import CreateSource
from moldau.pipeline.sql.types import Struct


def test_an_expression_that_failed() -> None:
    said = orjson.loads(
        failed_expression("CSAS_X_1", "A / B", ZeroDivisionError("by zero"), (1, 0), 5, with_row=True)
    )
    error = said["message"].pop("recordProcessingError")
    assert error["errorMessage"] == "A / B failed: by zero"
    assert error["cause"] == ["ZeroDivisionError: by zero"]
    assert error["record"] == "[1,0]"
    assert said["message"] == {
        "type": 1,
        "deserializationError": None,
        "productionError": None,
        "serializationError": None,
        "kafkaStreamsThreadError": None,
    }
    assert (said["level"], said["logger"], said["time"]) == ("ERROR", "processing.CSAS_X_1", 5)


def test_rows_stay_out_unless_they_are_asked_for() -> None:
    said = failed_expression("Q", "A", ValueError("no"), ("secret",), 5, with_row=False)
    assert b"secret" not in said
    assert b"c2VjcmV0" not in failed_record("Q", {}, b"secret", 5, with_row=False)


def test_a_record_that_cannot_be_read() -> None:
    headers = {
        "__streams.errors.topic": "orders",
        "__streams.errors.partition": "1",
        "__streams.errors.offset": "7",
        "__streams.errors.exception": "ValueError",
        "__streams.errors.message": "no JSON",
    }
    said = orjson.loads(failed_record("CSAS_X_1", headers, b"{", 5, with_row=True))
    error = said["message"]["deserializationError"]
    assert error["errorMessage"] == "The record orders-1 at offset 7 cannot be processed: no JSON"
    assert error["recordB64"] == base64.b64encode(b"{").decode()
    assert (error["topic"], error["cause"]) == ("orders", ["ValueError: no JSON"])


def test_the_stream_has_a_field_for_each_part_of_a_message() -> None:
    statement = parse(stream_statement("KSQL_PROCESSING_LOG", "log"))[0].statement
    assert isinstance(statement, CreateSource)
    message = statement.columns[-1].type
    assert isinstance(message, Struct)
    said = orjson.loads(failed_expression("Q", "A", ValueError("no"), (), 5, with_row=True))["message"]
    assert [name for name, _ in message.fields] == [name.upper() for name in said]


def test_a_failure_log_goes_to_the_workers() -> None:
    log = FailureLog("localhost:9092", "log", "CSAS_X_1", {"security.protocol": "PLAINTEXT"})
    assert pickle.loads(pickle.dumps(log)) == log
    assert eval(repr(log), {"FailureLog": FailureLog}) == log
