"""Makes fields of the fields of nested structs: `order.customer` out of `order` and its `customer`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from moldau.core.settings.key import string
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import fields_of, struct_of, with_fields
from moldau.pipeline.connect.transforms.transformation import VALUE, StructTransformation, kind_of

_PLAIN: Final = (bool, int, float, str, bytes, bytearray, memoryview, list, tuple)

Places = Sequence["Places | None"]
"""For each field None, or the same of its struct."""


class _Plan(NamedTuple):
    schema: Schema
    places: Places
    is_flat: bool


class Flatten(StructTransformation):
    doc = (
        "Makes fields of the fields of nested structs or maps. The names are joined by a delimiter. Arrays stay as "
        "they are."
    )
    declarations = (
        Declaration(
            string("delimiter", ".", "What stands between the names of the outer and the inner field.")
        ),
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._delimiter: str = self.settings["delimiter"]

    def of_object(self, record: Record, value: dict[str, Any]) -> Any:
        made: dict[str, Any] = {}
        self._flatten(value, "", made)
        return made

    def _flatten(self, value: dict[str, Any], prefix: str, made: dict[str, Any]) -> None:
        for name, one in value.items():
            if type(name) is not str:
                raise DataError(
                    f"{self.of} takes maps with names of fields, and the key {name!r} is {kind_of(name)}"
                )
            path = self._joined(prefix, name)
            if type(one) is dict:
                self._flatten(one, path, made)
            elif one is None or isinstance(one, _PLAIN):
                made[path] = one
            else:
                raise DataError(
                    f"{self.of} does not support {kind_of(one)} without a schema (field {path}): convert it first, or "
                    "exclude it with ReplaceField"
                )

    def plan(self, schema: Schema) -> _Plan:
        found: list[Field] = []
        places = self._plan(schema, "", found, is_optional=schema.optional, default=schema.default)
        return _Plan(with_fields(schema, found, self.of), places, not any(places))

    def _plan(
        self, schema: Schema, prefix: str, found: list[Field], *, is_optional: bool, default: Struct | None
    ) -> Places:
        places: list[Places | None] = []
        for place, one in enumerate(fields_of(schema, self.of)):
            inner, path = one.schema, self._joined(prefix, one.name)
            own = inner.default
            if own is None and default is not None:
                own = default.values[place]
            optional = is_optional or inner.optional
            if inner.type is SchemaType.MAP:
                raise DataError(
                    f"{self.of} does not support a map with a schema (field {path}): exclude it with ReplaceField"
                )
            if inner.type is SchemaType.STRUCT:
                places.append(self._plan(inner, path, found, is_optional=optional, default=own))
            else:
                places.append(None)
                found.append(Field(path, replace(inner, optional=optional, default=own)))
        return places

    def of_struct(self, record: Record, plan: _Plan, struct: Struct) -> tuple[Schema, Struct]:
        if plan.is_flat:
            return plan.schema, struct_of(plan.schema, struct.with_defaults())
        values: list[Any] = []
        _collect(struct, plan.places, values)
        return plan.schema, struct_of(plan.schema, values)

    def _joined(self, prefix: str, name: str) -> str:
        return f"{prefix}{self._delimiter}{name}" if prefix else name


def _collect(struct: Struct | None, places: Places, values: list[Any]) -> None:
    given = [None] * len(places) if struct is None else struct.with_defaults()
    for value, inner in zip(given, places, strict=True):
        if inner is None:
            values.append(value)
        else:
            _collect(value, inner, values)
