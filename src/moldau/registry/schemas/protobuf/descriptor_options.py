"""Puts options into a descriptor: those Google's library knows, and Confluent's metadata, which its clients read
there.

Other custom options are left out: they affect neither the encoding nor the meaning of a schema.
"""

from collections.abc import Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from moldau.registry.schemas.protobuf import confluent_meta
from moldau.registry.schemas.protobuf.options import normalized_options, number_shown
from moldau.registry.schemas.protobuf.symbols import Symbols
from moldau.registry.schemas.protobuf.syntax import Aggregate, Option, Quoted, Value, Word

_SPECIAL = frozenset({"default", "json_name", "map_entry"})
"""Parts of a field or message itself, not of its options."""


def set_options(options: Sequence[Option], target: Any, symbols: Symbols, scope: Sequence[str]) -> None:
    known = target.DESCRIPTOR.fields_by_name
    for option in options:
        if option.name in known and option.name not in _SPECIAL:
            _set(target, known[option.name], option.value)
    metadata = [option for option in options if option.extension]
    for option in normalized_options(metadata, symbols, scope) if metadata else ():
        if option.name.startswith("(confluent.") and isinstance(option.value, Aggregate):
            target.MergeFromString(confluent_meta.encode(option.value))


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
