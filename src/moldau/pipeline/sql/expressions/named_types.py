"""The types of the user, by name."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.expressions import NamedType
from moldau.pipeline.sql.types import SIMPLE, Array, Map, SqlType, Struct


class TypeScope(Protocol):
    def type_named(self, name: NamedType) -> SqlType: ...


class NamedTypes(NamedTuple):
    types: Mapping[str, SqlType]

    def type_named(self, name: NamedType) -> SqlType:
        """SqlError for a name that no CREATE TYPE has defined."""
        found = self.types.get(name.name)
        if found is None:
            known = [*self.types, *SIMPLE, "DECIMAL", "ARRAY", "MAP", "STRUCT"]
            hint = did_you_mean(name.name, known) or "SHOW TYPES; lists types of your own."
            raise SqlError(f"unknown type {name.name}", name.at, hint=hint)
        return found


def real_type(kind: SqlType, scope: TypeScope) -> SqlType:
    """The type with the user's own types in the place of their names."""
    match kind:
        case NamedType():
            return real_type(scope.type_named(kind), scope)
        case Array(element=element):
            return Array(real_type(element, scope))
        case Map(key=key, value=value):
            return Map(real_type(key, scope), real_type(value, scope))
        case Struct(fields=fields):
            return Struct([(name, real_type(of, scope)) for name, of in fields])
    return kind
