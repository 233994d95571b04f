"""The families of exceptions. The family says whose fault it was and what follows.

Expected failures are not exceptions but values (`ErrorCode` in the answer).
"""

from moldau.core.error_codes import ErrorCode


class MoldauError(Exception):
    """The base of all exceptions we define."""


class PeerError(MoldauError):
    """The peer violated the wire format. Its connection is closed; others are not affected."""


class StorageFault(MoldauError):
    """A disk failed. The log directory named goes offline."""

    def __init__(self, directory: str, message: str) -> None:
        super().__init__(message)
        self.directory = directory


class ConfigError(MoldauError):
    """A setting is wrong: the start, or the change, is rejected. The text says which setting, why and what to do."""


class ApiError(MoldauError):
    """An expected failure, raised by the owner of some state and turned into an error code by the handler."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message
