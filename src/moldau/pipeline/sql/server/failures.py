"""What the server refuses or cannot do, with ksqlDB's error codes. The status is the first three digits of the code."""

from typing import Final

from moldau.core.errors import MoldauError
from moldau.pipeline.sql.server.requests import Executed
from moldau.pipeline.sql.syntax.errors import SqlError

BAD_REQUEST: Final = 40000
BAD_STATEMENT: Final = 40001
QUERY_ENDPOINT: Final = 40002
"""The statement belongs to /query, not to /ksql."""
TOO_MANY_PUSH_QUERIES: Final = 40003
FORBIDDEN: Final = 40300
NOT_FOUND: Final = 40400
TOO_MANY_REQUESTS: Final = 42900
SERVER_ERROR: Final = 50000
SHUTTING_DOWN: Final = 50300
COMMAND_QUEUE_TIMEOUT: Final = 50301
NOT_READY: Final = 50302
TERMINATED: Final = 50303


class ServiceFailure(MoldauError):
    """A request fails. `statement` is the one that failed, where it is known."""

    def __init__(self, code: int, message: str, *, statement: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.statement = statement
        self.executed: tuple[Executed, ...] = ()
        """The statements of the request before this one: they stay executed."""

    @property
    def status(self) -> int:
        return int(str(self.code)[:3])


def bad_statement(wrong: SqlError | str, statement: str) -> ServiceFailure:
    return ServiceFailure(BAD_STATEMENT, str(wrong), statement=statement)


def not_ready(why: str) -> ServiceFailure:
    return ServiceFailure(NOT_READY, why)
