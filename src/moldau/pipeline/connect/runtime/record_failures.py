"""A record that could not be processed: what failed, and its headers, as Kafka Connect names them. Pure."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from moldau.pipeline.connect.api import ConnectError

PREFIX: Final = "__connect.errors."
TRACE_BYTES_MAX: Final = 16_000


class Stage(StrEnum):
    POLL = "TASK_POLL"
    PUT = "TASK_PUT"
    TRANSFORMATION = "TRANSFORMATION"
    KEY_CONVERTER = "KEY_CONVERTER"
    VALUE_CONVERTER = "VALUE_CONVERTER"
    HEADER_CONVERTER = "HEADER_CONVERTER"
    PRODUCE = "KAFKA_PRODUCE"


@dataclass(frozen=True, slots=True)
class Failure:
    stage: Stage
    component: str
    """The class that failed: a converter, a transformation, a task."""
    error: Exception

    def __str__(self) -> str:
        return f"{self.component} ({self.stage.lower().replace('_', ' ')}): {self.error}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a failed record comes from. Of a source: its partition and offset as JSON, and no topic."""

    topic: str
    partition: str
    offset: str


class RecordFailed(ConnectError):
    """A record failed and failures are not tolerated: the task fails."""

    def __init__(self, failure: Failure, what: str) -> None:
        super().__init__(f"{what} failed in {failure}")
        self.failure = failure


def class_name(thing: object) -> str:
    """Under Java's name, if it has one."""
    kind = thing if isinstance(thing, type) else type(thing)
    return getattr(kind, "java_name", "") or f"{kind.__module__}.{kind.__qualname__}"


def context_headers(
    failure: Failure, origin: Origin, connector: str, task: int, mask: Callable[[str], str] = str
) -> list[tuple[str, bytes | None]]:
    error = failure.error
    trace = "".join(traceback.format_exception(error))
    told = {
        "topic": origin.topic,
        "partition": origin.partition,
        "offset": origin.offset,
        "connector.name": connector,
        "task.id": str(task),
        "stage": str(failure.stage),
        "class.name": failure.component,
        "exception.class.name": f"{type(error).__module__}.{type(error).__qualname__}",
        "exception.message": mask(str(error)),
        "exception.stacktrace": mask(trace)[-TRACE_BYTES_MAX:],
    }
    return [(f"{PREFIX}{name}", text.encode(errors="replace")) for name, text in told.items()]
