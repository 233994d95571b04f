"""What clients send, checked field by field. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from moldau.pipeline.sql.server.http.failures import bad_request
from moldau.pipeline.sql.server.requests import StatementRequest

LEGACY_PROPERTY: Final = "ksql.compatibility.version"
"""Set to 5, or 5.3, by a client of KSQL 5: a SELECT without EMIT follows its sources, and /query answers as it did."""


@dataclass(frozen=True, slots=True)
class InsertTarget:
    name: str
    properties: Mapping[str, str]


def read_statements(body: bytes) -> StatementRequest:
    """Of /ksql, /query and the websocket."""
    given = _object(body)
    text = _text(given, "ksql")
    return _request(text, given, "streamsProperties")


def read_query(body: bytes) -> StatementRequest:
    """Of /query-stream."""
    given = _object(body)
    if "sql" not in given:
        raise bad_request('Invalid JSON in request: the field "sql" is missing. It holds the query.')
    # Clients that come from /query say streamsProperties; ksqlDB ignores them here without a word.
    return _request(_text(given, "sql"), given, "streamsProperties", "properties")


def read_query_id(body: bytes) -> str:
    """Of /close-query."""
    given = _object(body)
    found = given.get("queryId")
    if not isinstance(found, str):
        raise bad_request('Invalid JSON in request: the field "queryId" is missing or not a string.')
    return found


def read_topics(body: bytes) -> list[str]:
    """Of /ksql/terminate; its body may be empty."""
    if not body.strip():
        return []
    found = _object(body).get("deleteTopicList")
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise bad_request('Invalid JSON in request: "deleteTopicList" is not an array of strings.')
    return found


def read_insert_target(line: bytes) -> InsertTarget:
    """The first line of /inserts-stream."""
    given = _object(line)
    found = given.get("target")
    if not isinstance(found, str) or not found:
        raise bad_request('Invalid JSON in request: the field "target" is missing. It names the stream.')
    return InsertTarget(found, _texts(given, "properties"))


def read_row(line: bytes) -> dict[str, Any]:
    """Another line of /inserts-stream."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise bad_request("Invalid JSON in inserts stream") from None
    if not isinstance(found, dict):
        raise bad_request(
            "Invalid JSON in inserts stream: a row is an object with the columns' values by name."
        )
    return found


def _request(text: str, given: Mapping[str, Any], *properties: str) -> StatementRequest:
    """`properties`: the fields that may hold them; a later one decides over an earlier one."""
    set_ = {name: value for field in properties for name, value in _texts(given, field).items()}
    for_request = _texts(given, "requestProperties")
    version = for_request.get(LEGACY_PROPERTY) or set_.pop(LEGACY_PROPERTY, "")
    is_ksql_5 = version.split(".")[0] == "5"
    return StatementRequest(text, set_, _texts(given, "sessionVariables"), _number(given), is_ksql_5)


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise bad_request(f"Invalid JSON in request: {error}") from None
    if not isinstance(found, dict):
        raise bad_request("Invalid JSON in request: the body is not a JSON object.")
    return found


def _text(given: Mapping[str, Any], name: str) -> str:
    found = given.get(name)
    if found is None:
        return ""
    if not isinstance(found, str):
        raise bad_request(f'Invalid JSON in request: "{name}" is not a string.')
    return found


def _texts(given: Mapping[str, Any], name: str) -> dict[str, str]:
    found = given.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise bad_request(f'Invalid JSON in request: "{name}" is not an object.')
    return {key: _value_text(value, f"{name}.{key}") for key, value in found.items() if value is not None}


def _value_text(value: Any, where: str) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
    raise bad_request(f'Invalid JSON in request: "{where}" is not a string, a number or a boolean.')


def _number(given: Mapping[str, Any]) -> int | None:
    found = given.get("commandSequenceNumber")
    if found is None:
        return None
    if not isinstance(found, int) or isinstance(found, bool):
        raise bad_request('Invalid JSON in request: "commandSequenceNumber" is not a whole number.')
    return None if found < 0 else found
