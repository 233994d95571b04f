"""Moves or copies fields into headers."""

from collections.abc import Callable
from typing import Any, NamedTuple

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, string, strings
from moldau.pipeline.connect.data.records import Header, Record
from moldau.pipeline.connect.data.schema import Field, Schema
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import field_of, fields_of, picker, struct_of, with_fields
from moldau.pipeline.connect.transforms.transformation import (
    NON_EMPTY_LIST,
    REPLACE_NULL_WITH_DEFAULT,
    VALUE,
    StructTransformation,
)


class _Plan(NamedTuple):
    fields: list[Field]
    schema: Schema | None
    """Of what is left after a move."""
    pick: Callable[[tuple[Any, ...]], tuple[Any, ...]]


class HeaderFrom(StructTransformation):
    doc = "Moves or copies fields into headers. The first field goes to the first header, and so on."
    passes_null = False
    declarations = (
        Declaration(
            strings(
                "fields",
                (),
                "The fields whose values go to headers.",
                importance=Importance.HIGH,
                check=NON_EMPTY_LIST,
            ),
            is_required=True,
        ),
        Declaration(
            strings(
                "headers",
                (),
                "The names of the headers, in the order of the fields.",
                importance=Importance.HIGH,
                check=NON_EMPTY_LIST,
            ),
            is_required=True,
        ),
        Declaration(
            string(
                "operation",
                "",
                "move: the fields are removed from the key or value. copy: they stay there, too.",
                importance=Importance.HIGH,
                check=one_of("move", "copy"),
            ),
            is_required=True,
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._names: tuple[str, ...] = self.settings["fields"]
        self._headers: tuple[str, ...] = self.settings["headers"]
        self._moves = self.settings["operation"] == "move"
        if len(self._names) != len(self._headers):
            raise ConfigError(
                f"{self.of}: 'fields' config must have the same number of elements as 'headers' config; they have "
                f"{len(self._names)} and {len(self._headers)}"
            )

    def of_object(self, record: Record, value: dict[str, Any]) -> Any:
        made = zip(self._headers, self._names, strict=True)
        record.headers += tuple(Header(header, value.get(name)) for header, name in made)
        if not self._moves:
            return value
        return {name: one for name, one in value.items() if name not in self._names}

    def plan(self, schema: Schema) -> _Plan:
        kept = [place for place, one in enumerate(fields_of(schema, self.of)) if one.name not in self._names]
        return _Plan(
            [field_of(schema, name, self.of) for name in self._names],
            with_fields(schema, [schema.fields[place] for place in kept], self.of) if self._moves else None,
            picker(kept),
        )

    def of_struct(self, record: Record, plan: _Plan, struct: Struct) -> tuple[Schema | None, Any]:
        made = zip(self._headers, plan.fields, strict=True)
        record.headers += tuple(
            Header(header, self.value_of(struct, one.name), one.schema) for header, one in made
        )
        if plan.schema is None:
            return struct.schema, struct
        return plan.schema, struct_of(plan.schema, plan.pick(self.values(struct)))
