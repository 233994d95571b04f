"""The messages of PostgreSQL's logical decoding plugin pgoutput, protocol version 1. Pure.

A transaction is sent when it commits: Begin, then its changes, then Commit. Before the first change of a table, and
again after the table has been altered, comes its Relation. A column's value is text, None for null, or UNCHANGED for a
large value that an update did not touch and that is not in the log.
"""

from dataclasses import dataclass
from enum import Enum
from struct import Struct, error
from typing import Final, NamedTuple

from moldau.core.errors import PeerError

Lsn = int


class Unchanged(Enum):
    VALUE = "unchanged"


UNCHANGED: Final = Unchanged.VALUE
Row = tuple[str | Unchanged | None, ...]

FULL_IDENTITY: Final = "f"
PG_EPOCH_US: Final = 946_684_800_000_000
"""2000-01-01, where PostgreSQL's times begin, in microseconds since 1970."""

_BEGIN: Final = Struct(">QqI")
_COMMIT: Final = Struct(">BQQq")
_TYPE_OF_COLUMN: Final = Struct(">Ii")
_U16: Final = Struct(">H")
_U32: Final = Struct(">I")
_TRUNCATED: Final = Struct(">IB")


@dataclass(frozen=True, slots=True)
class Begin:
    final_lsn: Lsn
    """Where the record of the commit begins. Orders transactions as they are sent."""
    committed_us: int
    """Since 1970."""
    xid: int


@dataclass(frozen=True, slots=True)
class Commit:
    final_lsn: Lsn
    end_lsn: Lsn
    committed_us: int


@dataclass(frozen=True, slots=True)
class RelationColumn:
    name: str
    is_key: bool
    """Of the replica identity."""
    type_oid: int
    type_modifier: int


@dataclass(frozen=True, slots=True)
class Relation:
    oid: int
    schema: str
    table: str
    identity: str
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True, slots=True)
class Insert:
    relation: int
    new: Row


@dataclass(frozen=True, slots=True)
class Update:
    relation: int
    old: Row | None
    """The whole old row under REPLICA IDENTITY FULL, else the old key if it has changed."""
    new: Row


@dataclass(frozen=True, slots=True)
class Delete:
    relation: int
    old: Row


@dataclass(frozen=True, slots=True)
class Truncate:
    relations: tuple[int, ...]


class Ignored(NamedTuple):
    """A message that carries nothing for us: origins, types, messages of applications."""

    kind: str


Message = Begin | Commit | Relation | Insert | Update | Delete | Truncate | Ignored


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def text(self) -> str:
        end = self.data.index(0, self.at)
        found = self.data[self.at : end].decode()
        self.at = end + 1
        return found

    def unpack(self, layout: Struct) -> tuple[int, ...]:
        found = layout.unpack_from(self.data, self.at)
        self.at += layout.size
        return found

    def row(self) -> Row:
        data, at = self.data, self.at
        (count,) = _U16.unpack_from(data, at)
        at += 2
        values: list[str | Unchanged | None] = []
        for _ in range(count):
            kind = data[at]
            at += 1
            if kind == _TEXT:
                (size,) = _U32.unpack_from(data, at)
                at += 4
                values.append(data[at : at + size].decode())
                at += size
            elif kind == _NULL:
                values.append(None)
            elif kind == _TOASTED:
                values.append(UNCHANGED)
            else:
                raise PeerError(
                    f"pgoutput sent a column of kind {chr(kind)!r}: it has n, u and t in version 1"
                )
        self.at = at
        return tuple(values)


_TEXT, _NULL, _TOASTED = b"tnu"


def read_message(data: bytes) -> Message:
    """Raises PeerError for bytes that are no message of pgoutput."""
    try:
        return _read(chr(data[0]), _Reader(data, 1))
    except (IndexError, ValueError, error) as failure:
        raise PeerError(f"pgoutput sent a message that cannot be read: {failure}: {data[:40]!r}") from failure


def _read(kind: str, reader: _Reader) -> Message:
    match kind:
        case "I":
            (relation,) = reader.unpack(_U32)
            _expect(reader, "N")
            return Insert(relation, reader.row())
        case "U":
            (relation,) = reader.unpack(_U32)
            old = None
            if (tag := chr(reader.byte())) in "KO":
                old = reader.row()
                tag = chr(reader.byte())
            _expect_tag(tag, "N")
            return Update(relation, old, reader.row())
        case "D":
            (relation,) = reader.unpack(_U32)
            _expect(reader, "KO")
            return Delete(relation, reader.row())
        case "B":
            final_lsn, committed, xid = reader.unpack(_BEGIN)
            return Begin(final_lsn, committed + PG_EPOCH_US, xid)
        case "C":
            _, final_lsn, end_lsn, committed = reader.unpack(_COMMIT)
            return Commit(final_lsn, end_lsn, committed + PG_EPOCH_US)
        case "R":
            return _relation(reader)
        case "T":
            count, _ = reader.unpack(_TRUNCATED)
            return Truncate(tuple(reader.unpack(_U32)[0] for _ in range(count)))
        case "O" | "Y" | "M":
            return Ignored(kind)
    raise PeerError(f"pgoutput sent a message of kind {kind!r}, which version 1 does not have")


def _relation(reader: _Reader) -> Relation:
    (oid,) = reader.unpack(_U32)
    schema, table, identity = reader.text(), reader.text(), chr(reader.byte())
    (count,) = reader.unpack(_U16)
    columns = []
    for _ in range(count):
        flags = reader.byte()
        name = reader.text()
        type_oid, modifier = reader.unpack(_TYPE_OF_COLUMN)
        columns.append(RelationColumn(name, bool(flags & 1), type_oid, modifier))
    return Relation(oid, schema or "pg_catalog", table, identity, tuple(columns))


def _expect(reader: _Reader, tags: str) -> None:
    _expect_tag(chr(reader.byte()), tags)


def _expect_tag(tag: str, tags: str) -> None:
    if tag not in tags:
        raise PeerError(f"pgoutput sent a row tagged {tag!r} instead of {' or '.join(tags)}")


def lsn_text(lsn: Lsn) -> str:
    """As PostgreSQL writes it: 16/B374D848."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def lsn_of(text: str) -> Lsn:
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
