"""Casts fields, or the whole key or value, to another type."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import Check
from moldau.core.settings.key import Importance, strings
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.casting import TARGETS, Convert, caster
from moldau.pipeline.connect.transforms.structs import fields_of, struct_of, with_fields
from moldau.pipeline.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    VALUE,
    StructTransformation,
)

WHOLE: Final = ""
"""In the place of a field's name: the whole key or value."""


def casts_of(spec: Sequence[str]) -> dict[str, SchemaType]:
    """The type for each field. Raises ValueError."""
    found = {}
    for one in spec:
        name, _, kind = (part.strip() for part in one.rpartition(":"))
        if ":" in name or kind.lower() not in TARGETS or (":" in one and not name):
            raise ValueError(one)
        found[name] = TARGETS[kind.lower()]
    if not found or (WHOLE in found and len(spec) > 1):
        raise ValueError(spec)
    return found


def _is_spec(spec: Sequence[str]) -> bool:
    try:
        return bool(casts_of(spec))
    except ValueError:
        return False


class _Plan(NamedTuple):
    schema: Schema
    casts: Sequence[tuple[int, Convert]]
    """The positions of the fields that are cast."""


class Cast(StructTransformation):
    doc = (
        "Casts fields, or the whole key or value, to another type. Numbers, booleans and texts can be cast to each "
        "other, and bytes to string (in base64)."
    )
    declarations = (
        Declaration(
            strings(
                "spec",
                (),
                "Fields with the type to cast them to, `field1:type,field2:type`, or one type for the whole key or "
                f"value. The types are {', '.join(TARGETS)}. Bytes can be cast to string only.",
                importance=Importance.HIGH,
                check=Check(
                    _is_spec,
                    f" of fields and types with a colon between them, or one type; the types are {', '.join(TARGETS)}",
                    "amount:float64,id:string",
                ),
            ),
            is_required=True,
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        try:
            self._casts = casts_of(self.settings["spec"])
        except ValueError as wrong:
            raise ConfigError(f"Invalid value {wrong} for configuration spec") from None
        self._whole = self._casts.get(WHOLE)
        self._objects = {name: caster(kind) for name, kind in self._casts.items()}
        self._wholes = Derived(self._whole_plan)

    def transform(self, record: Record, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if self._whole is None or value is None:
            return super().transform(record, schema, value)
        if schema is None:
            return None, self._objects[WHOLE](value)
        made, cast = self._wholes.of(schema)
        return made, cast(value)

    def of_object(self, record: Record, value: dict[str, Any]) -> Any:
        made = dict(value)
        for name, cast in self._objects.items():
            made[name] = cast(value.get(name))
        return made

    def plan(self, schema: Schema) -> _Plan:
        fields, casts = [], []
        for place, one in enumerate(fields_of(schema, self.of)):
            target = self._casts.get(one.name)
            if target is None:
                fields.append(one)
                continue
            cast = caster(target, one.schema)
            default = cast(one.schema.default)
            fields.append(Field(one.name, Schema(target, one.schema.optional, default=default)))
            casts.append((place, cast))
        made = replace(with_fields(schema, fields, self.of), optional=schema.optional)
        if schema.default is not None:
            made = replace(made, default=self._struct(_Plan(made, casts), schema.default))
        return _Plan(made, casts)

    def of_struct(self, record: Record, plan: _Plan, struct: Struct) -> tuple[Schema, Struct]:
        return plan.schema, self._struct(plan, struct)

    def _struct(self, plan: _Plan, struct: Struct) -> Struct:
        values = list(self.values(struct))
        for place, cast in plan.casts:
            values[place] = cast(values[place])
        return struct_of(plan.schema, values)

    def _whole_plan(self, schema: Schema) -> tuple[Schema, Convert]:
        target = self._whole or SchemaType.STRING
        cast = caster(target, schema)
        # The name of a logical type would promise other values.
        is_logical = (schema.name or "").startswith("org.apache.kafka.connect.data.")
        return Schema(
            target,
            schema.optional,
            None if is_logical else schema.name,
            None if is_logical else schema.version,
            schema.doc,
            cast(schema.default),
            {} if is_logical else schema.parameters,
        ), cast
