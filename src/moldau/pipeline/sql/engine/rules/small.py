"""CREATE TYPE, DROP TYPE and ALTER SYSTEM."""

from moldau.pipeline.sql.engine.columns import resolved
from moldau.pipeline.sql.engine.rules.logged import Logged
from moldau.pipeline.sql.engine.state import Change
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.syntax.tree.statements import AlterSystem, CreateType, DropType
from moldau.pipeline.sql.types import SIMPLE

_TYPE_WORDS = frozenset((*SIMPLE, "DECIMAL", "ARRAY", "MAP", "STRUCT"))


def create_type(statement: CreateType, on: Logged) -> Change:
    name = statement.name
    if name in _TYPE_WORDS:
        raise SqlError(f"{name} is a type of SQL, so it cannot be defined", statement.at)
    if name in on.defined.types:
        if statement.if_not_exists:
            return Change(f"The type {name} exists already.", is_nothing=True)
        hint = f"It is {on.defined.types[name]}. DROP TYPE {name}; removes it."
        raise SqlError(f"the type {name} exists already", statement.at, hint=hint)
    kind = resolved(statement.type, on.defined.types)
    return Change(f"Registered custom type with name '{name}' and SQL type {kind}", types={name: kind})


def drop_type(statement: DropType, on: Logged) -> Change:
    """Columns of the type keep it: they have what it stands for."""
    name = statement.name
    if name not in on.defined.types:
        if statement.if_exists:
            return Change(f"Type '{name}' does not exist", is_nothing=True)
        hint = did_you_mean(name, on.defined.types) or "SHOW TYPES; lists types of your own."
        raise SqlError(f"the type {name} does not exist", statement.at, hint=hint)
    return Change(f"Dropped type '{name}'", removed_types=(name,))


def alter_system(statement: AlterSystem, on: Logged) -> Change:
    """Queries that start from now on have it."""
    message = f"Set property '{statement.name}' to '{statement.value}'."
    return Change(message, system_properties={statement.name: statement.value})
