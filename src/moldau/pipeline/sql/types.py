"""The types of SQL: frozen values that print as SQL writes them.

A value of each type in Python, wherever a row is in memory (None is NULL in all of them):

    BOOLEAN bool        INTEGER, BIGINT int      DOUBLE float       DECIMAL decimal.Decimal
    STRING str          BYTES bytes              ARRAY list         MAP dict (text keys)
    STRUCT dict by field name, all fields there, in the type's order
    TIMESTAMP int: milliseconds since 1970       DATE int: days since 1970      TIME int: milliseconds of the day

Times are numbers because every format writes them as numbers; a user's own Python function gets `datetime` objects.
A row is a tuple of such values in the order of its `Schema`; so are keys.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

INTEGER_MIN: Final = -(2**31)
INTEGER_MAX: Final = 2**31 - 1
BIGINT_MIN: Final = -(2**63)
BIGINT_MAX: Final = 2**63 - 1
DECIMAL_PRECISION_MAX: Final = 38


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type without parameters, by its name."""

    name: str

    def __str__(self) -> str:
        return self.name


BOOLEAN: Final = SqlType("BOOLEAN")
INTEGER: Final = SqlType("INTEGER")
BIGINT: Final = SqlType("BIGINT")
DOUBLE: Final = SqlType("DOUBLE")
STRING: Final = SqlType("STRING")
BYTES: Final = SqlType("BYTES")
DATE: Final = SqlType("DATE")
TIME: Final = SqlType("TIME")
TIMESTAMP: Final = SqlType("TIMESTAMP")

SIMPLE: Final = {
    **{kind.name: kind for kind in (BOOLEAN, INTEGER, BIGINT, DOUBLE, STRING, BYTES, DATE, TIME, TIMESTAMP)},
    "INT": INTEGER,
    "VARCHAR": STRING,
}
"""By every name SQL has for them."""


@dataclass(frozen=True, slots=True)
class Decimal(SqlType):
    precision: int
    scale: int

    def __init__(self, precision: int, scale: int) -> None:
        object.__setattr__(self, "name", "DECIMAL")
        object.__setattr__(self, "precision", precision)
        object.__setattr__(self, "scale", scale)

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True)
class Array(SqlType):
    element: SqlType

    def __init__(self, element: SqlType) -> None:
        object.__setattr__(self, "name", "ARRAY")
        object.__setattr__(self, "element", element)

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map(SqlType):
    key: SqlType
    value: SqlType

    def __init__(self, key: SqlType, value: SqlType) -> None:
        object.__setattr__(self, "name", "MAP")
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "value", value)

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Struct(SqlType):
    fields: tuple[tuple[str, SqlType], ...]

    def __init__(self, fields: Sequence[tuple[str, SqlType]]) -> None:
        object.__setattr__(self, "name", "STRUCT")
        object.__setattr__(self, "fields", tuple(fields))

    def field(self, name: str) -> SqlType | None:
        return next((of for known, of in self.fields if known == name), None)

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(f'{quoted(name)} {of}' for name, of in self.fields)}>"


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: SqlType

    def __str__(self) -> str:
        return f"{quoted(self.name)} {self.type}"


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a stream or table: those of the record's key, then those of its value."""

    key: tuple[Column, ...]
    value: tuple[Column, ...]

    def __iter__(self) -> Iterator[Column]:
        yield from self.key
        yield from self.value

    def column(self, name: str) -> Column | None:
        return next((column for column in self if column.name == name), None)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self]


def quoted(name: str) -> str:
    """An identifier as SQL reads it back: bare where it is upper-case letters, digits and underscores."""
    is_bare = name.isascii() and name.isidentifier() and name == name.upper()
    return name if is_bare else "`" + name.replace("`", "``") + "`"


def is_number(kind: SqlType) -> bool:
    return kind in (INTEGER, BIGINT, DOUBLE) or isinstance(kind, Decimal)


def as_decimal(kind: SqlType) -> Decimal | None:
    """The decimal that holds every value of an exact number type."""
    match kind:
        case Decimal():
            return kind
        case SqlType(name="INTEGER"):
            return Decimal(10, 0)
        case SqlType(name="BIGINT"):
            return Decimal(19, 0)
    return None
