"""Which formats can hold which columns, and what a format is when a statement says only a part of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.engine.with_properties import FORMAT_PROPERTIES, WithProperties
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.types import (
    BIGINT,
    BYTES,
    DOUBLE,
    INTEGER,
    STRING,
    Array,
    Column,
    Map,
    SqlType,
    Struct,
)


@dataclass(frozen=True, slots=True)
class Ability:
    """What a format can do."""

    has_schemas: bool = False
    """In the registry, so that columns can be inferred."""
    wraps: bool = False
    """Whether a single column can be written as a record with one field."""
    unwraps: bool = True
    """Whether it can be written by itself."""
    columns_max: int | None = None
    holds_nested: bool = True
    types: tuple[SqlType, ...] | None = None
    """None: all."""

    @property
    def wraps_by_choice(self) -> bool:
        return self.wraps and self.unwraps


ABILITIES: Final[Mapping[str, Ability]] = {
    "AVRO": Ability(has_schemas=True, wraps=True),
    "DELIMITED": Ability(holds_nested=False),
    "JSON": Ability(wraps=True),
    "JSON_SR": Ability(has_schemas=True, wraps=True),
    "KAFKA": Ability(columns_max=1, holds_nested=False, types=(INTEGER, BIGINT, DOUBLE, STRING, BYTES)),
    "NONE": Ability(columns_max=0, unwraps=False),
    "PROTOBUF": Ability(has_schemas=True, wraps=True, unwraps=False),
    "PROTOBUF_NOSR": Ability(wraps=True, unwraps=False),
}
_WITH_SCHEMAS: Final = tuple(name for name, can in ABILITIES.items() if can.has_schemas)
_FORMATS_WITH: Final[Mapping[str, tuple[str, ...]]] = {
    "DELIMITER": ("DELIMITED",),
    "SCHEMA_ID": _WITH_SCHEMAS,
    "SCHEMA_FULL_NAME": _WITH_SCHEMAS,
    "PROTOBUF_NULLABLE_REPRESENTATION": ("PROTOBUF", "PROTOBUF_NOSR"),
}
REGISTRY_PREFIX: Final = "SCHEMA_REGISTRY_"


def ability(name: str) -> Ability:
    found = ABILITIES.get(name)
    if found is None:
        hint = did_you_mean(name, ABILITIES) or f"The formats are {', '.join(ABILITIES)}."
        raise SqlError(f"unknown format {name}", hint=hint)
    return found


def key_format_of(name: str, said: WithProperties, columns: Sequence[Column]) -> Format:
    """A single key column is written by itself wherever the format allows it."""
    check_columns(name, columns, is_key=True)
    _check_properties(name, said, "KEY")
    is_wrapped = not (ability(name).wraps_by_choice and len(columns) == 1)
    return Format(name, said.of_format("KEY"), is_wrapped)


def value_format_of(name: str, said: WithProperties, columns: Sequence[Column]) -> Format:
    check_columns(name, columns, is_key=False)
    _check_properties(name, said, "VALUE")
    can, is_single, wrap = ability(name), len(columns) == 1, said.get("WRAP_SINGLE_VALUE")
    if wrap is not None and not (can.wraps if wrap else can.unwraps):
        raise said.wrong(
            "WRAP_SINGLE_VALUE",
            f"format {name} does not support WRAP_SINGLE_VALUE={str(wrap).lower()}",
            "Leave the property out.",
        )
    if wrap is not None and not is_single:
        raise said.wrong(
            "WRAP_SINGLE_VALUE",
            f"WRAP_SINGLE_VALUE is about values of a single column; this one has {len(columns)}",
            "Leave the property out.",
        )
    is_bare = wrap is False and can.wraps_by_choice
    return Format(name, said.of_format("VALUE"), is_wrapped=not is_bare)


def _check_properties(name: str, said: WithProperties, side: str) -> None:
    """SqlError for a property that belongs to other formats."""
    for prop in FORMAT_PROPERTIES:
        formats = _FORMATS_WITH[prop]
        if f"{side}_{prop}" in said and name not in formats:
            raise said.wrong(
                f"{side}_{prop}",
                f"{side}_{prop} has no meaning for the format {name}",
                f"It belongs to {', '.join(formats)}.",
            )


def check_columns(name: str, columns: Sequence[Column], *, is_key: bool) -> None:
    """SqlError where the format cannot hold these columns."""
    can, side, prop = ability(name), "key" if is_key else "value", "KEY_FORMAT" if is_key else "VALUE_FORMAT"
    if name == "NONE" and not is_key:
        raise SqlError("format NONE is for keys only", hint="Give another VALUE_FORMAT, for example JSON.")
    if can.columns_max == 0 and columns:
        names = ", ".join(column.name for column in columns)
        raise SqlError(
            f"format NONE holds no columns, and the {side} has {names}", hint=f"Give another {prop}."
        )
    if can.columns_max == 1 and len(columns) > 1:
        raise SqlError(
            f"format {name} holds a single column, and the {side} has {len(columns)}",
            hint=f"Give another {prop}, for example JSON.",
        )
    for column in columns:
        if is_key and has_map(column.type):
            raise SqlError(
                f"key column {column.name} has the type {column.type}; a key cannot contain a MAP",
                hint="The order of a map's entries is not fixed, so equal maps may be different bytes.",
            )
        is_nested = isinstance(column.type, Array | Map | Struct)
        if (is_nested and not can.holds_nested) or (can.types is not None and column.type not in can.types):
            raise SqlError(
                f"format {name} does not support the type {column.type} of {side} column {column.name}",
                hint=f"Give another {prop}, for example JSON.",
            )


def has_map(kind: SqlType) -> bool:
    match kind:
        case Map():
            return True
        case Array(element=element):
            return has_map(element)
        case Struct(fields=fields):
            return any(has_map(one) for _, one in fields)
    return False


def with_registry(form: Format, registry: Mapping[str, str]) -> Format:
    """The format with what its serde needs to reach the registry."""
    if not registry or not ability(form.name).has_schemas:
        return form
    own = tuple(one for one in form.properties if not one[0].startswith(REGISTRY_PREFIX))
    return Format(form.name, (*own, *sorted(registry.items())), form.is_wrapped)


def without_registry(form: Format) -> Format:
    own = tuple(one for one in form.properties if not one[0].startswith(REGISTRY_PREFIX))
    return Format(form.name, own, form.is_wrapped)
