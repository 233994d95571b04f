"""Explain: why a group or a committed offset is as it is, from the coordinator's history.

The explanation is JSON text for people. It grows as there is more to explain.
"""

from moldau.protocol.spec import Request, Response, int16, int32, request, response, string, structure

EXPLAIN_KEY = 20_000
"""Far above any of Kafka's keys."""


@request(EXPLAIN_KEY, versions="0", flexible="none")
@structure
class ExplainRequest(Request):
    group_id: str = string()
    topic: str | None = string(nullable="0+", default=None)
    """Null asks about the whole group."""
    partition: int = int32(default=-1)


@response(ExplainRequest)
@structure
class ExplainResponse(Response):
    error_code: int = int16(default=0)
    explanation: str = string(default="")
