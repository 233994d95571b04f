"""Schemas of Connect as JSON Schemas, with the properties that Confluent's JsonSchemaData gives them. Pure."""

from typing import Any, Final

from moldau.pipeline.connect.converters.json_values import Form, writer
from moldau.pipeline.connect.data.schema import DECIMAL, Schema, SchemaType

PREFIX: Final = "io.confluent.connect.json"
ONE_OF: Final = f"{PREFIX}.OneOf"
ONE_OF_FIELD: Final = f"{ONE_OF}.field."
ENUM: Final = f"{PREFIX}.Enum"
TYPE: Final = "connect.type"
INDEX: Final = "connect.index"
_PLAIN: Final = {
    SchemaType.INT8: ("integer", "int8"),
    SchemaType.INT16: ("integer", "int16"),
    SchemaType.INT32: ("integer", "int32"),
    SchemaType.INT64: ("integer", "int64"),
    SchemaType.FLOAT32: ("number", "float32"),
    SchemaType.FLOAT64: ("number", "float64"),
    SchemaType.BOOLEAN: ("boolean", None),
    SchemaType.STRING: ("string", None),
    SchemaType.BYTES: ("string", "bytes"),
}


def has_text_keys(schema: Schema) -> bool:
    """A map of texts is an object; others are arrays of entries."""
    keys = schema.key_schema
    return keys is not None and keys.type is SchemaType.STRING and not keys.optional


class JsonSchemas:
    """`form` is that of values, for defaults."""

    def __init__(self, form: Form, *, allows_more: bool) -> None:
        self._form = form
        self._allows_more = allows_more

    def json_schema(self, schema: Schema, index: int | None = None) -> dict[str, Any]:
        """`index` is the place of a field. A schema that allows null is one of null and itself."""
        made = self._of_type(schema) | self._meta(schema)
        place = {} if index is None else {INDEX: index}
        if not schema.optional:
            return made | place
        default = {"default": made.pop("default")} if "default" in made else {}
        others = made.get("oneOf", [made])
        title = {"title": ONE_OF} if schema.name == ONE_OF else {}
        return {"oneOf": [{"type": "null"}, *others], **title, **default, **place}

    def _of_type(self, schema: Schema) -> dict[str, Any]:
        match schema.type:
            case SchemaType.STRUCT if schema.name == ONE_OF:
                kinds = [self._required(one.schema) for one in schema.fields]
                return {"oneOf": kinds}
            case SchemaType.STRUCT:
                return self._object(schema)
            case SchemaType.ARRAY if schema.value_schema is not None:
                return {"type": "array", "items": self.json_schema(schema.value_schema)}
            case SchemaType.MAP if schema.key_schema is not None and schema.value_schema is not None:
                if has_text_keys(schema):
                    values = self.json_schema(schema.value_schema)
                    return {"type": "object", TYPE: "map", "additionalProperties": values}
                entry = {
                    "key": self.json_schema(schema.key_schema, 0),
                    "value": self.json_schema(schema.value_schema, 1),
                }
                return {"type": "array", TYPE: "map", "items": {"type": "object", "properties": entry}}
        return self._plain(schema)

    def _plain(self, schema: Schema) -> dict[str, Any]:
        kind, ours = _PLAIN[schema.type]
        if schema.name == DECIMAL and self._form.are_decimals_numbers:
            kind = "number"
        found: dict[str, Any] = {"type": kind} | ({} if ours is None else {TYPE: ours})
        if schema.type is SchemaType.STRING and ENUM in schema.parameters:
            prefix = f"{ENUM}."
            found["enum"] = [one for key, one in schema.parameters.items() if key.startswith(prefix)]
        return found

    def _object(self, schema: Schema) -> dict[str, Any]:
        fields = {one.name: self.json_schema(one.schema, at) for at, one in enumerate(schema.fields)}
        found: dict[str, Any] = {"type": "object", "properties": fields}
        required = [
            one.name for one in schema.fields if not one.schema.optional and one.schema.default is None
        ]
        if required:
            found["required"] = required
        return found if self._allows_more else found | {"additionalProperties": False}

    def _required(self, schema: Schema) -> dict[str, Any]:
        return self._of_type(schema) | self._meta(schema)

    def _meta(self, schema: Schema) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if schema.name is not None:
            found["title"] = schema.name
        if schema.version is not None:
            found["connect.version"] = schema.version
        if schema.doc:
            found["description"] = schema.doc
        if schema.parameters:
            found["connect.parameters"] = dict(schema.parameters)
        if schema.default is not None:
            written = writer(schema, self._form)(schema.default)
            # A fragment of orjson's is a decimal's exact number.
            found["default"] = (
                float(schema.default) if schema.name == DECIMAL and type(written) is not str else written
            )
        return found
