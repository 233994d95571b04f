"""A value with named fields, of a STRUCT schema."""

from collections.abc import Sequence
from typing import Any

from moldau.pipeline.connect.data.schema import Schema


class Struct:
    """`values` are in the order of the schema's fields. It is not checked against the schema here."""

    __slots__ = ("schema", "values")

    def __init__(self, schema: Schema, values: Sequence[Any]) -> None:
        self.schema = schema
        self.values = tuple(values)

    @classmethod
    def of(cls, schema: Schema, **values: Any) -> "Struct":
        """With the defaults of fields that are left out."""
        return cls(schema, [values.get(one.name, one.schema.default) for one in schema.fields])

    def __getitem__(self, name: str) -> Any:
        """The field's value, or its default. Raises KeyError for an unknown field."""
        place = self.schema.index[name]
        value = self.values[place]
        return self.schema.fields[place].schema.default if value is None else value

    def without_default(self, name: str) -> Any:
        """The field's value as it is. Raises KeyError for an unknown field."""
        return self.values[self.schema.index[name]]

    def with_defaults(self) -> tuple[Any, ...]:
        """All values; a default where there is null."""
        if None not in self.values:
            return self.values
        return tuple(
            one.schema.default if value is None else value
            for one, value in zip(self.schema.fields, self.values, strict=True)
        )

    def as_dict(self) -> dict[str, Any]:
        return {one.name: value for one, value in zip(self.schema.fields, self.values, strict=True)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Struct) and self.schema == other.schema and self.values == other.values

    def __hash__(self) -> int:
        return hash(self.values)

    def __repr__(self) -> str:
        return f"Struct({self.as_dict()})"
