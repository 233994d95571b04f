"""The ways a record, or what happens for no record's sake, can fail, and which of them stop the task."""

import traceback
from typing import Final

from moldau.core.errors import MoldauError
from moldau.pipeline.operators.records import NO_HEADERS, Columns, DeadRecord
from moldau.pipeline.serdes.serde import ServiceAway


class TaskFailed(MoldauError):
    """The task stops: what failed may neither be left out nor given to the dead letters."""


class ProcessingError(TaskFailed):
    """A record broke the topology: which record, and why."""


class DecodingError(TaskFailed):
    """Bytes of a record are not what the source's serde reads."""


class PunctuationError(TaskFailed):
    """A function called on time has failed; no record is to blame."""


class ProductionError(MoldauError):
    """The broker does not take what was made of a record."""


class WrongResult(TypeError):
    """A function of the user has returned what the operator cannot use."""


class DoesNotReturn(BaseException):
    """A function of the user has run for too long: raised within it by the host, from outside.

    No Exception, so that a function that catches all of those ends, too. It is a failure of the record in process as
    any other.
    """


class StartAgain(Exception):
    """Something failed that may have left effects: the batch is taken back, and done again record by record."""


FAILURES: Final = (Exception, DoesNotReturn, SystemExit)
"""`sys.exit()` in a function of the user ends no worker that others share."""
PASSED_ON: Final = (ServiceAway, TaskFailed, StartAgain)
"""No failure of the record."""


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
