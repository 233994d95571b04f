"""The exception families. The family says whose fault it was and what happens next.

Expected failures are not here: they are values (`ErrorCode` in the answer).
"""

from moldau.core.error_codes import ErrorCode


class MoldauError(Exception):
    """The base of all errors raised on purpose."""


class PeerError(MoldauError):
    """The peer broke the wire format. Its connection is closed; other clients are not affected."""


class StorageFault(MoldauError):
    """A disk failed. The log directory named in it goes offline."""

    def __init__(self, directory: str, message: str) -> None:
        super().__init__(message)
        self.directory = directory


class ConfigError(MoldauError):
    """A setting is wrong. We refuse to start, or to apply it; the text says which, why and what to do."""


class ApiError(MoldauError):
    """An expected failure on its way from the owner of some state to the answer that will carry it."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message
