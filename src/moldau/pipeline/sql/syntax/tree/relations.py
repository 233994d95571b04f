"""Queries and what they read."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from moldau.pipeline.sql.syntax.tree.expressions import Expression, Node


@dataclass(frozen=True, slots=True)
class Duration(Node):
    """As written, so that it prints as it was: `SIZE 30 SECONDS`."""

    count: int
    unit: str
    """Plural: SECONDS."""

    @property
    def ms(self) -> int:
        return self.count * UNIT_MS[self.unit]


UNIT_MS = {
    "MILLISECONDS": 1,
    "SECONDS": 1_000,
    "MINUTES": 60_000,
    "HOURS": 3_600_000,
    "DAYS": 86_400_000,
}
DURATION_DAYS_MAX = 100_000_000
"""Sums of several, added to a time, still fit a BIGINT of milliseconds."""
CALENDAR_UNITS = ("MONTHS", "YEARS")
"""Have no fixed length; known as words, refused in windows as ksqlDB refuses them."""


@dataclass(frozen=True, slots=True)
class Source(Node):
    """A stream or table by name, with the name the query uses for it."""

    name: str
    alias: str | None = None

    @property
    def known_as(self) -> str:
        return self.alias or self.name


class JoinKind(Enum):
    INNER = "INNER"
    LEFT = "LEFT OUTER"
    RIGHT = "RIGHT OUTER"
    FULL = "FULL OUTER"


@dataclass(frozen=True, slots=True)
class Within(Node):
    """`before` and `after` are the same where one duration is given."""

    before: Duration
    after: Duration
    grace: Duration | None = None


@dataclass(frozen=True, slots=True)
class Join(Node):
    """One more source to the right of what is there already: `FROM a JOIN b ON ... JOIN c ON ...`."""

    kind: JoinKind
    right: Source
    on: Expression
    within: Within | None = None


@dataclass(frozen=True, slots=True)
class Window(Node):
    kind: Literal["TUMBLING", "HOPPING", "SESSION"]
    size: Duration
    """The gap, of a session window."""
    advance: Duration | None = None
    retention: Duration | None = None
    grace: Duration | None = None


class SelectItem(Node):
    """One of the three below."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class AllColumns(SelectItem):
    """`*`, or `source.*`"""

    source: str | None = None


@dataclass(frozen=True, slots=True)
class AllFields(SelectItem):
    """`struct->*`"""

    struct: Expression


@dataclass(frozen=True, slots=True)
class OneColumn(SelectItem):
    expression: Expression
    alias: str | None = None


class Emit(Enum):
    CHANGES = "CHANGES"
    FINAL = "FINAL"


@dataclass(frozen=True, slots=True)
class Query(Node):
    items: tuple[SelectItem, ...]
    source: Source
    joins: tuple[Join, ...] = ()
    window: Window | None = None
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    partition_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    emit: Emit | None = None
    limit: int | None = None
