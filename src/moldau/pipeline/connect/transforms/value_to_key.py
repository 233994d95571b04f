"""Makes the key out of fields of the value."""

from typing import Any

from moldau.core.settings.key import Importance, strings
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Schema, struct
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import field_of, picker, struct_of
from moldau.pipeline.connect.transforms.transformation import (
    NON_EMPTY_LIST,
    REPLACE_NULL_WITH_DEFAULT,
    Transformation,
    kind_of,
)


class ValueToKey(Transformation):
    doc = "Replaces the key by a new one, made out of fields of the value."
    declarations = (
        Declaration(
            strings(
                "fields",
                (),
                "The fields of the value that are the key.",
                importance=Importance.HIGH,
                check=NON_EMPTY_LIST,
            ),
            is_required=True,
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = "", of: str = "") -> None:
        super().__init__(texts, part, of)
        self._names: tuple[str, ...] = self.settings["fields"]
        self._replaces_null: bool = self.settings[REPLACE_NULL_WITH_DEFAULT.name]
        self._plans = Derived(self._plan)

    def apply(self, record: Record) -> Record:
        value = record.value
        if record.value_schema is None:
            if type(value) is not dict:
                raise self._unfit("an object with fields", value)
            record.key_schema, record.key = None, {name: value.get(name) for name in self._names}
            return record
        if type(value) is not Struct:
            raise self._unfit("a struct", value)
        schema, pick = self._plans.of(value.schema)
        values = value.with_defaults() if self._replaces_null else value.values
        record.key_schema, record.key = schema, struct_of(schema, pick(values))
        return record

    def _plan(self, schema: Schema) -> tuple[Schema, Any]:
        fields = [field_of(schema, name, self.of) for name in self._names]
        made = struct({one.name: one.schema for one in fields})
        return made, picker([schema.index[one.name] for one in made.fields])

    def _unfit(self, wanted: str, value: Any) -> DataError:
        return DataError(
            f"{self.of} takes {wanted}, and the record's value is {kind_of(value)}: apply it to other records only, "
            "with a predicate such as RecordIsTombstone and negate=true"
        )
