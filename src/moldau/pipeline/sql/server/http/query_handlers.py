"""`/query`, `/query-stream` and `/close-query`."""

from dataclasses import replace

from starlette.responses import Response
from starlette.types import ASGIApp

from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.http.bodies import read_query, read_query_id, read_statements
from moldau.pipeline.sql.server.http.call import Call
from moldau.pipeline.sql.server.http.failures import NOT_ACCEPTABLE, bad_request
from moldau.pipeline.sql.server.http.negotiation import DELIMITED, JSON, KSQL_JSON, QUERY, QUERY_STREAM
from moldau.pipeline.sql.server.http.routing import Route
from moldau.pipeline.sql.server.http.row_response import RowResponse
from moldau.pipeline.sql.server.http.writers import WRITERS, Header, LegacyWriter, LinesWriter, Writer
from moldau.pipeline.sql.server.requests import StartedQuery, StatementRequest
from moldau.security.roles.model import Action


async def query(call: Call) -> ASGIApp:
    accepted = call.accepted(QUERY)
    call.require(Action.READ)
    request = read_statements(await call.body())
    # Here plain JSON is what `application/vnd.ksql.v1+json` is.
    writer = LegacyWriter if request.is_ksql_5 else WRITERS[KSQL_JSON if accepted == JSON else accepted]
    return _response(await _started(call, request, writer), writer)


async def query_stream(call: Call) -> ASGIApp:
    accepted = call.accepted(QUERY_STREAM)
    call.require(Action.READ)
    request = read_query(await call.body())
    writer = WRITERS[accepted]
    started = await _started(call, request, writer)
    if started.kind == "PRINT" and accepted != DELIMITED:
        started.stream.close()
        raise ServiceFailure(NOT_ACCEPTABLE, f"PRINT gives lines of text: send Accept: {DELIMITED}.")
    return _response(started, writer)


async def close_query(call: Call) -> ASGIApp:
    call.require(Action.READ)
    query_id = read_query_id(await call.body())
    if not call.service.close_query(query_id):
        raise bad_request(f"No query with id {query_id}")
    return Response()


async def _started(call: Call, request: StatementRequest, writer: type[Writer]) -> StartedQuery:
    return await call.service.start_query(replace(request, shows_tombstones=writer.has_tombstones))


def _response(started: StartedQuery, writer: type[Writer]) -> RowResponse:
    stream = started.stream
    header = Header(stream.query_id, stream.columns, started.kind)
    return RowResponse(stream, (LinesWriter if started.kind == "PRINT" else writer)(header))


ROUTES = [
    Route("POST", "/query", query),
    Route("POST", "/query-stream", query_stream),
    Route("POST", "/close-query", close_query),
]
