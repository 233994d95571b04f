"""A record that could not be read or processed, as a record for the dead-letter topic (headers as in KIP-1034)."""

from moldau.pipeline.operators.records import DeadRecord, OutputRecord

TRACE_BYTES_MAX = 16_000


def dead_letter(topic: str, dead: DeadRecord, now_ms: int) -> OutputRecord:
    """It has the timestamp of the record, but not one in the future, which a broker may reject."""
    kind, _, message = dead.reason.partition(": ")
    why = {
        "exception": kind,
        "message": message,
        "stacktrace": dead.trace[-TRACE_BYTES_MAX:],
        "topic": dead.topic,
        "partition": str(dead.partition),
        "offset": str(dead.offset),
        "timestamp": str(dead.timestamp_ms),
    }
    headers = tuple((f"__streams.errors.{name}", text.encode()) for name, text in why.items())
    timestamp_ms = min(max(dead.timestamp_ms, 0), now_ms)
    return OutputRecord(topic, None, timestamp_ms, dead.key, dead.value, (*dead.headers, *headers))
