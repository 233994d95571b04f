"""JSON Schemas as schemas of Connect, as Confluent's JsonSchemaData maps them. Pure.

Structs named `io.confluent.connect.json.OneOf` stand for several types: one field of them has a value.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from moldau.pipeline.connect.converters.json_values import Form, reader
from moldau.pipeline.connect.converters.registry.json_schema.json_schema_schemas import (
    ENUM,
    INDEX,
    ONE_OF,
    ONE_OF_FIELD,
    TYPE,
)
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType

_PLAIN: Final[Mapping[tuple[str, str | None], Schema]] = {
    ("integer", "int8"): schemas.INT8,
    ("integer", "int16"): schemas.INT16,
    ("integer", "int32"): schemas.INT32,
    ("integer", "int64"): schemas.INT64,
    ("integer", None): schemas.INT64,
    ("number", "float32"): schemas.FLOAT32,
    ("number", "float64"): schemas.FLOAT64,
    ("number", "bytes"): schemas.BYTES,
    ("number", None): schemas.FLOAT64,
    ("boolean", None): schemas.BOOLEAN,
    ("string", "bytes"): schemas.BYTES,
    ("string", None): schemas.STRING,
}
_ANY: Final = Schema(SchemaType.STRING, optional=True)


class JsonSchemaReading:
    """Reads one document. `references` are the texts of documents it may refer to, by name."""

    def __init__(
        self, text: str, references: Mapping[str, str], form: Form, *, optional_unless_required: bool
    ) -> None:
        self._documents: dict[str, Any] = {name: json.loads(one) for name, one in references.items()}
        self._documents[""] = json.loads(text)
        self._form = form
        self._optional_unless_required = optional_unless_required
        self._open: list[str] = []

    def schema(self) -> Schema:
        return self._of(self._documents[""], "")

    def _of(self, found: Any, document: str) -> Schema:
        """`document` is where references without a document lead."""
        if found is True or found == {}:
            raise DataError("a JSON Schema that allows everything has no type: declare one")
        if not isinstance(found, Mapping):
            raise DataError(f"{found!r} is no JSON Schema")
        if "$ref" in found:
            return self._referred(str(found["$ref"]), document)
        return self._with_meta(self._of_type(found, document), found)

    def _of_type(self, found: Mapping[str, Any], document: str) -> Schema:
        for word in ("oneOf", "anyOf"):
            if word in found:
                return self._one_of(found[word], document)
        if "allOf" in found:
            return self._all_of(found, document)
        kind = found.get("type")
        if isinstance(kind, list):
            rest = {name: one for name, one in found.items() if name != "type"}
            return self._one_of([{**rest, "type": one} for one in kind], document)
        if kind is None and "enum" in found:
            kind = "string"
        if kind is None and ("properties" in found or "additionalProperties" in found):
            kind = "object"
        if kind is None and "const" in found:
            return self._of_type({"type": "string", "enum": [found["const"]]}, document)
        match kind:
            case "object":
                return self._object(found, document)
            case "array":
                return self._array(found, document)
            case "string" if "enum" in found:
                texts = {ENUM: "", **{f"{ENUM}.{one}": str(one) for one in found["enum"]}}
                return Schema(SchemaType.STRING, parameters=texts)
        plain = _PLAIN.get((str(kind), found.get(TYPE))) or _PLAIN.get((str(kind), None))
        if plain is None:
            raise DataError(f"the JSON Schema type {kind!r} has no equivalent in Connect")
        return plain

    def _object(self, found: Mapping[str, Any], document: str) -> Schema:
        more = found.get("additionalProperties")
        if found.get(TYPE) == "map" or ("properties" not in found and isinstance(more, Mapping)):
            return schemas.mapping(schemas.STRING, self._of(more, document) if more else _ANY)
        required = found.get("required", ())
        properties: Mapping[str, Any] = found.get("properties", {})
        names = list(properties)
        if any(isinstance(one, Mapping) and INDEX in one for one in properties.values()):
            names.sort(key=lambda name: properties[name].get(INDEX, len(names)))
        fields = []
        for name in names:
            schema = self._of(properties[name], document)
            if self._optional_unless_required and name not in required:
                schema = replace(schema, optional=True)
            fields.append(Field(name, schema))
        return Schema(SchemaType.STRUCT, fields=tuple(fields))

    def _array(self, found: Mapping[str, Any], document: str) -> Schema:
        items = found.get("items")
        if not isinstance(items, Mapping):
            raise DataError("a JSON Schema of arrays must say in `items` what one type they contain")
        if found.get(TYPE) == "map":
            entry = items["properties"]
            return schemas.mapping(self._of(entry["key"], document), self._of(entry["value"], document))
        return schemas.array(self._of(items, document))

    def _one_of(self, kinds: Any, document: str) -> Schema:
        others = [one for one in kinds if not (isinstance(one, Mapping) and one.get("type") == "null")]
        optional = len(others) < len(kinds)
        if not others:
            raise DataError("a JSON Schema that only allows null has no equivalent in Connect")
        if len(others) == 1:
            schema = self._of(others[0], document)
            return replace(schema, optional=optional or schema.optional)
        fields = [
            Field(f"{ONE_OF_FIELD}{at}", replace(self._of(one, document), optional=True))
            for at, one in enumerate(others)
        ]
        return Schema(SchemaType.STRUCT, optional=optional, name=ONE_OF, fields=tuple(fields))

    def _all_of(self, found: Mapping[str, Any], document: str) -> Schema:
        """Objects are put together; of others, there may be only one with a type."""
        rest = {name: one for name, one in found.items() if name != "allOf"}
        parts = [self._resolved(one, document) for one in found["allOf"]]
        merged: dict[str, Any] = {}
        for one in (*parts, rest):
            properties = {**merged.get("properties", {}), **one.get("properties", {})}
            required = [*merged.get("required", ()), *one.get("required", ())]
            merged |= one
            if properties:
                merged["properties"] = properties
            if required:
                merged["required"] = required
        return self._of_type(merged, document)

    def _resolved(self, found: Mapping[str, Any], document: str) -> Mapping[str, Any]:
        return self._target(str(found["$ref"]), document)[0] if "$ref" in found else found

    def _referred(self, reference: str, document: str) -> Schema:
        found, document = self._target(reference, document)
        name = f"{document} {reference}"
        if name in self._open:
            raise DataError(
                f"the JSON Schema {reference} contains itself: Connect has no recursive schemas here. Use "
                "ByteArrayConverter to pass the records on as they are"
            )
        self._open.append(name)
        try:
            return self._of(found, document)
        finally:
            self._open.remove(name)

    def _target(self, reference: str, document: str) -> tuple[Any, str]:
        name, _, path = reference.partition("#")
        if name:
            document = name
        if document not in self._documents:
            raise DataError(
                f"the JSON Schema refers to {reference}, which is not among its references in the registry"
            )
        found = self._documents[document]
        try:
            for part in path.split("/")[1:]:
                found = found[part.replace("~1", "/").replace("~0", "~")]
        except (LookupError, TypeError):
            raise DataError(f"the JSON Schema refers to {reference}, which does not exist") from None
        return found, document

    def _with_meta(self, schema: Schema, found: Mapping[str, Any]) -> Schema:
        title, version, doc = found.get("title"), found.get("connect.version"), found.get("description")
        parameters = found.get("connect.parameters")
        schema = replace(
            schema,
            name=title if isinstance(title, str) else schema.name,
            version=version if type(version) is int else schema.version,
            doc=doc if isinstance(doc, str) else schema.doc,
            parameters={**schema.parameters, **parameters}
            if isinstance(parameters, Mapping)
            else schema.parameters,
        )
        default = found.get("default")
        return schema if default is None else replace(schema, default=reader(schema, self._form)(default))
