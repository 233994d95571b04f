"""The failures of records, punctuations and released records, and which of them stop the task."""

import traceback
from typing import Final

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.records import NO_HEADERS, Columns, DeadRecord
from moldau.pipeline.serdes.serde import ServiceAway


class TaskFailed(MoldauError):
    """The task stops: the failure may neither be skipped nor become a dead letter."""


class ProcessingError(TaskFailed):
    """A record could not be processed. The message says which one, and why."""


class DecodingError(TaskFailed):
    """The source's serde cannot read the bytes of a record."""


class PunctuationError(TaskFailed):
    """A punctuation failed. No record is to blame."""


class ProductionError(MoldauError):
    """The broker rejects an output record."""


class WrongResult(TypeError):
    """A function of the user returned something that the operator cannot use."""


class DoesNotReturn(BaseException):
    """A function of the user runs for too long. The host raises this inside the function.

    Not an Exception, so that it also ends a function that catches every Exception. It is a failure of the current
    record like any other.
    """


class StartAgain(Exception):
    """Something failed that may have left effects: the batch is rolled back and run again record by record."""


FAILURES: Final = (Exception, DoesNotReturn, SystemExit)
"""With SystemExit: `sys.exit()` in a function of the user must not end a worker that others share."""
PASSED_ON: Final = (ServiceAway, TaskFailed, StartAgain)
"""These are not failures of the record."""


def dead_record(columns: Columns, index: int, failure: BaseException) -> DeadRecord:
    return DeadRecord(
        columns.topic,
        columns.partition,
        columns.offsets[index],
        columns.timestamps_ms[index],
        columns.keys[index],
        columns.values[index],
        columns.headers[index] if columns.headers else NO_HEADERS,
        reason_of(failure),
        trace_of(failure),
    )


def reason_of(failure: BaseException) -> str:
    return f"{type(failure).__name__}: {failure}"


def trace_of(failure: BaseException) -> str:
    return "".join(traceback.format_exception(failure))


def place_of(columns: Columns, index: int) -> str:
    return f"{columns.topic}-{columns.partition} at offset {columns.offsets[index]}"
