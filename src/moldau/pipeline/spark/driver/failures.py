"""Failures of an application's run, and the cause to show: the Python exception inside Spark's nested messages."""

import re

from moldau.core.errors import MoldauError

_RAISED = re.compile(
    r"^(?:\w+\.)*(\w*(?:Error|Exception|Lost|Fault|Failure|Interrupt|Committed|Away)): (.+)$", re.MULTILINE
)
_SPARK_SAID = re.compile(r"SparkException: (?!Job aborted)(.+)$", re.MULTILINE)
_SPARKS = frozenset(
    {"PySparkRuntimeError", "PythonException", "Py4JJavaError", "SparkException", "StreamingQueryException"}
)
TEXT_MAX = 1_000


class BatchFailed(MoldauError):
    """A slot failed to complete a batch. The message is the slot's."""


class GaveUp(MoldauError):
    """The error handlers of the topology chose to fail: a retry would end the same way."""


class StoppedInBatch(MoldauError):
    """The batch took too long to be waited for at a stop. The next run runs it again."""


def cause_of(failure: Exception) -> str:
    text = str(failure)
    raised = [(kind, said) for kind, said in _RAISED.findall(text) if kind not in _SPARKS]
    if not raised:
        raised = [("Spark", said) for said in _SPARK_SAID.findall(text)]
    if not raised:
        return text.strip().splitlines()[0][:TEXT_MAX] if text.strip() else type(failure).__name__
    kind, said = raised[-1]
    return f"{kind}: {said}"[:TEXT_MAX]
