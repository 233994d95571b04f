"""Excludes, keeps or renames fields."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from moldau.core.settings.checks import Check
from moldau.core.settings.key import strings
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Field, Schema
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import fields_of, picker, struct_of, with_fields
from moldau.pipeline.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    VALUE,
    StructTransformation,
)


def _is_rename(text: str) -> bool:
    old, colon, new = text.partition(":")
    return bool(colon and old and new) and ":" not in new


class _Plan(NamedTuple):
    schema: Schema
    pick: Callable[[tuple[Any, ...]], tuple[Any, ...]]


class ReplaceField(StructTransformation):
    doc = "Excludes fields, keeps some of them only, or renames them."
    declarations = (
        Declaration(
            strings("exclude", (), "Fields to exclude. This takes precedence over the fields to include.")
        ),
        Declaration(
            strings("include", (), "Fields to include. If there are any, only these fields are kept.")
        ),
        Declaration(
            strings(
                "renames",
                (),
                "Fields to rename: old and new name with a colon between them.",
                check=Check(
                    lambda pairs: all(map(_is_rename, pairs)),
                    " of old and new names with a colon between them",
                    "id:order_id",
                ),
            )
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._excluded = frozenset(self.settings["exclude"])
        self._included = frozenset(self.settings["include"])
        self._renames = dict(pair.split(":") for pair in self.settings["renames"])

    def of_object(self, record: Record, value: dict[str, Any]) -> Any:
        if not self._included and not self._renames:
            made = dict(value)
            for name in self._excluded:
                made.pop(name, None)
            return made
        renamed = self._renames.get
        return {renamed(name, name): one for name, one in value.items() if self._is_kept(name)}

    def plan(self, schema: Schema) -> _Plan:
        fields = fields_of(schema, self.of)
        places = [place for place, one in enumerate(fields) if self._is_kept(one.name)]
        return _Plan(
            with_fields(schema, self._renamed([fields[one] for one in places]), self.of), picker(places)
        )

    def of_struct(self, record: Record, plan: _Plan, struct: Struct) -> tuple[Schema, Struct]:
        return plan.schema, struct_of(plan.schema, plan.pick(self.values(struct)))

    def _is_kept(self, name: str) -> bool:
        return name not in self._excluded and (not self._included or name in self._included)

    def _renamed(self, fields: Sequence[Field]) -> list[Field]:
        return [Field(self._renames.get(one.name, one.name), one.schema) for one in fields]
