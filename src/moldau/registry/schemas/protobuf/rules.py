"""Rules of the Protobuf language that Google's library does not check in a descriptor."""

from collections.abc import Sequence

from moldau.registry.schemas.model import InvalidSchema
from moldau.registry.schemas.protobuf.options import flag
from moldau.registry.schemas.protobuf.symbols import Symbols
from moldau.registry.schemas.protobuf.syntax import (
    SCALARS,
    Enum,
    Extend,
    Field,
    Message,
    ProtoFile,
    Reserved,
    Span,
)


def check(file: ProtoFile, symbols: Symbols) -> None:
    _names_differ(file, "the file")
    for enum in file.enums:
        _enum(enum, enum.name, file)
    waiting = [([message.name], message) for message in file.messages]
    while waiting:
        scope, message = waiting.pop()
        _message(message, scope, file, symbols)
        nested = [*message.messages, *(group.message for group in message.groups)]
        waiting += [([*scope, inner.name], inner) for inner in nested]
    for extend in file.extends:
        _extend(extend, [], file, symbols)
    for service in file.services:
        for rpc in service.rpcs:
            for name in (rpc.request, rpc.response):
                _known(name, f"rpc {service.name}.{rpc.name}", [], symbols)


def _message(message: Message, scope: Sequence[str], file: ProtoFile, symbols: Symbols) -> None:
    whole = ".".join(scope)
    numbers: dict[int, str] = {}
    names: set[str] = set()
    spans, reserved_names = _reserved(message.reserved)
    for field, _ in message.all_fields():
        where = f"field {whole}.{field.name}"
        if field.name in names:
            raise _wrong(f"{where} is defined twice; rename one of them")
        if field.number in numbers:
            raise _wrong(
                f"{where} has the number {field.number}, which {numbers[field.number]} has already; "
                "give it one that was never used"
            )
        if field.name in reserved_names or any(span.start <= field.number <= span.end for span in spans):
            raise _wrong(
                f"{where} = {field.number} uses a reserved name or number; choose another name and number"
            )
        names.add(field.name)
        numbers[field.number] = field.name
        _field(field, where, scope, file, symbols)
    _names_differ(message, whole)
    for oneof in message.oneofs:
        if not oneof.fields and not oneof.groups:
            raise _wrong(f"oneof {whole}.{oneof.name} has no fields")
    for enum in message.enums:
        _enum(enum, f"{whole}.{enum.name}", file)
    for extend in message.extends:
        _extend(extend, scope, file, symbols)


def _extend(extend: Extend, scope: Sequence[str], file: ProtoFile, symbols: Symbols) -> None:
    where = f"extend {extend.name}"
    _known(extend.name, where, scope, symbols)
    for field in extend.fields:
        _field(field, where, scope, file, symbols)


def _names_differ(home: Message | ProtoFile, whole: str) -> None:
    """All names in one message or file must differ. The values of an enum share the scope of the enum itself."""
    names = [message.name for message in home.messages] + [enum.name for enum in home.enums]
    names += [value.name for enum in home.enums for value in enum.values]
    names += [field.name for extend in home.extends for field in extend.fields]
    if isinstance(home, Message):
        names += [field.name for field, _ in home.all_fields()]
        names += [oneof.name for oneof in home.oneofs] + [group.message.name for group in home.groups]
    else:
        names += [service.name for service in home.services]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise _wrong(f"{name} is defined twice in {whole}; rename one of them")
        seen.add(name)


def _field(field: Field, where: str, scope: Sequence[str], file: ProtoFile, symbols: Symbols) -> None:
    if file.is_proto3 and field.label == "required":
        raise _wrong(f"{where} is required, which proto3 does not support; remove the label")
    if file.is_proto3 and field.option("default") is not None:
        raise _wrong(f"{where} has a default, which proto3 does not allow")
    _known(field.type, where, scope, symbols)


def _known(name: str, where: str, scope: Sequence[str], symbols: Symbols) -> None:
    if name not in SCALARS and symbols.find(name, scope) is None:
        raise _wrong(
            f"{where} has the type {name}, which is defined neither here nor in an import; "
            "define it, or import the file that does and add that file to the references"
        )


def _enum(enum: Enum, whole: str, file: ProtoFile) -> None:
    if not enum.values:
        raise _wrong(f"enum {whole} has no values")
    first = enum.values[0]
    if file.is_proto3 and first.number != 0:
        raise _wrong(
            f"enum {whole} starts with {first.name} = {first.number}; in proto3 the first value must be 0"
        )
    aliased = any(option.name == "allow_alias" and flag(option.value) for option in enum.options)
    names: dict[int, str] = {}
    for value in enum.values:
        if value.number in names and not aliased:
            raise _wrong(
                f"enum {whole} has {value.name} = {value.number}, which {names[value.number]} has already; "
                "give it another number or set option allow_alias = true"
            )
        names.setdefault(value.number, value.name)


def _reserved(reserved: Sequence[Reserved]) -> tuple[list[Span], set[str]]:
    values = [value for one in reserved for value in one.values]
    return [value for value in values if isinstance(value, Span)], {v for v in values if isinstance(v, str)}


def _wrong(reason: str) -> InvalidSchema:
    return InvalidSchema(f"Not a valid Protobuf schema: {reason}.")
