"""Takes one field out: its value becomes the key or value."""

from typing import Any

from moldau.core.settings.key import string
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.field_path import (
    SYNTAX_VERSION,
    SYNTAX_VERSION_DECLARATION,
    FieldPath,
)
from moldau.pipeline.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    VALUE,
    PartTransformation,
)


class ExtractField(PartTransformation):
    doc = "Takes one field out of a struct or map; its value becomes the key or value. Null stays null."
    declarations = (
        Declaration(string("field", "", "Field name to extract."), is_required=True),
        SYNTAX_VERSION_DECLARATION,
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._path = FieldPath(self.settings["field"], self.settings[SYNTAX_VERSION])
        self._with_default: bool = self.settings[REPLACE_NULL_WITH_DEFAULT.name]
        self._schemas = Derived(self._schema_of)

    def transform(self, record: Record, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            return None, None if value is None else self._path.value_in_dict(self.require_dict(value))
        found = self._schemas.of(schema)
        if value is None:
            return found, None
        struct = self.require_struct(value)
        return found, self._path.value_in_struct(struct, with_default=self._with_default)

    def _schema_of(self, schema: Schema) -> Schema:
        found = self._path.field_of(schema)
        if found is None:
            known = ", ".join(one.name for one in schema.fields) or "none"
            raise DataError(
                f"{self.of}: Unknown field: {self._path.text}. The fields of {schema} are {known}: mend the setting "
                "field"
            )
        return found.schema
