"""Gives a schema another name or version."""

from dataclasses import replace
from typing import Any

from moldau.core.errors import ConfigError
from moldau.core.settings.key import Importance, integer, string
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import struct_of
from moldau.pipeline.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    VALUE,
    PartTransformation,
)


class SetSchemaMetadata(PartTransformation):
    doc = "Gives the schema of the key or value another name, another version, or both."
    declarations = (
        Declaration(string("schema.name", None, "Schema name to set.", importance=Importance.HIGH)),
        Declaration(integer("schema.version", None, "Schema version to set.", importance=Importance.HIGH)),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._name: str | None = self.settings["schema.name"]
        self._version: int | None = self.settings["schema.version"]
        self._replaces_null: bool = self.settings[REPLACE_NULL_WITH_DEFAULT.name]
        if self._name is None and self._version is None:
            raise ConfigError(
                f"{self.of}: Neither schema name nor version configured: set schema.name, schema.version or both"
            )
        self._schemas = Derived(self._changed)

    def transform(self, record: Record, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            if value is None:
                return None, None
            raise DataError(
                f"{self.of} takes records with a schema, and the record's {self.part.lower()} has none: use a "
                "converter that gives one, or apply the transformation to other records only, with a predicate"
            )
        changed = self._schemas.of(schema)
        if type(value) is not Struct:
            return changed, value
        values = value.with_defaults() if self._replaces_null else value.values
        return changed, struct_of(changed, values)

    def _changed(self, schema: Schema) -> Schema:
        name = schema.name if self._name is None else self._name
        version = schema.version if self._version is None else self._version
        return replace(schema, name=name, version=version)
