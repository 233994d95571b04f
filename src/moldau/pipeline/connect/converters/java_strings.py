"""Values as text, as Java's `toString` writes them: `Struct{a=1}`, `[1, 2]`, `{a=1}`."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import DAY_MS, days_of, ms_of, ms_of_time
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.java_texts.numbers import double_text, float_text
from moldau.pipeline.java_texts.simple_date_format import simple_date_format


def java_string(value: Any, schema: Schema | None = None) -> str:
    match value:
        case None:
            return "null"
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | Decimal():
            return str(value)
        case float():
            is_short = schema is not None and schema.type is SchemaType.FLOAT32
            return float_text(value) if is_short else double_text(value)
        case datetime() | date() | time():
            return simple_date_format("EEE MMM dd HH:mm:ss zzz yyyy").format(_ms(value))
    return _of_several(value, schema)


def _ms(value: datetime | date | time) -> int:
    match value:
        case datetime():
            return ms_of(value)
        case time():
            return ms_of_time(value)
    return days_of(value) * DAY_MS


def _of_several(value: Any, schema: Schema | None) -> str:
    inner = None if schema is None else schema.value_schema
    match value:
        case list() | tuple():
            return f"[{', '.join(java_string(one, inner) for one in value)}]"
        case dict():
            keys = None if schema is None else schema.key_schema
            pairs = (f"{java_string(key, keys)}={java_string(one, inner)}" for key, one in value.items())
            return f"{{{', '.join(pairs)}}}"
        case Struct():
            found = zip(value.schema.fields, value.values, strict=True)
            pairs = (
                f"{field.name}={java_string(one, field.schema)}" for field, one in found if one is not None
            )
            return f"Struct{{{','.join(pairs)}}}"
    raise DataError(
        f"a {type(value).__name__} has no text: use ByteArrayConverter for bytes, JsonConverter for other values, "
        "or Cast it to string"
    )
