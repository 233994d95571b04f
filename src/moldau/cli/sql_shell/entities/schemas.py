"""Types of columns, which servers describe as documents, written as in SQL."""

from collections.abc import Mapping
from typing import Any


def type_text(schema: Mapping[str, Any] | None) -> str:
    if schema is None:
        return ""
    name = str(schema.get("type", ""))
    parameters = schema.get("parameters") or {}
    match name:
        case "DECIMAL":
            return f"DECIMAL({parameters.get('precision', '?')}, {parameters.get('scale', '?')})"
        case "ARRAY":
            return f"ARRAY<{type_text(schema.get('memberSchema'))}>"
        case "MAP":
            return f"MAP<STRING, {type_text(schema.get('memberSchema'))}>"
        case "STRUCT":
            fields = [
                f"{field['name']} {type_text(field.get('schema'))}" for field in schema.get("fields") or ()
            ]
            return f"STRUCT<{', '.join(fields)}>"
    return name


def column_text(field: Mapping[str, Any], *, windowed: str | None = None) -> str:
    """The type of a column, and what the column is for."""
    text = type_text(field.get("schema"))
    match field.get("type") or field.get("fieldType"):
        case "KEY":
            role = f"key, window type: {windowed}" if windowed else "key"
            return f"{text}  ({role})"
        case "HEADER":
            key = field.get("headerKey")
            return f"{text}  (header '{key}')" if key else f"{text}  (headers)"
    return text
