"""Options put into a descriptor: those Google's library knows, and Confluent's metadata, which its clients read there.

Other custom options are left out: they change neither the wire nor what a schema means.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from moldau.registry.schemas.protobuf.options import normalized_options, number_shown
from moldau.registry.schemas.protobuf.symbols import Symbols
from moldau.registry.schemas.protobuf.syntax import Aggregate, Option, Quoted, Several, Value, Word

_META_NUMBER = 1088
_SPECIAL = frozenset({"default", "json_name", "map_entry"})
"""Part of a field or message itself, not of its options."""


def set_options(options: Sequence[Option], target: Any, symbols: Symbols, scope: Sequence[str]) -> None:
    known = target.DESCRIPTOR.fields_by_name
    for option in options:
        if option.name in known and option.name not in _SPECIAL:
            _set(target, known[option.name], option.value)
    metadata = [option for option in options if option.extension]
    for option in normalized_options(metadata, symbols, scope) if metadata else ():
        if option.name.startswith("(confluent.") and isinstance(option.value, Aggregate):
            target.MergeFromString(_prefixed(_META_NUMBER, _meta(option.value)))


def _set(target: Any, field: Any, value: Value) -> None:
    if field.is_repeated or not isinstance(value, Quoted | Word):
        return
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING and isinstance(value, Quoted):
        setattr(target, field.name, value.text)
    elif field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        setattr(target, field.name, value.text == "true")
    elif field.cpp_type == FieldDescriptor.CPPTYPE_ENUM and value.text in field.enum_type.values_by_name:
        setattr(target, field.name, field.enum_type.values_by_name[value.text].number)
    elif field.cpp_type in (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_INT64):
        digits = number_shown(value.text)
        if digits.removeprefix("-").isdigit():
            setattr(target, field.name, int(digits))


def _meta(value: Aggregate) -> bytes:
    """`confluent.Meta`: doc 1, params 2 (a map), tags 3."""
    payload = b""
    for key, member in value.members:
        for one in _each(member):
            if key == "doc" and isinstance(one, Quoted):
                payload += _prefixed(1, one.text.encode())
            elif key == "params" and isinstance(one, Aggregate):
                payload += _prefixed(2, _param(one))
            elif key == "tags" and isinstance(one, Quoted):
                payload += _prefixed(3, one.text.encode())
    return payload


def _param(entry: Aggregate) -> bytes:
    members = dict(entry.members)
    values = (members.get("key"), members.get("value"))
    return b"".join(
        _prefixed(number, value.text.encode())
        for number, value in enumerate(values, start=1)
        if isinstance(value, Quoted)
    )


def _each(value: Value) -> Iterable[Value]:
    return value.values if isinstance(value, Several) else (value,)


def _prefixed(number: int, payload: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
