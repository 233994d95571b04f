"""Content types and paths."""

import pytest

from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.http import query_handlers, statement_handlers, status_handlers
from moldau.pipeline.sql.server.http.negotiation import (
    DELIMITED,
    JSON,
    KSQL_JSON,
    QUERY,
    QUERY_STREAM,
    check_content_type,
    choose,
)
from moldau.pipeline.sql.server.http.routing import find

ROUTES = [*statement_handlers.ROUTES, *query_handlers.ROUTES, *status_handlers.ROUTES]


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, DELIMITED),
        ("", DELIMITED),
        ("*/*", DELIMITED),
        (JSON, JSON),
        (KSQL_JSON, KSQL_JSON),
        ("application/json, text/plain, */*", DELIMITED),
        ("application/json, */*;q=0.1", JSON),
        (f"{DELIMITED};q=0, */*", JSON),
        ("APPLICATION/JSON; charset=utf-8", JSON),
    ],
)
def test_the_answer_of_query_stream(accept: str | None, chosen: str) -> None:
    assert choose(accept, QUERY_STREAM) == chosen


@pytest.mark.parametrize("accept", ["text/html", "application/vnd.ksql.v1+protobuf", "application/json;q=0"])
def test_what_is_not_to_be_had(accept: str) -> None:
    with pytest.raises(ServiceFailure, match="available") as refused:
        choose(accept, QUERY)
    assert refused.value.status == 406


@pytest.mark.parametrize(
    "header", [None, JSON, f"{KSQL_JSON}; charset=utf-8", "application/x-www-form-urlencoded", DELIMITED]
)
def test_bodies_that_are_read(header: str | None) -> None:
    check_content_type(header)


def test_bodies_that_are_not_read() -> None:
    with pytest.raises(ServiceFailure) as refused:
        check_content_type("text/xml")
    assert refused.value.status == 415


def test_paths() -> None:
    match = find(ROUTES, "GET", b"/status/stream/a%2Fb/create")
    assert match.handler is status_handlers.status
    assert match.parameters == {"type": "stream", "entity": "a/b", "action": "create"}
    assert find(ROUTES, "HEAD", b"/info").handler is status_handlers.info
    assert find(ROUTES, "POST", b"/ksql/").handler is statement_handlers.run_statements


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", b"/ksql", 405),
        ("GET", b"/nothing", 404),
        ("POST", b"/status/a/b", 404),
        ("GET", b"/\xff", 404),
    ],
)
def test_paths_that_are_not_there(method: str, path: bytes, status: int) -> None:
    with pytest.raises(ServiceFailure) as refused:
        find(ROUTES, method, path)
    assert refused.value.status == status
