"""The tables that pull queries may ask: each is fed from its topic and kept in memory."""

from dataclasses import dataclass

from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.syntax.errors import SqlError


class TableNotReady(SqlError):
    """The table is still being loaded; the message says how far it is."""


@dataclass(frozen=True, slots=True)
class TableStatus:
    name: str
    topic: str
    is_ready: bool
    """All records that the topic had when the table was added are loaded."""
    lag: int
    """Records of the topic that are not loaded yet, as far as known."""
    entries: int
    bytes_held: int
    """Of keys and values, without the overhead of the map (about 100 bytes for each entry)."""


class Tables:
    def add(self, source: SourceInfo, retention_ms: int | None = None) -> None:
        """Begins to load a table; returns at once. `retention_ms` is that of the windows, of a windowed table
        (`plan.grouping.window.retention_ms` of its query). A table of that name that is there already is replaced if
        it is another."""
        raise NotImplementedError

    def remove(self, name: str) -> None:
        raise NotImplementedError

    def status(self) -> list[TableStatus]:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
