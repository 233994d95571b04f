"""The error handlers of a topology: what happens to a record that cannot be read, processed or written.

Kafka Streams' three exception handlers. Each is a choice, or a function of (ErrorContext, error) that returns one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from moldau.core.errors import ConfigError

Choice = Literal["dead_letter", "skip", "fail"]
"""Write to the dead-letter topic and continue; count and continue; stop."""
CHOICES: Final = ("dead_letter", "skip", "fail")


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """Where it happened: the node (a source, or the node of a punctuation or a released record) and the input record as
    it is in its topic. `output`: the record that was rejected, for a production handler."""

    node: str
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None = None
    value: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    output: Any = None


Handler = Choice | Callable[[ErrorContext, BaseException], Choice]


@dataclass(frozen=True, slots=True)
class ErrorHandlers:
    """A field that is None: as the application's start options say."""

    deserialization: Handler | None = None
    """The record's bytes or its timestamp cannot be read."""
    processing: Handler | None = None
    """A function of the user raised an exception."""
    production: Handler | None = None
    """The broker rejects an output of the record. `skip` only drops this output and keeps all other effects of the
    record, like Kafka Streams' CONTINUE. `dead_letter` keeps no effects of the record."""

    def __post_init__(self) -> None:
        for name, handler in self._named():
            if handler is not None and not callable(handler):
                _checked(handler, f"{name}= of ErrorHandlers")

    def with_default(self, choice: Choice) -> "ErrorHandlers":
        """The handlers, with these choices instead of None."""
        return ErrorHandlers(*(choice if handler is None else handler for _, handler in self._named()))

    @property
    def may_write_dead_letters(self) -> bool:
        """Whether a dead-letter topic is needed. A function may always choose it."""
        return any(handler == "dead_letter" or callable(handler) for _, handler in self._named())

    def _named(self) -> tuple[tuple[str, Handler | None], ...]:
        return (
            ("deserialization", self.deserialization),
            ("processing", self.processing),
            ("production", self.production),
        )


def choose(handler: Handler | None, context: ErrorContext, error: BaseException) -> Choice:
    if callable(handler):
        return _checked(handler(context, error), f"what {_name(handler)} returned")
    assert handler is not None, "handlers have their defaults before a task runs"
    return handler


def _checked(choice: Any, what: str) -> Choice:
    if choice not in CHOICES:
        raise ConfigError(f"{what} is {choice!r}: an error handler chooses 'dead_letter', 'skip' or 'fail'")
    return choice  # type: ignore[no-any-return]


def _name(handler: Any) -> str:
    return getattr(handler, "__qualname__", None) or repr(handler)
