"""What becomes of a record that cannot be read, processed or written: the choices of a topology.

Kafka Streams' three exception handlers. Each is a choice, or a function of (ErrorContext, error) that makes one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from moldau.core.errors import ConfigError

Choice = Literal["dead_letter", "skip", "fail"]
"""To the dead letter topic and on; counted and on; stop."""
CHOICES: Final = ("dead_letter", "skip", "fail")


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """Where it happened: the node (a source, or the one that acted for no record's sake) and the input record, as it
    lies in its topic. `output`: the record that was refused, for a production handler."""

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
    """None: as the application was told when it was started."""

    deserialization: Handler | None = None
    """The record's bytes, or its timestamp, cannot be read."""
    processing: Handler | None = None
    """A function of the user has raised."""
    production: Handler | None = None
    """The broker refuses what was made of the record. With `skip` the output alone is left out; all else the record
    did stays, as with Kafka Streams' CONTINUE. With `dead_letter` nothing of the record remains."""

    def __post_init__(self) -> None:
        for name, handler in self._named():
            if handler is not None and not callable(handler):
                _checked(handler, f"{name}= of ErrorHandlers")

    def with_default(self, choice: Choice) -> "ErrorHandlers":
        """With a choice in place of each None."""
        return ErrorHandlers(*(choice if handler is None else handler for _, handler in self._named()))

    @property
    def may_write_dead_letters(self) -> bool:
        """Whether a dead letter topic is needed; of a function nobody knows, so it is."""
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
