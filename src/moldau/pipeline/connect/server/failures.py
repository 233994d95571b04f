"""What a request can fail with: a status, and a message for people. The shape of the answer is Kafka Connect's."""

from typing import Final

from moldau.core.errors import MoldauError

BAD_REQUEST: Final = 400
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
METHOD_NOT_ALLOWED: Final = 405
TIMED_OUT: Final = 408
CONFLICT: Final = 409
TOO_LARGE: Final = 413
UNSUPPORTED_TYPE: Final = 415
SERVER_ERROR: Final = 500
UNAVAILABLE: Final = 503


class RequestFailure(MoldauError):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def bad_request(message: str) -> RequestFailure:
    return RequestFailure(BAD_REQUEST, message)


def not_found(message: str) -> RequestFailure:
    return RequestFailure(NOT_FOUND, message)
