"""What clients send, checked field by field."""

import pytest

from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.http.bodies import (
    read_insert_target,
    read_query,
    read_query_id,
    read_row,
    read_statements,
    read_topics,
)


def test_statements() -> None:
    request = read_statements(
        b'{"ksql": "SHOW STREAMS;", "streamsProperties": {"auto.offset.reset": "earliest", "a": true, "n": 5},'
        b' "sessionVariables": {"x": 1.5}, "commandSequenceNumber": 7, "unknown": {}}'
    )
    assert request.text == "SHOW STREAMS;"
    assert request.properties == {"auto.offset.reset": "earliest", "a": "true", "n": "5"}
    assert request.variables == {"x": "1.5"}
    assert request.command_sequence_number == 7
    assert not request.is_ksql_5


def test_nulls_are_nothing() -> None:
    request = read_statements(b'{"ksql": null, "streamsProperties": null, "commandSequenceNumber": null}')
    assert request.text == ""
    assert request.properties == {}


def test_a_negative_number_waits_for_nothing() -> None:
    assert read_statements(b'{"commandSequenceNumber": -1}').command_sequence_number is None


def test_queries() -> None:
    request = read_query(b'{"sql": "SELECT 1;", "properties": {"p": "v"}}')
    assert (request.text, request.properties) == ("SELECT 1;", {"p": "v"})


@pytest.mark.parametrize("version", ["5", "5.3", "5.3.1"])
def test_a_client_of_ksql_5_says_so(version: str) -> None:
    request = read_statements(
        b'{"ksql": "SELECT 1;", "streamsProperties": {"ksql.compatibility.version": "%s"}}' % version.encode()
    )
    assert request.is_ksql_5
    assert request.properties == {}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "Invalid JSON"),
        (b"{", "Invalid JSON"),
        (b"[]", "not a JSON object"),
        (b"\xff", "Invalid JSON"),
        (b"[" * 100_000, "Invalid JSON"),
        (b'{"ksql": 5}', '"ksql" is not a string'),
        (b'{"ksql": "x", "streamsProperties": []}', '"streamsProperties" is not an object'),
        (b'{"ksql": "x", "streamsProperties": {"a": []}}', '"streamsProperties.a"'),
        (b'{"ksql": "x", "commandSequenceNumber": "1"}', "whole number"),
        (b'{"ksql": "x", "commandSequenceNumber": true}', "whole number"),
    ],
)
def test_refused_statements(body: bytes, said: str) -> None:
    with pytest.raises(ServiceFailure, match=said) as refused:
        read_statements(body)
    assert refused.value.code == 40000


def test_refused_queries() -> None:
    with pytest.raises(ServiceFailure, match='"sql" is missing'):
        read_query(b'{"ksql": "SELECT 1;"}')
    with pytest.raises(ServiceFailure, match='"queryId"'):
        read_query_id(b'{"queryId": 5}')


def test_topics_to_delete() -> None:
    assert read_topics(b"") == []
    assert read_topics(b"{}") == []
    assert read_topics(b'{"deleteTopicList": ["FOO", "bar.*"]}') == ["FOO", "bar.*"]
    with pytest.raises(ServiceFailure, match="deleteTopicList"):
        read_topics(b'{"deleteTopicList": "FOO"}')


def test_inserts() -> None:
    assert read_insert_target(b'{"target": "s", "properties": {"a": 1}}').properties == {"a": "1"}
    assert read_row(b'{"A": 1}') == {"A": 1}
    with pytest.raises(ServiceFailure, match='"target" is missing'):
        read_insert_target(b"{}")
    with pytest.raises(ServiceFailure, match="Invalid JSON in inserts stream"):
        read_row(b"[1]")


def test_queries_take_the_properties_of_statements_too() -> None:
    request = read_query(
        b'{"sql": "SELECT 1;", "properties": {"p": "v"}, "streamsProperties": {"p": "w", "q": "x"}}'
    )
    assert request.properties == {"p": "v", "q": "x"}
