"""JSON: an object with a field for each column, or a single column by itself."""

import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

import orjson

from moldau.pipeline.code.generated import generated_function
from moldau.pipeline.serdes.serde import Decoder, Encoder, Serde
from moldau.pipeline.sql.formats.json_values import (
    converter,
    json_row_reader,
    with_text_for_special_doubles,
    written,
)
from moldau.pipeline.sql.formats.nested_types import types_within
from moldau.pipeline.sql.types import DOUBLE, Column
from moldau.pipeline.sql.types import Decimal as DecimalType

EXACT_DIGITS_MAX: Final = 15
"""A decimal number of so many digits survives the way through a double."""


class JsonRowSerde(Serde):
    def __init__(
        self, columns: Sequence[Column], *, is_wrapped: bool = True, wanted: Sequence[str] | None = None
    ) -> None:
        self._columns = tuple(columns)
        self._is_wrapped = is_wrapped or len(columns) != 1
        self._wanted = None if wanted is None else tuple(wanted)

    @property
    def name(self) -> str:
        shown = f"{'' if self._is_wrapped else 'single '}{', '.join(map(str, self._columns))}"
        return f"json({shown}{'' if self._wanted is None else f' for {self._wanted}'})"

    def encoder(self, topic: str, *, is_key: bool) -> Encoder:
        names = [column.name for column in self._columns]
        return json_encoder(self._columns, names, is_wrapped=self._is_wrapped, is_key=is_key)

    def decoder(self, topic: str, *, is_key: bool) -> Decoder:
        return json_decoder(self._columns, self._wanted, is_wrapped=self._is_wrapped, is_key=is_key)


def json_encoder(
    columns: Sequence[Column], names: Sequence[str], *, is_wrapped: bool, is_key: bool
) -> Encoder:
    """`names` are those of the fields."""
    if not columns:
        return lambda row: None if row is None or is_key else b"{}"
    values = [f"v{index}" for index in range(len(columns))]
    fields = ", ".join(f"{name!a}: {value}" for name, value in zip(names, values, strict=True))
    made = f"{{{fields}}}" if is_wrapped else "v0"
    lines = ["if row is None: return None", f"{', '.join(values)}, = row"]
    has_doubles = [DOUBLE in types_within(column.type) for column in columns]
    doubles = [value for value, column in zip(values, columns, strict=True) if column.type == DOUBLE]
    if doubles and len(doubles) == sum(has_doubles):
        # Most of the time one sum tells that no column is NaN, infinite or null.
        lines += [
            "try:",
            f"    if isfinite({' + '.join(doubles)}): return dumps({made}, written)",
            "except TypeError: pass",
        ]
    lines.append(f"return dumps_doubles({made})" if any(has_doubles) else f"return dumps({made}, written)")
    encode: Encoder = generated_function("row", lines, _NAMES)
    return encode


def _dumps_doubles(value: Any) -> bytes:
    """orjson writes NaN and the infinities as null."""
    data = orjson.dumps(value, written)
    if b"null" not in data:
        return data
    kept = with_text_for_special_doubles(value)
    return data if kept is value else orjson.dumps(kept, written)


_NAMES: Final = {
    "dumps": orjson.dumps,
    "written": written,
    "dumps_doubles": _dumps_doubles,
    "isfinite": math.isfinite,
    "TypeError": TypeError,
}


def json_decoder(
    columns: Sequence[Column], wanted: Sequence[str] | None, *, is_wrapped: bool, is_key: bool
) -> Decoder:
    if not columns:
        return lambda data: None if data is None or is_key else ()
    parse = _parser(columns)
    if is_wrapped:
        return _object_decoder(parse, json_row_reader(columns, wanted))
    convert = converter(columns[0].type)

    def decode_single(data: bytes | None) -> Any:
        found = None if data is None else parse(data)
        if found is None:
            return None
        try:
            return (convert(found),)
        except (ValueError, TypeError, ArithmeticError) as wrong:
            raise ValueError(f"column {columns[0].name} {columns[0].type}: {wrong}") from None

    return decode_single


def _object_decoder(
    parse: Callable[[bytes], Any], row_of: Callable[[dict[str, Any]], tuple[Any, ...]]
) -> Decoder:
    def decode(data: bytes | None) -> Any:
        if data is None:
            return None
        found = parse(data)
        if found.__class__ is dict:
            return row_of(found)
        if found is None:
            return None
        raise ValueError(f"the JSON is no object but {type(found).__name__}: {data[:60]!r}")

    return decode


def _parser(columns: Sequence[Column]) -> Callable[[bytes], Any]:
    is_exact = all(
        kind.precision <= EXACT_DIGITS_MAX
        for column in columns
        for kind in types_within(column.type)
        if isinstance(kind, DecimalType)
    )
    return _json if is_exact else _exact_json


def _json(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except ValueError as wrong:
        raise _no_json(data, wrong) from None


def _exact_json(data: bytes) -> Any:
    """With every fraction as a decimal, digit by digit."""
    try:
        return json.loads(data, parse_float=Decimal)
    except (ValueError, RecursionError) as wrong:
        raise _no_json(data, wrong) from None


def _no_json(data: bytes, wrong: Exception) -> ValueError:
    return ValueError(f"the record is not JSON ({wrong}): {bytes(data[:60])!r}")
