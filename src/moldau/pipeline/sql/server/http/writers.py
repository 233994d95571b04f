"""The shapes in which rows are sent: each turns a header, rows and an end into pieces of the body. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from moldau.pipeline.sql.queries import End, EndReason, ResultColumn, Tombstone
from moldau.pipeline.sql.server.http.entities.schemas import back_ticked, type_text
from moldau.pipeline.sql.server.http.failures import end_error
from moldau.pipeline.sql.server.http.negotiation import DELIMITED, JSON, KSQL_JSON
from moldau.pipeline.sql.server.http.rows import json_bytes, row_encoder


@dataclass(frozen=True, slots=True)
class Header:
    query_id: str
    columns: tuple[ResultColumn, ...]
    kind: Literal["PUSH", "PULL", "PRINT"]

    def metadata(self) -> dict[str, Any]:
        return {
            "queryId": self.query_id,
            "columnNames": [column.name for column in self.columns],
            "columnTypes": [type_text(column.type) for column in self.columns],
        }

    def schema_text(self) -> str:
        """The columns as in CREATE; only pull queries say which are the key's."""
        return ", ".join(
            f"{back_ticked(column.name)} {type_text(column.type)}"
            + (" KEY" if column.is_key and self.kind == "PULL" else "")
            for column in self.columns
        )


class Writer:
    """`begin`, then `rows` any number of times, then `finish`."""

    content_type: str
    idle: bytes = b""
    """What is sent when nothing has happened for a while, so that a client sees that the query lives."""
    has_tombstones = False
    """Whether the shape can say that a row of a table was deleted. ksqlDB leaves such rows out elsewhere."""
    is_read_by_chunk = False
    """Some clients take an HTTP/2 frame for a line: there every row is a frame of its own."""

    def __init__(self, header: Header) -> None:
        self.header = header
        self._encode: Callable[[Sequence[Any]], list[Any]] = row_encoder(header.columns)

    def begin(self) -> bytes:
        raise NotImplementedError

    def rows(self, batch: Iterable[Sequence[Any]]) -> Iterator[bytes]:
        """One piece for each row."""
        for row in batch:
            is_tombstone = isinstance(row, Tombstone)
            if self.has_tombstones or not is_tombstone:
                yield self._row(self._encode(row), is_tombstone)

    def _row(self, values: list[Any], is_tombstone: bool) -> bytes:
        raise NotImplementedError

    def finish(self, end: End) -> bytes:
        raise NotImplementedError


class DelimitedWriter(Writer):
    """A header object, then an array a line."""

    content_type = DELIMITED
    is_read_by_chunk = True

    def begin(self) -> bytes:
        return json_bytes(self.header.metadata()) + b"\n"

    def _row(self, values: list[Any], is_tombstone: bool) -> bytes:
        return json_bytes(values) + b"\n"

    def finish(self, end: End) -> bytes:
        error = end_error(end)
        return b"" if error is None else json_bytes(error) + b"\n"


class ArrayWriter(Writer):
    """A header object and arrays, all in one JSON array."""

    content_type = JSON

    def begin(self) -> bytes:
        return b"[" + json_bytes(self.header.metadata())

    def _row(self, values: list[Any], is_tombstone: bool) -> bytes:
        return b"," + json_bytes(values)

    def finish(self, end: End) -> bytes:
        error = end_error(end)
        return b"]" if error is None else b"," + json_bytes(error) + b"]"


class ObjectsWriter(Writer):
    """A JSON array of objects that say what they are, one a line.

    Clients read it by the line while it comes. A push query always has a last object, so each object can be sent with
    its comma; behind the rows of a pull query there may be nothing.
    """

    content_type = KSQL_JSON
    has_tombstones = True

    def __init__(self, header: Header) -> None:
        super().__init__(header)
        is_pull = header.kind == "PULL"
        self.idle = b"" if is_pull else b"\n"
        self._before, self._after = (b",\n", b"") if is_pull else (b"", b",\n")

    def begin(self) -> bytes:
        header = {"queryId": self.header.query_id, "schema": self.header.schema_text()}
        return b"[" + json_bytes({"header": header}) + self._after

    def _row(self, values: list[Any], is_tombstone: bool) -> bytes:
        return self._before + json_bytes(row_object(values, is_tombstone)) + self._after

    def finish(self, end: End) -> bytes:
        last = last_object(end, self.header)
        return b"]\n" if last is None else self._before + json_bytes(last) + b"]\n"


class LegacyWriter(Writer):
    """As KSQL 5 answered: no header, every row an object on its own line, all fields always there."""

    content_type = JSON
    idle = b"\n"

    def begin(self) -> bytes:
        return b""

    def _row(self, values: list[Any], is_tombstone: bool) -> bytes:
        return _legacy_line(row={"columns": values})

    def finish(self, end: End) -> bytes:
        error = end_error(end)
        return (
            _legacy_line(finalMessage=end.reason.value) if error is None else _legacy_line(errorMessage=error)
        )


class LinesWriter(Writer):
    """PRINT: its lines as they are."""

    content_type = DELIMITED
    is_read_by_chunk = True

    def begin(self) -> bytes:
        return b""

    def _row(self, values: list[Any], is_tombstone: bool) -> bytes:
        return str(values[0]).encode("utf-8", "replace") + b"\n"

    def finish(self, end: End) -> bytes:
        error = end_error(end)
        return b"" if error is None else json_bytes(error) + b"\n"


WRITERS: Final[dict[str, type[Writer]]] = {
    DELIMITED: DelimitedWriter,
    JSON: ArrayWriter,
    KSQL_JSON: ObjectsWriter,
}
"""By content type, of /query-stream."""


def row_object(values: list[Any], is_tombstone: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"columns": values}
    return {"row": {**row, "tombstone": True} if is_tombstone else row}


def last_object(end: End, header: Header) -> dict[str, Any] | None:
    """The object behind the last row, which pull queries do not have unless they fail."""
    error = end_error(end)
    if error is not None:
        return {"errorMessage": error}
    if end.reason is not EndReason.LIMIT and header.kind == "PULL":
        return None
    return {
        "finalMessage": EndReason.LIMIT.value if end.reason is EndReason.LIMIT else EndReason.COMPLETE.value
    }


def _legacy_line(**said: Any) -> bytes:
    return json_bytes({"row": None, "errorMessage": None, "finalMessage": None} | said) + b"\n"
