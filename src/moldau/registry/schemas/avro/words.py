"""Describes an Avro mismatch, and the smallest change to the new schema that would pass."""

from moldau.registry.schemas.avro.resolution import Mismatch
from moldau.registry.schemas.avro.types import (
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    NamedType,
    Record,
    Union,
    described,
)
from moldau.registry.schemas.json_text import write
from moldau.registry.schemas.model import Clash, Direction

_SYMBOLS_SHOWN_MAX = 5
_DEFAULTS = {"boolean": "false", "int": "0", "long": "0", "float": "0.0", "double": "0.0"}
_WIDER = {
    "int": "long, float or double",
    "long": "float or double",
    "float": "double",
    "string": "bytes",
    "bytes": "string",
}
_NARROWER = {"long": "int", "float": "int or long", "double": "int, long or float"} | {
    "string": "bytes",
    "bytes": "string",
}


def clash(mismatch: Mismatch, direction: Direction, version: int) -> Clash:
    backward = direction is Direction.BACKWARD
    reason, change = _WORDS[mismatch.rule](mismatch, backward, version)
    additional = {"field": mismatch.within} if mismatch.within else {}
    return Clash(mismatch.rule, mismatch.path, direction, version, reason, change, additional)


def _missing_default(mismatch: Mismatch, backward: bool, version: int) -> tuple[str, str]:
    field = mismatch.field
    assert field is not None
    name = mismatch.within
    if backward:
        change = _give_default(name, field)
        if before := _maybe_renamed(mismatch, field):
            change += f', or "aliases": ["{before}"] if {before} was renamed'
        return f"Field {name} is new since version {version} and has no default", change
    return (
        f"Field {name} was removed, but version {version} has no default for it",
        f"keep field {name}; it can be removed once a version with a default for it is registered",
    )


def _maybe_renamed(mismatch: Mismatch, field: Field) -> str | None:
    """A removed field of the same type: perhaps the new field is a rename of it."""
    assert isinstance(mismatch.reader, Record) and isinstance(mismatch.writer, Record)
    kept = {name for known in mismatch.reader.fields for name in (known.name, *known.aliases)}
    gone = (known for known in mismatch.writer.fields if known.name not in kept)
    return next((known.name for known in gone if described(known.type) == described(field.type)), None)


def _give_default(name: str, field: Field) -> str:
    node = field.type
    if isinstance(node, Union):
        first = node.branches[0] if node.branches else None
        if any(branch.kind == "null" for branch in node.branches):
            return f'add "default": null to field {name}'
        if first is not None and (value := _default_of(first)):
            return f'add "default": {value} to field {name}'
    elif value := _default_of(node):
        return f'add "default": {value} to field {name}'
    return f'make the type of field {name} ["null", {_as_type(node)}] with "default": null'


def _default_of(node: AvroType) -> str | None:
    if isinstance(node, Enum):
        symbol = node.default or (node.symbols[0] if node.symbols else None)
        return write(symbol) if symbol else None
    if isinstance(node, Array):
        return "[]"
    if isinstance(node, Map):
        return "{}"
    return '""' if node.kind in ("string", "bytes") else _DEFAULTS.get(node.kind)


def _as_type(node: AvroType) -> str:
    return f'"{node.name.full}"' if isinstance(node, NamedType) else f'"{node.kind}"'


def _type_mismatch(mismatch: Mismatch, backward: bool, version: int) -> tuple[str, str]:
    what = _what(mismatch)
    reader, writer = described(mismatch.reader), described(mismatch.writer)
    if mismatch.one_of is not None:
        if backward:
            reason = f"{what} is {reader} but may be {writer} in version {version}"
            return reason, f"keep the union {described(mismatch.one_of)}"
        reason = f"{what} may now be {writer} but was {reader} in version {version}"
        return reason, f"leave {writer} out and keep {reader}"
    if backward:
        wider = _WIDER.get(mismatch.writer.kind)
        return (
            f"{what} is {reader} but was {writer} in version {version}",
            f"keep {writer}" + (f", or widen it to {wider}" if wider else "") + _or_new_field(mismatch),
        )
    narrower = _NARROWER.get(mismatch.reader.kind)
    return (
        f"{what} is {writer} but was {reader} in version {version}",
        f"keep {reader}" + (f", or write {narrower}" if narrower else "") + _or_new_field(mismatch),
    )


def _or_new_field(mismatch: Mismatch) -> str:
    return ", or add a new field with a default" if mismatch.within else ""


def _missing_branch(mismatch: Mismatch, backward: bool, version: int) -> tuple[str, str]:
    what, writer, reader = _what(mismatch), described(mismatch.writer), described(mismatch.reader)
    if mismatch.inner is not None:
        reason, change = _WORDS[mismatch.inner.rule](mismatch.inner, backward, version)
        return f"{what}: its branch {writer} does not resolve. {reason}", change
    if backward:
        return (
            f"{what} is {reader} but may be {writer} in version {version}",
            f"add {writer} to the union of {_what_low(mismatch)}",
        )
    return (
        f"{what} may now be {writer} but was {reader} in version {version}",
        f"leave {writer} out of {_what_low(mismatch)}",
    )


def _missing_symbols(mismatch: Mismatch, backward: bool, version: int) -> tuple[str, str]:
    reader, symbols = mismatch.reader, _listed(mismatch.symbols)
    assert isinstance(reader, Enum)
    name = reader.name.full
    if backward:
        first = reader.symbols[0] if reader.symbols else "..."
        return (
            f"Enum {name}{_of_field(mismatch)} no longer has {symbols}, which data of version {version} may contain",
            f'put {symbols} back, or add "default": {write(first)} to enum {name}',
        )
    return (
        f"Enum {name}{_of_field(mismatch)} has {symbols}, which version {version} does not know; "
        "it has no enum default either",
        f"leave {symbols} out; symbols can be added once a version whose enum has a default is registered",
    )


def _listed(symbols: tuple[str, ...]) -> str:
    more = len(symbols) - _SYMBOLS_SHOWN_MAX
    return ", ".join(symbols[:_SYMBOLS_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")


def _names(mismatch: Mismatch, backward: bool, version: int) -> tuple[str, str]:
    reader, writer = mismatch.reader, mismatch.writer
    assert isinstance(reader, NamedType) and isinstance(writer, NamedType)
    new, old = (reader, writer) if backward else (writer, reader)
    reason = (
        f"{reader.kind.capitalize()} {new.name.full}{_of_field(mismatch)} "
        f"was called {old.name.full} in version {version}"
    )
    if backward:
        return reason, f'add "aliases": [{write(old.name.full)}] to {new.name.full}, or keep the name'
    return reason, f"keep the name {old.name.full}"


def _sizes(mismatch: Mismatch, backward: bool, version: int) -> tuple[str, str]:
    reader, writer = mismatch.reader, mismatch.writer
    assert isinstance(reader, Fixed) and isinstance(writer, Fixed)
    new, old = (reader, writer) if backward else (writer, reader)
    return (
        f"Fixed {new.name.full}{_of_field(mismatch)} has {new.size} bytes but had {old.size} in version {version}",
        f'keep "size": {old.size}',
    )


def _what(mismatch: Mismatch) -> str:
    low = _what_low(mismatch)
    return low[0].upper() + low[1:]


def _what_low(mismatch: Mismatch) -> str:
    if not mismatch.within:
        return "the schema"
    return f"field {mismatch.within}"


def _of_field(mismatch: Mismatch) -> str:
    return f" of {_what_low(mismatch)}" if mismatch.within else ""


_WORDS = {
    "READER_FIELD_MISSING_DEFAULT_VALUE": _missing_default,
    "TYPE_MISMATCH": _type_mismatch,
    "MISSING_UNION_BRANCH": _missing_branch,
    "MISSING_ENUM_SYMBOLS": _missing_symbols,
    "NAME_MISMATCH": _names,
    "FIXED_SIZE_MISMATCH": _sizes,
}
