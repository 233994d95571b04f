from typing import Any

import pytest

from moldau.pipeline.sql.definitions import KeyWindow
from moldau.pipeline.sql.engine.with_properties import OF_CREATE, WithProperties, column_of, read_properties
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse
from moldau.pipeline.sql.syntax.tree.statements import CreateSource


def properties(text: str) -> WithProperties:
    statement = parse(f"CREATE STREAM s (v INT) WITH ({text});")[0].statement
    assert isinstance(statement, CreateSource)
    return read_properties(statement.properties, OF_CREATE)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("partitions=3", "PARTITIONS", 3),
        ("PARTITIONS='3'", "PARTITIONS", 3),
        ("'kafka_topic'='t'", "KAFKA_TOPIC", "t"),
        ("REPLICAS=-1", "REPLICAS", -1),
        ("RETENTION_MS=-1", "RETENTION_MS", -1),
        ("WRAP_SINGLE_VALUE='FALSE'", "WRAP_SINGLE_VALUE", False),
        ("VALUE_SCHEMA_ID=12", "VALUE_SCHEMA_ID", 12),
    ],
)
def test_values_have_their_types(text: str, name: str, value: Any) -> None:
    assert properties(text).get(name) == value


def test_formats() -> None:
    assert properties("FORMAT='json'").key_format == "JSON"
    both = properties("KEY_FORMAT='kafka', VALUE_FORMAT='delimited', VALUE_DELIMITER='TAB'")
    assert (both.key_format, both.value_format) == ("KAFKA", "DELIMITED")
    assert both.of_format("VALUE") == (("DELIMITER", "TAB"),)
    assert properties("VALUE_AVRO_SCHEMA_FULL_NAME='a.B'").of_format("VALUE") == (
        ("SCHEMA_FULL_NAME", "a.B"),
    )


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("WINDOW_TYPE='tumbling', WINDOW_SIZE='30 SECONDS'", KeyWindow("TUMBLING", 30_000)),
        ("WINDOW_TYPE='HOPPING', WINDOW_SIZE='1 hour'", KeyWindow("HOPPING", 3_600_000)),
        ("WINDOW_TYPE='SESSION'", KeyWindow("SESSION")),
        ("KAFKA_TOPIC='t'", None),
    ],
)
def test_windows(text: str, window: KeyWindow | None) -> None:
    assert properties(text).window == window


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PARTITION=3", "Did you mean PARTITIONS?"),
        ("PARTITIONS=0", "PARTITIONS must be at least 1"),
        ("PARTITIONS=200000", "PARTITIONS must be between 1 and 100000, not 200000"),
        ("PARTITIONS=3000000000", "PARTITIONS must be between 1 and 100000, not 3000000000"),
        (f"PARTITIONS='{'9' * 5_000}'", "PARTITIONS must be between 1 and 100000, not 9999"),
        ("REPLICAS=99999999", "REPLICAS must be between 1 and 32767"),
        ("REPLICAS=-2", "REPLICAS must be at least 1"),
        ("RETENTION_MS='9223372036854775808'", "RETENTION_MS must be between -1 and"),
        ("VALUE_SCHEMA_ID=2147483648", "VALUE_SCHEMA_ID must be between 0 and"),
        ("PARTITIONS='many'", "it takes a whole number"),
        ("PARTITIONS=true", "it takes a whole number"),
        ("KAFKA_TOPIC=5", "it takes text in single quotes"),
        ("KAFKA_TOPIC=' '", "KAFKA_TOPIC must not be empty"),
        ("WRAP_SINGLE_VALUE='perhaps'", "it takes true or false"),
        ("FORMAT='JSON', VALUE_FORMAT='JSON'", "cannot be given together"),
        ("TIMESTAMP_FORMAT='yyyy'", "TIMESTAMP_FORMAT needs TIMESTAMP"),
        ("VALUE_DELIMITER='::'", "it takes one character"),
        ("VALUE_DELIMITER=' '", "SPACE and TAB are written as words"),
        ("VALUE_PROTOBUF_NULLABLE_REPRESENTATION='NONE'", "it takes OPTIONAL or WRAPPER"),
        ("VALUE_AVRO_SCHEMA_FULL_NAME='a', VALUE_SCHEMA_FULL_NAME='b'", "mean the same"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(SqlError) as refused:
        properties(text)
    assert said in str(refused.value)
    assert refused.value.at.column > 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("WINDOW_SIZE='1 HOUR'", "WINDOW_SIZE needs WINDOW_TYPE"),
        ("WINDOW_TYPE='TUMBLING'", "needs WINDOW_SIZE"),
        ("WINDOW_TYPE='SESSION', WINDOW_SIZE='1 HOUR'", "sessions have no fixed size"),
        ("WINDOW_TYPE='TUMBLING', WINDOW_SIZE='soon'", "is not a duration"),
        ("WINDOW_TYPE='TUMBLING', WINDOW_SIZE='0 SECONDS'", "is not a duration"),
        (
            "WINDOW_TYPE='TUMBLING', WINDOW_SIZE='99999999999999999999 DAYS'",
            "can be 100,000,000 DAYS at most",
        ),
        (f"WINDOW_TYPE='TUMBLING', WINDOW_SIZE='{'9' * 5_000} DAYS'", "can be 100,000,000 DAYS at most"),
        ("WINDOW_TYPE='TUMBLIN', WINDOW_SIZE='1 HOUR'", "Did you mean TUMBLING?"),
    ],
)
def test_what_is_refused_of_windows(text: str, said: str) -> None:
    with pytest.raises(SqlError) as refused:
        _ = properties(text).window
    assert said in str(refused.value)


def test_names_of_columns_are_upper_case_unless_quoted() -> None:
    assert [column_of(text) for text in ("user_id", "`user_id`", "Ts")] == ["USER_ID", "user_id", "TS"]
