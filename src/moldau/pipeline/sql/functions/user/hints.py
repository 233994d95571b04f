"""Type hints of a function of the user as types of SQL.

    bool BOOLEAN     int BIGINT       float DOUBLE     str STRING       bytes BYTES
    date DATE        time TIME        datetime TIMESTAMP (UTC)          Decimal any DECIMAL, of a parameter
    list[T] ARRAY    dict[str, T] MAP    a dataclass or a TypedDict STRUCT    a TypeVar or Any: any type
    Callable[[T], R] a lambda

`T | None` takes NULL. A text is the type itself, "DECIMAL(10, 2)"; `Annotated[Decimal, "DECIMAL(10, 2)"]` says both. A
pandas Series and a pyarrow Array are columns: `Annotated[pd.Series, "DOUBLE"]`.
"""

import dataclasses
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Callable as CallableType
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from moldau.pipeline.sql.functions.declaration import (
    AnyDecimal,
    AnyType,
    ArrayOf,
    LambdaOf,
    MapOf,
    Pattern,
    Variable,
)
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.syntax.parser import parse_type
from moldau.pipeline.sql.syntax.tree.expressions import NamedType
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
)

PLAIN: Final[Mapping[object, SqlType]] = {
    bool: BOOLEAN,
    int: BIGINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    date: DATE,
    time: TIME,
    datetime: TIMESTAMP,
}
ARROW_ARRAYS: Final[Mapping[str, SqlType]] = {
    "BooleanArray": BOOLEAN,
    "Int32Array": INTEGER,
    "Int64Array": BIGINT,
    "DoubleArray": DOUBLE,
    "StringArray": STRING,
    "BinaryArray": BYTES,
}
_NO_TYPE: Final = "Annotated[{0}, 'DOUBLE'] says of what."
_LISTS: Final = (list, Sequence, Iterable, Iterator, typing.Generator, CallableType)


class WrongHint(ValueError):
    """What is wrong with a hint, for a message that names the function and the parameter."""


class Shape(Enum):
    ONE = "one value"
    PANDAS = "a pandas Series"
    ARROW = "a pyarrow Array"


@dataclasses.dataclass(frozen=True, slots=True)
class Hint:
    type: Pattern
    python: Any
    """What the values are in Python: the annotation without the rest."""
    takes_null: bool = False
    shape: Shape = Shape.ONE


def evaluated(annotation: Any, namespace: Mapping[str, Any]) -> Any:
    """An annotation that is text: a Python type as `from __future__ import annotations` leaves it, or a type of SQL."""
    if not isinstance(annotation, str):
        return annotation
    holder = SimpleNamespace(__annotations__={"hint": annotation})
    try:
        return get_type_hints(holder, dict(namespace), include_extras=True)["hint"]
    except (NameError, SyntaxError, TypeError, AttributeError):
        return annotation.strip("'\"")


def hint_of(annotation: Any) -> Hint:
    """WrongHint where there is no such type in SQL."""
    takes_null = False
    if get_origin(annotation) in (Union, UnionType):
        others = [one for one in get_args(annotation) if one is not NoneType]
        if len(others) != 1:
            raise WrongHint(f"{_name(annotation)} is several types; write a function for each, with one name")
        annotation, takes_null = others[0], len(get_args(annotation)) == 2
    said: str | None = None
    if get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        said = next((one for one in more if isinstance(one, str)), None)
    shape = _shape(annotation)
    if said is not None:
        return Hint(sql_type(said), annotation, takes_null, shape)
    if shape is Shape.ONE:
        return Hint(pattern_of(annotation), annotation, takes_null)
    kind = ARROW_ARRAYS.get(annotation.__name__)
    if kind is None:
        raise WrongHint(
            f"{_name(annotation)} does not say what it holds: {_NO_TYPE.format(_name(annotation))}"
        )
    return Hint(kind, annotation, takes_null, shape)


def sql_type(text: str) -> SqlType:
    try:
        kind = parse_type(text)
    except SqlError as wrong:
        raise WrongHint(f"{text!r} is no type of SQL: {wrong.message}") from None
    if isinstance(kind, NamedType):
        raise WrongHint(f"{text!r} is no type of SQL")
    return kind


def pattern_of(annotation: Any) -> Pattern:
    if isinstance(annotation, str):
        return sql_type(annotation)
    if annotation is Any:
        return AnyType()
    if annotation is Decimal:
        return AnyDecimal()
    if isinstance(annotation, TypeVar):
        return Variable(annotation.__name__)
    plain = PLAIN.get(annotation) if isinstance(annotation, type) else None
    if plain is not None:
        return plain
    return _nested(annotation, get_origin(annotation), get_args(annotation))


def _nested(annotation: Any, origin: Any, inside: tuple[Any, ...]) -> Pattern:
    if origin in (list, Sequence) and inside:
        return _array(pattern_of(inside[0]))
    if origin in (dict, Mapping) and inside:
        return _map(pattern_of(inside[0]), pattern_of(inside[1]))
    if origin is Callable and len(inside) == 2 and inside[0] is not Ellipsis:
        return LambdaOf(tuple(pattern_of(one) for one in inside[0]), pattern_of(inside[1]))
    if origin is Annotated:
        return hint_of(annotation).type
    fields = struct_fields(annotation)
    if fields is not None:
        return Struct([(name.upper(), _closed(one)) for name, one in fields.items()])
    raise WrongHint(f"{_name(annotation)} is no type that SQL knows; for example int, str or list[float]")


def element_of(annotation: Any) -> Any:
    """The annotation of one element of what a table function gives: list[T], Iterator[T] and the like."""
    if isinstance(annotation, str):
        kind = sql_type(annotation)
        if isinstance(kind, Array):
            return str(kind.element)
    if get_origin(annotation) in _LISTS and get_args(annotation):
        return get_args(annotation)[0]
    raise WrongHint(
        f"{_name(annotation)} is no list of values; a table function gives list[T] or Iterator[T]"
    )


def struct_fields(annotation: Any) -> dict[str, Any] | None:
    """The fields of a dataclass or a TypedDict, with their annotations."""
    if isinstance(annotation, type) and (
        dataclasses.is_dataclass(annotation) or typing.is_typeddict(annotation)
    ):
        return get_type_hints(annotation, include_extras=True)
    return None


def _closed(annotation: Any) -> SqlType:
    hint = hint_of(annotation)
    if not isinstance(hint.type, SqlType):
        raise WrongHint(f"a field of a STRUCT has one type, not {hint.type}")
    return hint.type


def _array(element: Pattern) -> Pattern:
    return Array(element) if isinstance(element, SqlType) else ArrayOf(element)


def _map(key: Pattern, value: Pattern) -> Pattern:
    if isinstance(key, SqlType) and isinstance(value, SqlType):
        return Map(key, value)
    return MapOf(key, value)


def _shape(annotation: Any) -> Shape:
    module, name = getattr(annotation, "__module__", ""), getattr(annotation, "__name__", "")
    if module.partition(".")[0] == "pandas" and name == "Series":
        return Shape.PANDAS
    if module.partition(".")[0] == "pyarrow" and name.endswith("Array"):
        return Shape.ARROW
    return Shape.ONE


def _name(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
