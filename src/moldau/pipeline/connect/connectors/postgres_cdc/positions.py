"""How far the source has been written, as the offsets of Kafka Connect say it. Pure.

A position in the log is a transaction, by the LSN of its commit, and the number of its messages that have been
processed. Logical decoding sends the transactions after a slot's position whole, always in the same order: what lies
before the position is skipped by counting.

While the tables are read for the first time, the position is the last row read. A reading that was interrupted goes on
behind that row in a newer snapshot; a *window* says from which row on the tables were read at which LSN. Changes that a
later window has already seen are skipped: so nothing is written twice.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.postgres_cdc.pgoutput import Lsn

ALL: Final = -1
"""All messages of the transaction."""

Key = tuple[str, ...]
"""The texts of a primary key's columns."""
BEHIND_ALL: Final[Key] = ()
IsAfter = Callable[[Key, Key], bool]


@dataclass(frozen=True, slots=True)
class Window:
    """The rows of `table` behind `key`, and all tables behind it, were read as of `lsn`."""

    lsn: Lsn
    table: str = ""
    key: Key | None = None
    """None: from the first row on."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A first reading of the tables that has got behind this row."""

    table: str
    key: Key | None
    """None: the row has no primary key, and the table is read again. BEHIND_ALL: the table is complete."""


FROM_THE_START: Final = Reading("", None)
"""No row has been read. Tables have names."""


@dataclass(frozen=True, slots=True)
class Position:
    lsn: Lsn
    """Of the commit of a transaction."""
    done: int = ALL
    """How many of its messages have been processed."""
    change_lsn: Lsn = 0
    """Offsets of Debezium: changes up to this one have been processed, also in later transactions."""
    windows: tuple[Window, ...] = ()
    """In the order of the tables. Needed until the log is behind the last one."""
    reading: Reading | None = None

    def to_skip(self, final_lsn: Lsn) -> int:
        """How many messages of this transaction to skip; ALL."""
        if final_lsn < self.lsn:
            return ALL
        return self.done if final_lsn == self.lsn else 0

    def at(self, final_lsn: Lsn, done: int) -> "Position":
        windows = self.windows
        if windows and final_lsn >= max(one.lsn for one in windows):
            windows = ()
        return Position(final_lsn, done, 0, windows)

    def interrupted(self, lsn: Lsn) -> "Position":
        """The reading goes on in a snapshot as of `lsn`."""
        reading = self.reading
        assert reading is not None
        earlier = (one for one in self.windows if (one.table, one.key) != (reading.table, reading.key))
        return replace(self, windows=(*earlier, Window(lsn, reading.table, reading.key)))


def is_seen(position: Position, final_lsn: Lsn, table: str, key: Key | None, is_after: IsAfter) -> bool:
    """Whether a change of the log was in the snapshot in which its row was read. `is_after` compares two primary keys
    of the table as the server orders them."""
    for window in reversed(position.windows):
        if window.table < table or (window.table == table and _is_behind(key, window.key, is_after)):
            return final_lsn < window.lsn
    return False


def _is_behind(key: Key | None, start: Key | None, is_after: IsAfter) -> bool:
    if start is None:
        return True
    return start != BEHIND_ALL and key is not None and is_after(key, start)


def offset_of(
    position: Position, mode: str = "", xid: int = 0, change_lsn: Lsn = 0, ts_us: int = 0
) -> dict[str, Any]:
    """The offset of a record, in plain JSON. The names are Debezium's where the meaning is."""
    offset: dict[str, Any] = {"lsn": change_lsn or position.lsn, "txId": xid or None, "ts_usec": ts_us}
    if position.reading is not None:
        offset |= {
            "snapshot": mode,
            "table": position.reading.table,
            "key": None if position.reading.key is None else list(position.reading.key),
        }
    offset |= {"lsn_commit": position.lsn, "event": position.done}
    if position.windows:
        offset["windows"] = [
            {"lsn": one.lsn, "table": one.table, "key": None if one.key is None else list(one.key)}
            for one in position.windows
        ]
    return offset


def position_of(offset: Mapping[str, Any]) -> Position:
    """Raises ConnectError for an offset that is not one of this connector or of Debezium's."""
    try:
        return _position(offset)
    except (KeyError, TypeError, ValueError) as failure:
        raise ConnectError(
            f"The offset {dict(offset)} is none of this connector: it has whole numbers as 'lsn' and 'lsn_commit'. "
            "Delete the offsets of the connector to read the tables again"
        ) from failure


def _position(offset: Mapping[str, Any]) -> Position:
    if "event" not in offset:
        if offset.get("snapshot"):
            # Debezium begins an interrupted snapshot again, and so do we with its offsets.
            is_whole = bool(offset.get("last_snapshot_record"))
            return Position(_whole(offset["lsn"]), 0, reading=None if is_whole else FROM_THE_START)
        commit = offset.get("lsn_commit")
        return Position(_whole(offset["lsn"] if commit is None else commit), change_lsn=_whole(offset["lsn"]))
    reading = None
    if offset.get("snapshot"):
        reading = Reading(str(offset["table"]), _key(offset.get("key")))
    windows = tuple(
        Window(_whole(one["lsn"]), str(one["table"]), _key(one.get("key")))
        for one in offset.get("windows") or ()
    )
    return Position(_whole(offset["lsn_commit"]), _whole(offset["event"]), 0, windows, reading)


def _key(given: Sequence[Any] | None) -> Key | None:
    return None if given is None else tuple(str(one) for one in given)


def _whole(given: Any) -> int:
    if type(given) is not int:
        raise TypeError(f"{given!r} is no whole number")
    return given
