"""Failures as ksqlDB's error objects, and those that only HTTP knows. Pure."""

from collections.abc import Callable

from moldau.pipeline.sql.queries import End, EndReason
from moldau.pipeline.sql.server.failures import (
    BAD_REQUEST,
    BAD_STATEMENT,
    SERVER_ERROR,
    ServiceFailure,
)
from moldau.pipeline.sql.server.http.entities import Json
from moldau.pipeline.sql.server.requests import Executed
from moldau.pipeline.sql.syntax.errors import SqlError

METHOD_NOT_ALLOWED = 40500
NOT_ACCEPTABLE = 40600
TOO_SLOW = 40800
TOO_LARGE = 41300
UNSUPPORTED_TYPE = 41500


def bad_request(message: str) -> ServiceFailure:
    return ServiceFailure(BAD_REQUEST, message)


def internal_error() -> ServiceFailure:
    return ServiceFailure(
        SERVER_ERROR,
        "The server failed to answer because of an error of its own. Look at its log for the reason.",
    )


def too_large(bytes_max: int) -> ServiceFailure:
    return ServiceFailure(
        TOO_LARGE,
        f"The request is larger than {bytes_max:,} bytes (ksql.max.request.bytes). Send less at a time.",
    )


def too_slow(seconds_max: float) -> ServiceFailure:
    return ServiceFailure(TOO_SLOW, f"The body of the request did not come within {seconds_max:.0f} s.")


def error_object(failure: ServiceFailure, rendered: Callable[[Executed], Json | None]) -> Json:
    """What a request answers when it fails. The statements before the one that failed stay executed."""
    if failure.statement is None:
        return {"@type": "generic_error", "error_code": failure.code, "message": failure.message}
    entities = [found for one in failure.executed if (found := rendered(one)) is not None]
    return {
        "@type": "statement_error",
        "error_code": failure.code,
        "message": failure.message,
        "statementText": failure.statement,
        "entities": entities,
    }


def end_error(end: End) -> Json | None:
    """What a running query says when it fails after its header was sent."""
    if end.reason is not EndReason.FAILED:
        return None
    code = BAD_STATEMENT if isinstance(end.error, SqlError) else SERVER_ERROR
    return {"@type": "generic_error", "error_code": code, "message": end.message}
