"""What a person wants to read of a failed query: the Python exception at the bottom of Spark's nested texts."""

import re

_RAISED = re.compile(
    r"^(?:\w+\.)*(\w*(?:Error|Exception|Lost|Fault|Failure|Interrupt|Committed|Away)): (.+)$", re.MULTILINE
)
_SPARK_SAID = re.compile(r"SparkException: (?!Job aborted)(.+)$", re.MULTILINE)
_SPARKS = frozenset(
    {"PySparkRuntimeError", "PythonException", "Py4JJavaError", "SparkException", "StreamingQueryException"}
)
TEXT_MAX = 1_000


def cause_of(failure: Exception) -> str:
    text = str(failure)
    raised = [(kind, said) for kind, said in _RAISED.findall(text) if kind not in _SPARKS]
    if not raised:
        raised = [("Spark", said) for said in _SPARK_SAID.findall(text)]
    if not raised:
        return text.strip().splitlines()[0][:TEXT_MAX] if text.strip() else type(failure).__name__
    kind, said = raised[-1]
    return f"{kind}: {said}"[:TEXT_MAX]
