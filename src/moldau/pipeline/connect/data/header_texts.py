"""Values as text and back, as headers hold them: `12`, `1.5`, `true`, `text`, `[1,2]`, `{"a":1}`, `2020-01-31`.

A text that is nothing else is a string. A number has the smallest type that holds it. Inside arrays and maps, strings
are quoted; all elements have one type, the widest of theirs.
"""

import base64
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import DAY_MS, date_of, moment_of, ms_of, time_of
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES
from moldau.pipeline.java_texts.numbers import double_text, float_text, rounded_float
from moldau.pipeline.java_texts.simple_date_format import simple_date_format

DATE_PATTERN: Final = "yyyy-MM-dd"
TIME_PATTERN: Final = "HH:mm:ss.SSS'Z'"
TIMESTAMP_PATTERN: Final = f"{DATE_PATTERN}'T'{TIME_PATTERN}"
_TEMPORAL: Final[dict[int, tuple[Schema, str, Callable[[int], Any]]]] = {
    len("00:00:00.000Z"): (schemas.time(), TIME_PATTERN, time_of),
    len("2020-01-01T00:00:00.000Z"): (schemas.timestamp(), TIMESTAMP_PATTERN, moment_of),
    len("2020-01-01"): (schemas.date(), DATE_PATTERN, lambda ms: date_of(ms // DAY_MS)),
}
"""By the length of the text."""
_TOKEN: Final = re.compile(r'[:,{}\[\]"]|(?:\\.|[^:,{}\[\]"\\])+\\?|\\', re.S)
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_EXPONENT_MAX: Final = 400
_WIDTHS: Final = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
)


class Typed(NamedTuple):
    schema: Schema | None
    value: Any


NULL: Final = Typed(None, None)


def text_of(value: Any, schema: Schema | None = None, *, is_inside: bool = False) -> str:
    """Inside of arrays and maps, texts are quoted. The schema tells how many digits a float has."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value) if is_inside else value
        case int() | Decimal():
            return str(value)
        case float():
            return (
                float_text(value)
                if schema is not None and schema.type is SchemaType.FLOAT32
                else double_text(value)
            )
        case bytes() | bytearray() | memoryview():
            text = base64.b64encode(value).decode()
            return f'"{text}"' if is_inside else text
        case datetime() | date() | time():
            return time_text(value)
    return _text_of_several(value, schema)


def time_text(value: datetime | date | time) -> str:
    """A moment at midnight is written as its date."""
    match value:
        case datetime():
            ms = ms_of(value)
            return simple_date_format(TIMESTAMP_PATTERN if ms % DAY_MS else DATE_PATTERN).format(ms)
        case time():
            return f"{value.isoformat('milliseconds')}Z"
    return value.isoformat()


def _text_of_several(value: Any, schema: Schema | None) -> str:
    values = None if schema is None else schema.value_schema
    match value:
        case list() | tuple():
            return f"[{','.join(text_of(one, values, is_inside=True) for one in value)}]"
        case dict():
            keys = None if schema is None else schema.key_schema
            return _braces(
                (text_of(key, keys, is_inside=True), text_of(one, values, is_inside=True))
                for key, one in value.items()
            )
        case Struct():
            return _braces(
                (_quoted(field.name), text_of(one, field.schema, is_inside=True))
                for field, one in zip(value.schema.fields, value.with_defaults(), strict=True)
            )
    raise DataError(
        f"a {type(value).__name__} cannot be written as text: convert it to a type of Connect, such as str or int"
    )


def _braces(pairs: Iterable[tuple[str, str]]) -> str:
    return f"{{{','.join(f'{key}:{one}' for key, one in pairs)}}}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def read_text(text: str) -> Typed:
    """What the text says, with its schema."""
    if not text:
        return Typed(schemas.STRING, text)
    return _Reader(text).read(is_inside=False)


class _Unreadable(Exception):
    """It is no array and no map: read it as a string."""


class _Reader:
    """Goes over the tokens of a text: delimiters, and what is between them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._at = 0

    def read(self, *, is_inside: bool) -> Typed:
        if not self._has_more():
            raise _Unreadable
        if is_inside and self._skip('"'):
            return self._quoted_text()
        for literal, found in _LITERALS:
            start = self._at
            if self._skip(literal) and (is_inside or not self._has_more()):
                return found
            self._at = start
        start = self._at
        try:
            if self._skip("["):
                return self._array()
            if self._skip("{"):
                return self._map()
        except _Unreadable:
            if is_inside:
                raise
            self._at = start
        token = self._next()
        if not token.strip():
            return Typed(schemas.STRING, token)
        return self._plain(token.strip(), is_inside=is_inside)

    def _plain(self, token: str, *, is_inside: bool) -> Typed:
        found = None
        if token[0].isdigit():
            found = self._temporal_with_colons(token) or _temporal(token)
        if found is None and (token[0].isdigit() or token[0] in "+-"):
            found = _number(token)
        if found is not None:
            return found
        if is_inside:
            raise _Unreadable
        return Typed(schemas.STRING, self._text)

    def _temporal_with_colons(self, token: str) -> Typed | None:
        """A time has four more tokens behind the hour."""
        rest = self._tokens[self._at : self._at + 4]
        found = _temporal(token + "".join(rest)) if len(rest) == 4 else None
        if found is not None:
            self._at += 4
        return found

    def _quoted_text(self) -> Typed:
        parts: list[str] = []
        while self._has_more() and not self._skip('"'):
            parts.append(self._next())
        content = "".join(parts)
        return _temporal(content) or Typed(schemas.STRING, content)

    def _array(self) -> Typed:
        found: list[Typed] = []
        while self._has_more():
            if self._skip("]"):
                return _array_of(found)
            if self._skip(","):
                raise _Unreadable
            found.append(self.read(is_inside=True))
            self._expect_end_or_comma("]")
        raise _Unreadable

    def _map(self) -> Typed:
        found: list[tuple[Typed, Typed]] = []
        while self._has_more():
            if self._skip("}"):
                return _map_of(found)
            if self._skip(","):
                raise _Unreadable
            key = self.read(is_inside=True)
            if key.value is None or not self._skip(":"):
                raise _Unreadable
            found.append((key, self.read(is_inside=True)))
            self._expect_end_or_comma("}")
        raise _Unreadable

    def _expect_end_or_comma(self, end: str) -> None:
        start = self._at
        if self._skip(end):
            self._at = start
        elif not self._skip(","):
            raise _Unreadable

    def _has_more(self) -> bool:
        return self._at < len(self._tokens)

    def _next(self) -> str:
        self._at += 1
        return str(self._tokens[self._at - 1])

    def _skip(self, wanted: str) -> bool:
        """Blank tokens in front of it are skipped, found or not."""
        while self._at < len(self._tokens) - 1 and not self._tokens[self._at].strip():
            self._at += 1
        if self._at < len(self._tokens) and self._tokens[self._at].strip() == wanted:
            self._at += 1
            return True
        return False


def _temporal(text: str) -> Typed | None:
    text = text.replace("\\:", ":")
    if len(text) not in _TEMPORAL:
        return None
    schema, pattern, value_of = _TEMPORAL[len(text)]
    try:
        return Typed(schema, value_of(simple_date_format(pattern).parse(text)))
    except (ValueError, DataError):
        return None


def _number(text: str) -> Typed | None:
    if not _NUMBER.fullmatch(text):
        return None
    try:
        exact = Decimal(text)
    except InvalidOperation:
        return None
    whole = int(exact) if abs(exact.adjusted()) < _EXPONENT_MAX else None
    if whole is not None and whole == exact:
        for kind, (low, high) in RANGES.items():
            if low <= whole <= high:
                return Typed(_PLAIN[kind], whole)
    scale = -int(exact.as_tuple().exponent)
    number = float(exact)
    if scale and abs(rounded_float(number)) != float("inf"):
        return Typed(schemas.FLOAT32, rounded_float(number))
    if scale and abs(number) != float("inf"):
        return Typed(schemas.FLOAT64, number)
    return Typed(schemas.decimal(scale), exact)


def _array_of(found: Sequence[Typed]) -> Typed:
    common = _common(found)
    if common is None and any(one.value is not None for one in found):
        raise _Unreadable
    of = common or Schema(SchemaType.STRING, optional=True)
    return Typed(schemas.array(of), [_widened(one, of) for one in found])


def _map_of(found: Sequence[tuple[Typed, Typed]]) -> Typed:
    keys, values = _common([key for key, _ in found]), _common([value for _, value in found])
    if (keys is None and found) or (values is None and any(one.value is not None for _, one in found)):
        raise _Unreadable
    of_keys = keys or Schema(SchemaType.STRING)
    of_values = values or Schema(SchemaType.STRING, optional=True)
    pairs = {_widened(key, of_keys): _widened(one, of_values) for key, one in found}
    return Typed(schemas.mapping(of_keys, of_values), pairs)


def _common(found: Sequence[Typed]) -> Schema | None:
    """The widest schema; None where there is none for all of them."""
    common: Schema | None = None
    for one in found:
        if one.schema is None:
            continue
        common = one.schema if common is None else _wider(common, one.schema)
        if common is None:
            return None
    return common


def _wider(one: Schema, other: Schema) -> Schema | None:
    if one.type is other.type:
        return one if one.name == other.name else None
    if one.name or other.name or one.type not in _WIDTHS or other.type not in _WIDTHS:
        return None
    return max(one, other, key=lambda schema: _WIDTHS.index(schema.type))


def _widened(one: Typed, to: Schema) -> Any:
    if to.type in (SchemaType.FLOAT32, SchemaType.FLOAT64) and type(one.value) is int:
        return float(one.value)
    return one.value


_PLAIN: Final = {one.type: one for one in (schemas.INT8, schemas.INT16, schemas.INT32, schemas.INT64)}
_LITERALS: Final = (
    ("null", NULL),
    ("true", Typed(schemas.BOOLEAN, True)),
    ("false", Typed(schemas.BOOLEAN, False)),
)
