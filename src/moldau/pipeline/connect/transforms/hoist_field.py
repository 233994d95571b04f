"""Wraps the key or value in a struct or map with one field."""

from typing import Any

from moldau.core.settings.key import string
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Schema, struct
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import struct_of
from moldau.pipeline.connect.transforms.transformation import VALUE, PartTransformation


class HoistField(PartTransformation):
    doc = "Wraps the key or value in a struct, or in a map where there is no schema, with one field."
    declarations = (
        Declaration(
            string("field", "", "The name of the one field of the new struct or map."), is_required=True
        ),
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._name: str = self.settings["field"]
        self._schemas = Derived(lambda schema: struct({self._name: schema}))

    def transform(self, record: Record, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            return None, {self._name: value}
        wrapped = self._schemas.of(schema)
        return wrapped, struct_of(wrapped, (value,))
