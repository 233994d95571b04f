"""The lines of a bulk request, and what its answer says of each. Pure.

The version of a document is the offset of its record, so an older record that comes again changes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from moldau.pipeline.connect.data.records import SinkRecord

CONFLICT: Final = 409
GONE: Final = 404
TYPELESS_SINCE: Final = 7
BUSY: Final = (408, 429, CONFLICT, 502, 503, 504)
"""A conflict of documents without a version: two changes at the same time."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What becomes of one record."""

    record: SinkRecord
    kind: str
    """`index`, `update` or `delete`."""
    index: str
    id: str
    version: int | None
    source: bytes | None

    def lines(self, *, has_types: bool) -> bytes:
        head: dict[str, Any] = {"_index": self.index, "_id": self.id}
        if has_types:
            head["_type"] = "_doc"
        if self.version is not None:
            head |= {"version": self.version, "version_type": "external"}
        line = orjson.dumps({self.kind: head})
        if self.source is None:
            return line + b"\n"
        source = (
            b'{"doc":' + self.source + b',"doc_as_upsert":true}' if self.kind == "update" else self.source
        )
        return line + b"\n" + source + b"\n"


@dataclass(frozen=True, slots=True)
class Failure:
    operation: Operation
    status: int
    text: str

    @property
    def is_busy(self) -> bool:
        """The same may work later."""
        return self.status in BUSY


def failures_of(operations: Sequence[Operation], answer: Mapping[str, Any]) -> Iterator[Failure]:
    """Those that were not done. An older version than the index has, and a deletion of what is not there, count as
    done."""
    if not answer.get("errors"):
        return
    for one, item in zip(operations, answer["items"], strict=True):
        result: Mapping[str, Any] = next(iter(item.values()))
        status = int(result.get("status", 200))
        is_done = status < 300 or (one.kind == "delete" and status == GONE)
        if not is_done and not (status == CONFLICT and one.version is not None):
            yield Failure(one, status, _text(result.get("error")))


def _text(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error)
    cause = error.get("caused_by")
    text = f"{error.get('type')}: {error.get('reason')}"
    return f"{text}, {_text(cause)}" if isinstance(cause, Mapping) else text
